//! Modes as bits, and which of them get along.

use std::ops::{BitOr, BitOrAssign};

use super::{Strength, TableMode};

/// A set of modes that one owner has, or the one that it asks for. Records use S and X only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Modes(u8);

impl Modes {
    pub(super) const NONE: Modes = Modes(0);
    pub(super) const INTENT_SHARED: Modes = Modes(1);
    pub(super) const INTENT_EXCLUSIVE: Modes = Modes(2);
    pub(super) const SHARED: Modes = Modes(4);
    pub(super) const EXCLUSIVE: Modes = Modes(8);
    const ALL: Modes = Modes(15);

    /// Whether having these is enough for who asks for `wanted` (one mode).
    pub(super) fn cover(self, wanted: Modes) -> bool {
        let covered = match wanted {
            Modes::INTENT_SHARED => Modes::ALL,
            Modes::INTENT_EXCLUSIVE => Modes::INTENT_EXCLUSIVE | Modes::EXCLUSIVE,
            Modes::SHARED => Modes::SHARED | Modes::EXCLUSIVE,
            _ => Modes::EXCLUSIVE,
        };
        self.meet(covered)
    }

    /// The modes of others that a request for one of these has to wait for.
    pub(super) fn enemies(self) -> Modes {
        let mut enemies = Modes::NONE;
        for (mode, its) in [
            (Modes::INTENT_SHARED, Modes::EXCLUSIVE),
            (Modes::INTENT_EXCLUSIVE, Modes::SHARED | Modes::EXCLUSIVE),
            (Modes::SHARED, Modes::INTENT_EXCLUSIVE | Modes::EXCLUSIVE),
            (Modes::EXCLUSIVE, Modes::ALL),
        ] {
            if self.meet(mode) {
                enemies |= its;
            }
        }
        enemies
    }

    /// Whether they have a mode in common.
    pub(super) fn meet(self, other: Modes) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether no further mode can be an enemy.
    pub(super) fn is_all(self) -> bool {
        self == Modes::ALL
    }

    /// Whether it is one of the two that many have at once and that are granted without the queue.
    pub(super) fn is_weak(self) -> bool {
        !self.meet(Modes::SHARED | Modes::EXCLUSIVE)
    }
}

impl BitOr for Modes {
    type Output = Modes;

    fn bitor(self, other: Modes) -> Modes {
        Modes(self.0 | other.0)
    }
}

impl BitOrAssign for Modes {
    fn bitor_assign(&mut self, other: Modes) {
        self.0 |= other.0;
    }
}

impl From<Strength> for Modes {
    fn from(strength: Strength) -> Self {
        match strength {
            Strength::Shared => Modes::SHARED,
            Strength::Exclusive => Modes::EXCLUSIVE,
        }
    }
}

impl From<TableMode> for Modes {
    fn from(mode: TableMode) -> Self {
        match mode {
            TableMode::IntentShared => Modes::INTENT_SHARED,
            TableMode::IntentExclusive => Modes::INTENT_EXCLUSIVE,
            TableMode::Shared => Modes::SHARED,
            TableMode::Exclusive => Modes::EXCLUSIVE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_matrix() {
        let modes = [Modes::INTENT_SHARED, Modes::INTENT_EXCLUSIVE, Modes::SHARED, Modes::EXCLUSIVE];
        let compatible = |a: Modes, b: Modes| !b.meet(a.enemies());
        let matrix: Vec<Vec<bool>> = modes.iter().map(|&a| modes.iter().map(|&b| compatible(a, b)).collect()).collect();
        let expected = [
            [true, true, true, false],
            [true, true, false, false],
            [true, false, true, false],
            [false, false, false, false],
        ];
        assert_eq!(matrix, expected.map(|row| row.to_vec()));
        for &mode in &modes {
            assert!(mode.cover(mode) && Modes::EXCLUSIVE.cover(mode));
        }
        assert!(!Modes::SHARED.cover(Modes::INTENT_EXCLUSIVE) && !Modes::INTENT_EXCLUSIVE.cover(Modes::SHARED));
    }
}
