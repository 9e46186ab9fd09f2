//! The tables of TPC-H with the values that its specification describes, from one seed: the same rows each time.

use std::fmt::Write;

/// Definitions: primary keys, and an index for each foreign key.
pub(super) const TABLES: [(&str, &str); 8] = [
    ("region", "r_regionkey INT PRIMARY KEY, r_name CHAR(25) NOT NULL, r_comment VARCHAR(152)"),
    (
        "nation",
        "n_nationkey INT PRIMARY KEY, n_name CHAR(25) NOT NULL, n_regionkey INT NOT NULL, n_comment VARCHAR(152), KEY (n_regionkey)",
    ),
    (
        "supplier",
        "s_suppkey INT PRIMARY KEY, s_name CHAR(25) NOT NULL, s_address VARCHAR(40) NOT NULL, s_nationkey INT NOT NULL, \
         s_phone CHAR(15) NOT NULL, s_acctbal DECIMAL(15,2) NOT NULL, s_comment VARCHAR(101) NOT NULL, KEY (s_nationkey)",
    ),
    (
        "part",
        "p_partkey INT PRIMARY KEY, p_name VARCHAR(55) NOT NULL, p_mfgr CHAR(25) NOT NULL, p_brand CHAR(10) NOT NULL, \
         p_type VARCHAR(25) NOT NULL, p_size INT NOT NULL, p_container CHAR(10) NOT NULL, p_retailprice DECIMAL(15,2) NOT NULL, \
         p_comment VARCHAR(23) NOT NULL",
    ),
    (
        "partsupp",
        "ps_partkey INT NOT NULL, ps_suppkey INT NOT NULL, ps_availqty INT NOT NULL, ps_supplycost DECIMAL(15,2) NOT NULL, \
         ps_comment VARCHAR(199) NOT NULL, PRIMARY KEY (ps_partkey, ps_suppkey), KEY (ps_suppkey)",
    ),
    (
        "customer",
        "c_custkey INT PRIMARY KEY, c_name VARCHAR(25) NOT NULL, c_address VARCHAR(40) NOT NULL, c_nationkey INT NOT NULL, \
         c_phone CHAR(15) NOT NULL, c_acctbal DECIMAL(15,2) NOT NULL, c_mktsegment CHAR(10) NOT NULL, c_comment VARCHAR(117) NOT NULL, \
         KEY (c_nationkey)",
    ),
    (
        "orders",
        "o_orderkey INT PRIMARY KEY, o_custkey INT NOT NULL, o_orderstatus CHAR(1) NOT NULL, o_totalprice DECIMAL(15,2) NOT NULL, \
         o_orderdate DATE NOT NULL, o_orderpriority CHAR(15) NOT NULL, o_clerk CHAR(15) NOT NULL, o_shippriority INT NOT NULL, \
         o_comment VARCHAR(79) NOT NULL, KEY (o_custkey)",
    ),
    (
        "lineitem",
        "l_orderkey INT NOT NULL, l_partkey INT NOT NULL, l_suppkey INT NOT NULL, l_linenumber INT NOT NULL, \
         l_quantity DECIMAL(15,2) NOT NULL, l_extendedprice DECIMAL(15,2) NOT NULL, l_discount DECIMAL(15,2) NOT NULL, \
         l_tax DECIMAL(15,2) NOT NULL, l_returnflag CHAR(1) NOT NULL, l_linestatus CHAR(1) NOT NULL, l_shipdate DATE NOT NULL, \
         l_commitdate DATE NOT NULL, l_receiptdate DATE NOT NULL, l_shipinstruct CHAR(25) NOT NULL, l_shipmode CHAR(10) NOT NULL, \
         l_comment VARCHAR(44) NOT NULL, PRIMARY KEY (l_orderkey, l_linenumber), KEY (l_partkey, l_suppkey), KEY (l_suppkey)",
    ),
];

const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];
const NATIONS: [(&str, usize); 25] = [
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
];
const SEGMENTS: [&str; 5] = ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"];
const PRIORITIES: [&str; 5] = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"];
const INSTRUCTIONS: [&str; 4] = ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"];
const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
const TYPES: [&[&str]; 3] = [
    &["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"],
    &["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"],
    &["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"],
];
const CONTAINERS: [&[&str]; 2] =
    [&["SM", "LG", "MED", "JUMBO", "WRAP"], &["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"]];
const COLORS: &str = "almond antique aquamarine azure beige bisque black blanched blue blush brown burlywood burnished chartreuse chiffon \
    chocolate coral cornflower cornsilk cream cyan dark deep dim dodger drab firebrick floral forest frosted gainsboro ghost goldenrod green \
    grey honeydew hot indian ivory khaki lace lavender lawn lemon light lime linen magenta maroon medium metallic midnight mint misty \
    moccasin navajo navy olive orange orchid pale papaya peach peru pink plum powder puff purple red rose rosy royal saddle salmon sandy \
    seashell sienna sky slate smoke snow spring steel tan thistle tomato turquoise violet wheat white yellow";
const WORDS: &str = "furiously sly careful blithe quick fluffy slow quiet ruthless thin close dogged daring brave stealthy permanent \
    enticing idle busy regular final ironic even bold silent foxes ideas theodolites pinto beans instructions dependencies excuses platelets \
    asymptotes courts dolphins multipliers sauternes warthogs frets dinos attainments somas sleep wake are cajole haggle nag use boost \
    affix detect integrate maintain nod was lose sublate solve thrash promise engage hinder print x-ray breach eat grow impress mold \
    packages requests accounts deposits special pending express unusual slyly";

/// The first order, and the last one: days since 1970.
const FIRST_DAY: u64 = 8035;
const LAST_DAY: u64 = 10_440;
/// 1995-06-17
const CURRENT_DAY: u64 = 9298;

/// Numbers that look random (SplitMix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let number = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// From one to the other, both included.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.next() as usize % of.len()]
    }

    fn words(&mut self, of: &[&str], count: usize) -> String {
        (0..count).map(|_| self.one(of)).collect::<Vec<_>>().join(" ")
    }

    fn phone(&mut self, nation: usize) -> String {
        format!("{}-{}-{}-{}", nation + 10, self.between(100, 999), self.between(100, 999), self.between(1000, 9999))
    }

    /// Cents as a decimal.
    fn balance(&mut self) -> String {
        let cents = self.between(0, 1_099_998) as i64 - 99_999;
        format!("{}{}.{:02}", if cents < 0 { "-" } else { "" }, cents.abs() / 100, cents.abs() % 100)
    }
}

fn cents(amount: u64) -> String {
    format!("{}.{:02}", amount / 100, amount % 100)
}

/// A day since 1970 as a date (Howard Hinnant's algorithm).
fn date(day: u64) -> String {
    let shifted = day + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted - era * 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    format!("{:04}-{month:02}-{day:02}", year + era * 400 + u64::from(month <= 2))
}

/// Gives the rows of all tables, as they stand in VALUES, to `take` with the table's name.
pub(super) struct Generator {
    draw: Draw,
    words: Vec<&'static str>,
    colors: Vec<&'static str>,
    suppliers: u64,
    parts: u64,
    customers: u64,
}

impl Generator {
    /// Of so large a scale; 1 is a gigabyte of text.
    pub(super) fn new(scale: f64) -> Self {
        let count = |at_one: f64| ((at_one * scale) as u64).max(20);
        Generator {
            draw: Draw(1),
            words: WORDS.split_whitespace().collect(),
            colors: COLORS.split_whitespace().collect(),
            suppliers: count(10_000.0),
            parts: count(200_000.0),
            customers: count(150_000.0),
        }
    }

    /// All rows, table by table but for orders and their lines.
    pub(super) fn rows<E>(mut self, take: &mut dyn FnMut(&'static str, &str) -> Result<(), E>) -> Result<(), E> {
        for (key, name) in REGIONS.iter().enumerate() {
            take("region", &format!("({key},'{name}','{}')", self.comment(6)))?;
        }
        for (key, (name, region)) in NATIONS.iter().enumerate() {
            take("nation", &format!("({key},'{name}',{region},'{}')", self.comment(8)))?;
        }
        for key in 1..=self.suppliers {
            take("supplier", &self.supplier(key))?;
        }
        for key in 1..=self.parts {
            take("part", &self.part(key))?;
            for number in 0..4 {
                let (supplier, quantity, cost) =
                    (self.supplier_of(key, number), self.draw.between(1, 9999), self.draw.between(100, 100_000));
                let row = format!("({key},{supplier},{quantity},{},'{}')", cents(cost), self.comment(14));
                take("partsupp", &row)?;
            }
        }
        for key in 1..=self.customers {
            take("customer", &self.customer(key))?;
        }
        for number in 0..self.customers * 10 {
            self.order(number, take)?;
        }
        Ok(())
    }

    fn comment(&mut self, words: usize) -> String {
        self.draw.words(&self.words, words)
    }

    fn retail_price(part: u64) -> u64 {
        90_000 + (part / 10) % 20_001 + 100 * (part % 1000)
    }

    fn supplier_of(&self, part: u64, number: u64) -> u64 {
        (part + number * (self.suppliers / 4 + (part - 1) / self.suppliers)) % self.suppliers + 1
    }

    fn supplier(&mut self, key: u64) -> String {
        let nation = self.draw.between(0, 24) as usize;
        let (phone, balance, address) = (self.draw.phone(nation), self.draw.balance(), self.comment(3));
        let mut comment = self.comment(8);
        // Five in ten thousand complain, and as many recommend.
        match self.draw.between(0, 1999) {
            0 => comment += " Customer sly Complaints",
            1 => comment += " Customer sly Recommends",
            _ => {}
        }
        format!("({key},'Supplier#{key:09}','{address}',{nation},'{phone}',{balance},'{comment}')")
    }

    fn part(&mut self, key: u64) -> String {
        let name = self.draw.words(&self.colors, 5);
        let (maker, brand) = (self.draw.between(1, 5), self.draw.between(1, 5));
        let kind = TYPES.map(|words| self.draw.one(words)).join(" ");
        let container = CONTAINERS.map(|words| self.draw.one(words)).join(" ");
        let (size, comment) = (self.draw.between(1, 50), self.comment(2));
        let price = cents(Generator::retail_price(key));
        format!(
            "({key},'{name}','Manufacturer#{maker}','Brand#{maker}{brand}','{kind}',{size},'{container}',{price},'{comment:.23}')"
        )
    }

    fn customer(&mut self, key: u64) -> String {
        let nation = self.draw.between(0, 24) as usize;
        let (phone, balance, address) = (self.draw.phone(nation), self.draw.balance(), self.comment(3));
        let (segment, comment) = (self.draw.one(&SEGMENTS), self.comment(9));
        format!("({key},'Customer#{key:09}','{address}',{nation},'{phone}',{balance},'{segment}','{comment}')")
    }

    /// An order, and its lines.
    fn order<E>(&mut self, number: u64, take: &mut dyn FnMut(&'static str, &str) -> Result<(), E>) -> Result<(), E> {
        // Eight of 32 numbers are given; a third of the customers never orders.
        let key = number / 8 * 32 + number % 8 + 1;
        let mut customer = self.draw.between(1, self.customers);
        if customer.is_multiple_of(3) {
            customer = if customer == self.customers { customer - 1 } else { customer + 1 };
        }
        let day = self.draw.between(FIRST_DAY, LAST_DAY - 151);
        let (mut total, mut shipped, lines) = (0, 0, self.draw.between(1, 7));
        for line in 1..=lines {
            let (row, price, is_shipped) = self.line(key, line, day);
            total += price;
            shipped += u64::from(is_shipped);
            take("lineitem", &row)?;
        }
        let status = match shipped {
            0 => "O",
            all if all == lines => "F",
            _ => "P",
        };
        let (priority, clerk, comment) = (self.draw.one(&PRIORITIES), self.draw.between(1, 1000), self.comment(6));
        let (total, day) = (cents(total), date(day));
        take(
            "orders",
            &format!("({key},{customer},'{status}',{total},'{day}','{priority}','Clerk#{clerk:09}',0,'{comment}')"),
        )
    }

    /// A line, its price with discount and tax, and whether it was shipped.
    fn line(&mut self, order: u64, line: u64, ordered: u64) -> (String, u64, bool) {
        let part = self.draw.between(1, self.parts);
        let number = self.draw.between(0, 3);
        let supplier = self.supplier_of(part, number);
        let quantity = self.draw.between(1, 50);
        let (price, discount, tax) =
            (quantity * Generator::retail_price(part), self.draw.between(0, 10), self.draw.between(0, 8));
        let ship = ordered + self.draw.between(1, 121);
        let commit = ordered + self.draw.between(30, 90);
        let receipt = ship + self.draw.between(1, 30);
        let flag = match receipt <= CURRENT_DAY {
            true => self.draw.one(&["R", "A"]),
            false => "N",
        };
        let is_shipped = ship <= CURRENT_DAY;
        let (instruction, mode, comment) = (self.draw.one(&INSTRUCTIONS), self.draw.one(&MODES), self.comment(4));
        let mut row = format!("({order},{part},{supplier},{line},{quantity},{},", cents(price));
        let dates = [ship, commit, receipt].map(date);
        write!(
            row,
            "{},{},'{flag}','{}','{}','{}','{}','{instruction}','{mode}','{comment:.44}')",
            cents(discount),
            cents(tax),
            if is_shipped { "F" } else { "O" },
            dates[0],
            dates[1],
            dates[2]
        )
        .expect("a String takes everything");
        (row, price * (100 - discount) / 100 * (100 + tax) / 100, is_shipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates() {
        assert_eq!([date(FIRST_DAY), date(CURRENT_DAY), date(LAST_DAY)], ["1992-01-01", "1995-06-17", "1998-08-02"]);
    }

    #[test]
    fn the_same_scale_gives_the_same_rows() {
        let count = || {
            let (mut rows, mut bytes) = (0, 0_usize);
            let taken: Result<(), ()> = Generator::new(0.0005).rows(&mut |_, row| {
                rows += 1;
                bytes += row.len();
                Ok(())
            });
            taken.map(|()| (rows, bytes))
        };
        assert_eq!(count(), count());
    }
}
