//! Numbers from a seed.

/// A stream of numbers (SplitMix64), and how far what is made of them goes.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    wild: bool,
}

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d, wild: false }
    }

    /// Expressions take arguments of any kind: what no program means, with answers that no manual promises.
    pub fn wild(self) -> Random {
        Random { wild: true, ..self }
    }

    /// True in `percent` of a hundred cases, if it is [wild](Random::wild).
    pub fn wildly(&mut self, percent: usize) -> bool {
        self.wild && self.chance(percent)
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn pick<'b, T>(&mut self, of: &'b [T]) -> &'b T {
        &of[self.below(of.len())]
    }

    /// One of these texts.
    pub fn word(&mut self, of: &[&'static str]) -> &'static str {
        of[self.below(of.len())]
    }
}
