//! Random expressions, mostly of the kind that is asked for; sometimes of another, for the conversions.

use super::tables::{Column, Kind, literal};
use super::{Random, Sql};

/// A column that may be named here.
#[derive(Clone)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) kind: Kind,
}

impl Name {
    pub(super) fn of(alias: &str, column: &Column) -> Name {
        Name { text: format!("{alias}.{}", column.name), kind: column.kind }
    }
}

/// Makes expressions over the columns that are in sight.
pub(super) struct Expressions<'a> {
    pub(super) random: &'a mut Random,
    pub(super) names: Vec<Name>,
    /// How many levels of subqueries may still be opened, and the tables they read.
    pub(super) subqueries: usize,
    pub(super) tables: &'a [Vec<&'static Column>],
}

/// Integers made of a number.
const INTEGERS_OF_NUMBERS: &[&str] =
    &["-{}", "~{}", "ABS({})", "SIGN({})", "BIT_COUNT({})", "FLOOR({})", "CEILING({})"];
/// Integers made of a text.
const INTEGERS_OF_TEXT: &[&str] =
    &["LENGTH({})", "CHAR_LENGTH({})", "ASCII({})", "ORD({})", "CRC32({})", "BIT_LENGTH({})"];
/// Integers made of a date and time.
const INTEGERS_OF_TIMES: &[&str] = &[
    "YEAR({})",
    "MONTH({})",
    "DAYOFMONTH({})",
    "DAYOFWEEK({})",
    "DAYOFYEAR({})",
    "WEEKDAY({})",
    "WEEK({})",
    "WEEK({}, 3)",
    "YEARWEEK({})",
    "QUARTER({})",
    "TO_DAYS({})",
    "HOUR({})",
    "MINUTE({})",
    "SECOND({})",
    "MICROSECOND({})",
    "WEEKOFYEAR({})",
    "TO_SECONDS({})",
];
/// Texts made of a value of any kind.
const TEXTS_OF_ANYTHING: &[&str] = &[
    "UPPER({})",
    "LOWER({})",
    "REVERSE({})",
    "TRIM({})",
    "LTRIM({})",
    "RTRIM({})",
    "HEX({})",
    "QUOTE({})",
    "SOUNDEX({})",
];
/// Texts made of a number.
const TEXTS_OF_NUMBERS: &[&str] = &[
    "BIN({})",
    "OCT({})",
    "HEX({})",
    "CONV({}, 10, 16)",
    "FORMAT({}, 2)",
    "MAKE_SET({}, 'a', 'b')",
    "CHAR({} USING utf8mb4)",
];
/// For DATE_FORMAT.
const DATE_FORMATS: &[&str] =
    &["%Y-%m-%d", "%W %M %e %y", "%H:%i:%s.%f", "%j %U %u %a %b", "%r %T %p", "%X-%V %x-%v %w", "%D %c %k %l"];

const KINDS: [Kind; 8] =
    [Kind::Int, Kind::Decimal, Kind::Double, Kind::Text, Kind::Binary, Kind::Date, Kind::Time, Kind::DateTime];

const UNITS: &[&str] = &["MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"];
const COMPOUND_UNITS: &[&str] = &["DAY_HOUR", "MINUTE_SECOND", "YEAR_MONTH", "DAY_MICROSECOND", "HOUR_SECOND"];

impl Expressions<'_> {
    pub(super) fn any_kind(&mut self) -> Kind {
        *self.random.pick(&KINDS)
    }

    /// An expression of any kind.
    pub(super) fn any(&mut self, depth: usize) -> Sql {
        let kind = self.any_kind();
        self.of(kind, depth)
    }

    /// An expression of a kind; of another one in few cases.
    pub(super) fn of(&mut self, kind: Kind, depth: usize) -> Sql {
        let kind = if self.random.wildly(8) { self.any_kind() } else { kind };
        if depth == 0 || self.random.chance(15) {
            return self.leaf(kind);
        }
        match self.random.below(12) {
            0 => self.control(kind, depth - 1),
            1 => self.cast(kind, depth - 1),
            2 if self.subqueries > 0 => self.scalar_subquery(kind),
            3 if kind == Kind::Int => self.condition(depth - 1),
            _ => self.operation(kind, depth - 1),
        }
    }

    /// A column if there is one of the kind, or a literal.
    fn leaf(&mut self, kind: Kind) -> Sql {
        let fitting: Vec<&Name> = self.names.iter().filter(|name| name.kind == kind).collect();
        if !fitting.is_empty() && self.random.chance(75) {
            return Sql::term(&self.random.pick(&fitting).text.clone(), []);
        }
        if self.random.chance(6) { Sql::term("NULL", []) } else { literal(kind, self.random) }
    }

    /// Functions that take and give any kind.
    fn control(&mut self, kind: Kind, depth: usize) -> Sql {
        let (a, b) = (self.of(kind, depth), self.of(kind, depth));
        match self.random.below(8) {
            0 => Sql::term("IF({}, {}, {})", [self.condition(depth), a, b]),
            1 => Sql::term("IFNULL({}, {})", [a, b]),
            2 => Sql::term("COALESCE({}, {})", [a, b]),
            3 => Sql::term("NULLIF({}, {})", [a, b]),
            4 => Sql::term("GREATEST({}, {})", [a, b]),
            5 => Sql::term("LEAST({}, {})", [a, b]),
            6 => {
                let (condition, third) = (self.condition(depth), self.of(kind, depth));
                let otherwise = Sql::maybe(" ELSE {}", [b]);
                let arm = Sql::maybe(" WHEN {} THEN {}", [self.condition(depth), third]);
                Sql::term("CASE WHEN {} THEN {}{}{} END", [condition, a, arm, otherwise])
            }
            _ => {
                let of = self.of(kind, depth);
                Sql::term("CASE {} WHEN {} THEN {} END", [of, self.of(kind, depth), a])
            }
        }
    }

    fn cast(&mut self, kind: Kind, depth: usize) -> Sql {
        let near = match kind {
            Kind::Int | Kind::Decimal | Kind::Double => [Kind::Int, Kind::Decimal],
            Kind::Text => [Kind::Text, Kind::Decimal],
            Kind::Binary => [Kind::Text, Kind::Binary],
            Kind::Date | Kind::DateTime => [Kind::Date, Kind::DateTime],
            Kind::Time => [Kind::Time, Kind::DateTime],
        };
        let from = if self.random.wildly(50) { self.any(depth) } else { self.of(near[depth % 2], depth) };
        let to = match kind {
            Kind::Int => self.random.word(&["SIGNED", "UNSIGNED", "YEAR"]),
            Kind::Decimal => self.random.word(&["DECIMAL(10,2)", "DECIMAL(4,0)", "DECIMAL(30,10)"]),
            Kind::Double => self.random.word(&["DOUBLE", "FLOAT"]),
            Kind::Text => self.random.word(&["CHAR", "CHAR(3)"]),
            Kind::Binary => self.random.word(&["BINARY", "BINARY(3)"]),
            Kind::Date => "DATE",
            Kind::Time => self.random.word(&["TIME", "TIME(2)"]),
            Kind::DateTime => self.random.word(&["DATETIME", "DATETIME(3)"]),
        };
        Sql::term(&format!("CAST({{}} AS {to})"), [from])
    }

    fn number(&mut self, depth: usize) -> Sql {
        let kind = *self.random.pick(&[Kind::Int, Kind::Int, Kind::Decimal, Kind::Double]);
        self.of(kind, depth)
    }

    /// A small number, for positions and lengths.
    fn small(&mut self) -> Sql {
        Sql::term(self.random.word(&["0", "1", "2", "3", "-1", "-2", "5", "NULL"]), [])
    }

    fn operation(&mut self, kind: Kind, depth: usize) -> Sql {
        match kind {
            Kind::Int => self.integer(depth),
            Kind::Decimal => self.decimal(depth),
            Kind::Double => self.double(depth),
            Kind::Text => self.text(depth),
            Kind::Binary => self.binary(depth),
            Kind::Date => self.date(depth),
            Kind::Time => self.time(depth),
            Kind::DateTime => self.datetime(depth),
        }
    }

    fn integer(&mut self, depth: usize) -> Sql {
        match self.random.below(24) {
            0..4 => {
                let op = self.random.word(&["({} + {})", "({} - {})", "({} * {})"]);
                let small = literal(Kind::Int, self.random);
                let other = if self.random.chance(60) { small } else { self.of(Kind::Int, depth) };
                Sql::term(op, [self.of(Kind::Int, depth), other])
            }
            4 | 5 => {
                let op = self.random.word(&["({} DIV {})", "({} % {})", "MOD({}, {})"]);
                Sql::term(op, [self.number(depth), self.number(depth)])
            }
            6 => {
                let op = self.random.word(&["({} & {})", "({} | {})", "({} ^ {})", "({} << {})", "({} >> {})"]);
                Sql::term(op, [self.of(Kind::Int, depth), self.of(Kind::Int, depth)])
            }
            7 => {
                let f = self.random.word(INTEGERS_OF_NUMBERS);
                Sql::term(f, [self.number(depth)])
            }
            8..11 => {
                let f = self.random.word(INTEGERS_OF_TEXT);
                Sql::term(f, [self.of(Kind::Text, depth)])
            }
            11 => {
                let f = self.random.word(&["LOCATE({}, {})", "INSTR({}, {})", "STRCMP({}, {})", "FIND_IN_SET({}, {})"]);
                Sql::term(f, [self.of(Kind::Text, depth), self.of(Kind::Text, depth)])
            }
            12..16 => {
                let f = self.random.word(INTEGERS_OF_TIMES);
                Sql::term(f, [self.of(Kind::DateTime, depth)])
            }
            16 => Sql::term("DATEDIFF({}, {})", [self.of(Kind::Date, depth), self.of(Kind::DateTime, depth)]),
            17 => {
                let pattern = format!("TIMESTAMPDIFF({}, {{}}, {{}})", self.random.word(UNITS));
                Sql::term(&pattern, [self.of(Kind::DateTime, depth), self.of(Kind::Date, depth)])
            }
            18 => {
                let unit =
                    if self.random.chance(50) { self.random.word(UNITS) } else { self.random.word(COMPOUND_UNITS) };
                Sql::term(&format!("EXTRACT({unit} FROM {{}})"), [self.of(Kind::DateTime, depth)])
            }
            19 => Sql::term("TIME_TO_SEC({})", [self.of(Kind::Time, depth)]),
            20 => {
                let kind = if self.random.wildly(50) { self.any_kind() } else { Kind::Int };
                let (a, b, c) = (self.of(kind, depth), self.of(kind, depth), self.of(kind, depth));
                Sql::term(self.random.word(&["FIELD({}, {}, {})", "INTERVAL({}, {}, {})"]), [a, b, c])
            }
            21 => Sql::term("ROUND({}, {})", [self.of(Kind::Int, depth), self.small()]),
            22 => {
                let f = self.random.word(&[
                    "UNIX_TIMESTAMP({})",
                    "PERIOD_ADD(202401, {})",
                    "COERCIBILITY({})",
                    "ISNULL({})",
                ]);
                Sql::term(f, [self.of(Kind::Int, depth)])
            }
            _ => self.condition(depth),
        }
    }

    fn decimal(&mut self, depth: usize) -> Sql {
        match self.random.below(8) {
            0..4 => {
                let op = self.random.word(&["({} + {})", "({} - {})", "({} * {})", "({} / {})", "({} % {})"]);
                let other = *self.random.pick(&[Kind::Int, Kind::Decimal]);
                Sql::term(op, [self.of(Kind::Decimal, depth), self.of(other, depth)])
            }
            4 => Sql::term("({} / {})", [self.of(Kind::Int, depth), self.of(Kind::Int, depth)]),
            5 => {
                let f = self.random.word(&["ROUND({}, {})", "TRUNCATE({}, {})"]);
                Sql::term(f, [self.of(Kind::Decimal, depth), self.small()])
            }
            6 => Sql::term(self.random.word(&["-{}", "ABS({})", "ROUND({})"]), [self.of(Kind::Decimal, depth)]),
            _ => Sql::term("UNIX_TIMESTAMP({})", [self.of(Kind::DateTime, depth)]),
        }
    }

    fn double(&mut self, depth: usize) -> Sql {
        match self.random.below(6) {
            0..3 => {
                let op = self.random.word(&["({} + {})", "({} - {})", "({} * {})", "({} / {})", "({} % {})"]);
                Sql::term(op, [self.of(Kind::Double, depth), self.number(depth)])
            }
            3 => {
                let f = self.random.word(&[
                    "SQRT({})",
                    "-{}",
                    "ABS({})",
                    "ROUND({})",
                    "LOG2({})",
                    "DEGREES({})",
                    "EXP({})",
                ]);
                Sql::term(f, [self.of(Kind::Double, depth)])
            }
            4 => Sql::term("ROUND({}, {})", [self.of(Kind::Double, depth), self.small()]),
            _ => Sql::term("POW({}, {})", [self.number(depth), self.small()]),
        }
    }

    fn text(&mut self, depth: usize) -> Sql {
        let any = *self.random.pick(&[Kind::Text, Kind::Text, Kind::Text, Kind::Int, Kind::Decimal, Kind::DateTime]);
        match self.random.below(18) {
            0..3 => Sql::term("CONCAT({}, {})", [self.of(Kind::Text, depth), self.of(any, depth)]),
            3 => Sql::term(
                "CONCAT_WS({}, {}, {})",
                [literal(Kind::Text, self.random), self.of(any, depth), self.of(Kind::Text, depth)],
            ),
            4 => {
                let f = self.random.word(&["SUBSTRING({}, {})", "LEFT({}, {})", "RIGHT({}, {})", "REPEAT({}, {})"]);
                Sql::term(f, [self.of(any, depth), self.small()])
            }
            5 => Sql::term("SUBSTRING({}, {}, {})", [self.of(any, depth), self.small(), self.small()]),
            6..8 => {
                let f = self.random.word(TEXTS_OF_ANYTHING);
                Sql::term(f, [self.of(any, depth)])
            }
            8 => {
                let f = self.random.word(&["LPAD({}, {}, {})", "RPAD({}, {}, {})"]);
                Sql::term(f, [self.of(Kind::Text, depth), self.small(), self.of(Kind::Text, depth)])
            }
            9 => Sql::term(
                "REPLACE({}, {}, {})",
                [self.of(Kind::Text, depth), literal(Kind::Text, self.random), self.of(Kind::Text, depth)],
            ),
            10 => Sql::term(
                "SUBSTRING_INDEX({}, {}, {})",
                [self.of(any, depth), literal(Kind::Text, self.random), self.small()],
            ),
            11 => Sql::term(
                "INSERT({}, {}, {}, {})",
                [self.of(Kind::Text, depth), self.small(), self.small(), self.of(Kind::Text, depth)],
            ),
            12 => Sql::term("ELT({}, {}, {})", [self.small(), self.of(Kind::Text, depth), self.of(any, depth)]),
            13 => {
                let f = self.random.word(TEXTS_OF_NUMBERS);
                Sql::term(f, [self.number(depth)])
            }
            14 => {
                let format = self.random.word(DATE_FORMATS);
                Sql::term(&format!("DATE_FORMAT({{}}, '{format}')"), [self.of(Kind::DateTime, depth)])
            }
            15 => Sql::term(self.random.word(&["DAYNAME({})", "MONTHNAME({})"]), [self.of(Kind::Date, depth)]),
            16 => Sql::term(
                self.random.word(&[
                    "SHA2({}, 256)",
                    "TO_BASE64({})",
                    "HEX(AES_ENCRYPT({}, 'key'))",
                    "EXTRACTVALUE(CONCAT('<a>', {}, '</a>'), '/a')",
                ]),
                [self.of(any, depth)],
            ),
            _ => {
                let collation = self.random.word(&["utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_0900_ai_ci"]);
                Sql::term(&format!("(CONCAT('', {{}}) COLLATE {collation})"), [self.of(Kind::Text, depth)])
            }
        }
    }

    fn binary(&mut self, depth: usize) -> Sql {
        match self.random.below(4) {
            0 => Sql::term("CONCAT({}, {})", [self.of(Kind::Binary, depth), self.of(Kind::Text, depth)]),
            1 => Sql::term(
                self.random.word(&["UNHEX({})", "FROM_BASE64({})", "AES_ENCRYPT({}, 'key')", "AES_DECRYPT({}, 'key')"]),
                [self.of(Kind::Text, depth)],
            ),
            2 => Sql::term("SUBSTRING({}, {})", [self.of(Kind::Binary, depth), self.small()]),
            _ => Sql::term(
                self.random.word(&["CAST({} AS BINARY)", "UPPER({})", "REVERSE({})"]),
                [self.of(Kind::Binary, depth)],
            ),
        }
    }

    fn interval(&mut self, depth: usize) -> (Sql, &'static str) {
        if self.random.chance(15) {
            let amount = self.random.word(&["'1:2'", "'3 4'", "'1-2'", "'-1:30'", "5", "'1.5'"]);
            return (Sql::term(amount, []), self.random.word(COMPOUND_UNITS));
        }
        let amount = match self.random.below(4) {
            0 => self.number(depth),
            1 => Sql::term(self.random.word(&["1.5", "'2'", "-1", "'x'"]), []),
            _ => self.small(),
        };
        (amount, self.random.word(UNITS))
    }

    fn shifted(&mut self, kind: Kind, depth: usize) -> Sql {
        let (amount, unit) = self.interval(depth);
        let pattern =
            self.random.word(&["DATE_ADD({}, INTERVAL {} ", "DATE_SUB({}, INTERVAL {} ", "({} + INTERVAL {} "]);
        Sql::term(&format!("{pattern}{unit})"), [self.of(kind, depth), amount])
    }

    fn date(&mut self, depth: usize) -> Sql {
        match self.random.below(6) {
            0 => Sql::term("DATE({})", [self.of(Kind::DateTime, depth)]),
            1 => Sql::term("LAST_DAY({})", [self.of(Kind::Date, depth)]),
            2 => Sql::term("FROM_DAYS(730000 + {})", [self.small()]),
            3 => Sql::term("MAKEDATE({}, {})", [self.of(Kind::Int, depth), self.of(Kind::Int, depth)]),
            4 => Sql::term("STR_TO_DATE({}, '%Y-%m-%d')", [self.of(Kind::Text, depth)]),
            _ => self.shifted(Kind::Date, depth),
        }
    }

    fn time(&mut self, depth: usize) -> Sql {
        match self.random.below(6) {
            0 => Sql::term("TIME({})", [self.of(Kind::DateTime, depth)]),
            1 => Sql::term("SEC_TO_TIME({})", [self.number(depth)]),
            2 => Sql::term("MAKETIME({}, {}, {})", [self.of(Kind::Int, depth), self.small(), self.number(depth)]),
            3 => Sql::term("TIMEDIFF({}, {})", [self.of(Kind::Time, depth), self.of(Kind::Time, depth)]),
            4 if self.random.wildly(100) => Sql::term(
                self.random.word(&["ADDTIME({}, {})", "SUBTIME({}, {})"]),
                [self.of(Kind::Time, depth), self.of(Kind::Time, depth)],
            ),
            _ => self.shifted(Kind::Time, depth),
        }
    }

    fn datetime(&mut self, depth: usize) -> Sql {
        match self.random.below(6) {
            0 => Sql::term("TIMESTAMP({}, {})", [self.of(Kind::Date, depth), self.of(Kind::Time, depth)]),
            1 => Sql::term("TIMESTAMP({})", [self.of(Kind::Text, depth)]),
            2 => Sql::term("FROM_UNIXTIME({})", [self.number(depth)]),
            3 if self.random.wildly(100) => {
                Sql::term("ADDTIME({}, {})", [self.of(Kind::DateTime, depth), self.of(Kind::Time, depth)])
            }
            4 => Sql::term("STR_TO_DATE({}, '%Y-%m-%d %H:%i:%s')", [self.of(Kind::Text, depth)]),
            _ => self.shifted(Kind::DateTime, depth),
        }
    }

    /// A truth value.
    pub(super) fn condition(&mut self, depth: usize) -> Sql {
        let next = depth.saturating_sub(1);
        let kind = self.any_kind();
        match self.random.below(16) {
            0..6 => {
                let op = self.random.word(&["=", "<>", "<", "<=", ">", ">=", "<=>"]);
                Sql::term(&format!("({{}} {op} {{}})"), [self.of(kind, next), self.of(kind, next)])
            }
            6 if self.random.wildly(100) => {
                let op = self.random.word(&["=", "<", ">"]);
                Sql::term(&format!("({{}} {op} {{}})"), [self.any(next), self.any(next)])
            }
            7 | 8 if depth > 0 => {
                let op = self.random.word(&["AND", "OR", "AND", "OR", "XOR"]);
                Sql::term(&format!("({{}} {op} {{}})"), [self.condition(next), self.condition(next)])
            }
            9 => Sql::term("(NOT {})", [self.condition(next)]),
            10 => {
                let list = (0..1 + self.random.below(3)).map(|_| self.of(kind, next)).collect::<Vec<_>>();
                let pattern = self.random.word(&["({} IN ({}))", "({} NOT IN ({}))"]);
                Sql::term(pattern, [self.of(kind, next), Sql::list(", ", list)])
            }
            11 => {
                let pattern = self.random.word(&["({} BETWEEN {} AND {})", "({} NOT BETWEEN {} AND {})"]);
                Sql::term(pattern, [self.of(kind, next), self.of(kind, next), self.of(kind, next)])
            }
            12 => {
                let what = self.random.word(&["NULL", "NOT NULL", "TRUE", "NOT TRUE", "FALSE", "UNKNOWN"]);
                Sql::term(&format!("({{}} IS {what})"), [self.of(kind, next)])
            }
            13 => {
                let pattern = self.random.word(&["'a%'", "'%a%'", "'_b%'", "'A'", "'%é'", "'1%'", "'a\\%b'"]);
                Sql::term(&format!("({{}} LIKE {pattern})"), [self.of(Kind::Text, next)])
            }
            14 if self.subqueries > 0 => self.subquery_condition(kind),
            _ => Sql::term("{}", [self.of(kind, next)]),
        }
    }

    /// A subquery's expressions: its own table is in sight, and outer columns.
    fn inside<T>(&mut self, make: impl FnOnce(&mut Expressions<'_>, usize, &str) -> T) -> T {
        let number = self.random.below(self.tables.len());
        let alias = format!("s{}", self.subqueries);
        let outer = self.names.clone();
        let mut names: Vec<Name> = self.tables[number].iter().map(|column| Name::of(&alias, column)).collect();
        names.push(Name { text: format!("{alias}.id"), kind: Kind::Int });
        if self.random.chance(50) && !outer.is_empty() {
            for _ in 0..3 {
                names.push(self.random.pick(&outer).clone());
            }
        }
        let mut inner =
            Expressions { random: self.random, names, subqueries: self.subqueries - 1, tables: self.tables };
        make(&mut inner, number, &alias)
    }

    fn scalar_subquery(&mut self, kind: Kind) -> Sql {
        self.inside(|inner, number, alias| {
            let condition = inner.condition(1);
            let filter = Sql::maybe(" WHERE {}", [condition]);
            if inner.random.chance(50) {
                let function = inner.random.word(&["MIN", "MAX", "COUNT", "SUM"]);
                let arg = inner.of(kind, 1);
                return Sql::term(&format!("(SELECT {function}({{}}) FROM t{number} {alias}{{}})"), [arg, filter]);
            }
            let value = inner.of(kind, 1);
            let pattern = format!("(SELECT {{}} FROM t{number} {alias}{{}} ORDER BY {alias}.id LIMIT 1)");
            Sql::term(&pattern, [value, filter])
        })
    }

    fn subquery_condition(&mut self, kind: Kind) -> Sql {
        let left = self.of(kind, 0);
        self.inside(|inner, number, alias| {
            let condition = inner.condition(1);
            let filter = Sql::maybe(" WHERE {}", [condition]);
            let from = format!("FROM t{number} {alias}{{}})");
            match inner.random.below(5) {
                0 => Sql::term(&format!("EXISTS (SELECT 1 {from}"), [filter]),
                1 => Sql::term(&format!("(NOT EXISTS (SELECT * {from})"), [filter]),
                2 => {
                    let op = inner.random.word(&["> ALL", "<= ANY", "= ANY", "<> ALL", "< SOME"]);
                    let value = inner.of(kind, 1);
                    Sql::term(&format!("({{}} {op} (SELECT {{}} {from})"), [left, value, filter])
                }
                choice => {
                    let not = if choice == 3 { "NOT IN" } else { "IN" };
                    let value = inner.of(kind, 1);
                    Sql::term(&format!("({{}} {not} (SELECT {{}} {from})"), [left, value, filter])
                }
            }
        })
    }
}
