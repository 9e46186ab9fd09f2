//! Decimals against a simple oracle and MySQL's rules.

use proptest::prelude::*;

use super::*;

fn d(text: &str) -> Decimal {
    text.parse().unwrap()
}

#[test]
fn known_results() {
    assert_eq!(d("1.10").add(&d("2.205")).unwrap().to_string(), "3.305");
    assert_eq!(d("1").subtract(&d("1.0")).unwrap().to_string(), "0.0");
    assert_eq!(d("-999999999.5").add(&d("-0.5")).unwrap().to_string(), "-1000000000.0");
    assert_eq!(d("1.5").multiply(&d("-2.25")).unwrap().to_string(), "-3.375");
    let long = |first: char| d(&format!("{first}000000000000000000000000000000.12345678901234"));
    let cut = "72000000000000000000000000000002098765413209780000000000000000.015241578753237434";
    assert_eq!(long('8').multiply(&long('9')).unwrap().to_string(), cut);
    assert_eq!(d("1").divide(&d("3"), 4).unwrap().to_string(), "0.3333");
    assert_eq!(d("2").divide(&d("3"), 4).unwrap().to_string(), "0.6667");
    assert_eq!(d("-7.5").remainder(&d("2")).unwrap().to_string(), "-1.5");
    assert_eq!(d("7").divide_int(&d("-2")).unwrap().to_string(), "-3");
    assert_eq!(d("1").divide(&d("0.00"), 4), None);
    assert_eq!(d("0.045").rounded(2, Rounding::HalfUp).unwrap().to_string(), "0.05");
    assert_eq!(d("-0.004").rounded(2, Rounding::HalfUp).unwrap().to_string(), "0.00");
    assert_eq!(d("-0.1").rounded(0, Rounding::Floor).unwrap().to_string(), "-1");
    assert_eq!(d("999.99").rounded(1, Rounding::HalfUp).unwrap().to_string(), "1000.0");
    assert_eq!(d("1250").rounded_before_point(2, Rounding::HalfUp).unwrap().to_string(), "1300");
    assert_eq!(d("1250").rounded_before_point(4, Rounding::HalfUp).unwrap().to_string(), "0");
    assert_eq!(d("12.5e-3").to_string(), "0.0125");
    assert_eq!(d("1.5e3").to_string(), "1500");
    assert_eq!(d(".5").to_string(), "0.5");
    assert_eq!(d("-5.").to_string(), "-5");
    assert_eq!(Decimal::from(i64::MIN).to_string(), "-9223372036854775808");
    assert_eq!(Decimal::from_f64(0.1).unwrap().to_string(), "0.1");
    assert_eq!(d("18446744073709551615.5").to_i128(), Some(u64::MAX as i128 + 1));
    assert_eq!(d("1.0"), d("1.000"));
    assert_eq!((d("123.45").precision(), d("0.045").precision()), (5, 3));
    assert_eq!(Decimal::max_of(5, 2).to_string(), "999.99");
    let big = Decimal::parse("9".repeat(70).as_bytes()).unwrap();
    assert!(big.overflow && big.value == Decimal::max_of(65, 0));
}

#[test]
fn known_bytes() {
    let bytes = |text: &str| {
        let mut out = Vec::new();
        d(text).write_binary(14, 4, &mut out).unwrap();
        out
    };
    assert_eq!(bytes("1234567890.1234"), [0x81, 0x0d, 0xfb, 0x38, 0xd2, 0x04, 0xd2]);
    assert_eq!(bytes("-1234567890.1234"), [0x7e, 0xf2, 0x04, 0xc7, 0x2d, 0xfb, 0x2d]);
    assert_eq!(d("100").write_binary(4, 2, &mut Vec::new()), None);
}

/// Digits with a point: at most 33 and 30 of them, so that sums and products fit.
fn decimal() -> impl Strategy<Value = Decimal> {
    let text = "-?(0|[1-9][0-9]{0,30}|[1-9]0{8,20}[0-9]?)(\\.[0-9]{1,14})?";
    proptest::string::string_regex(text).unwrap().prop_map(|text| text.parse().unwrap())
}

/// The oracle: whole numbers in base 10, one digit per byte, at scale 60.
mod oracle {
    use super::super::Decimal;

    const SCALE: usize = 60;

    pub(super) struct Big(pub(super) bool, pub(super) Vec<u8>);

    pub(super) fn of(n: &Decimal) -> Big {
        let text = n.to_string();
        let digits = text.trim_start_matches('-');
        let (int, frac) = digits.split_once('.').unwrap_or((digits, ""));
        let mut all: Vec<u8> = int.bytes().chain(frac.bytes()).map(|b| b - b'0').collect();
        all.extend(std::iter::repeat_n(0, SCALE - frac.len()));
        Big(text.starts_with('-'), all)
    }

    /// Schoolbook, least significant first, then cut back to the scale.
    pub(super) fn product(a: &Big, b: &Big) -> Big {
        let mut digits = vec![0u32; a.1.len() + b.1.len()];
        for (i, &x) in a.1.iter().rev().enumerate() {
            for (j, &y) in b.1.iter().rev().enumerate() {
                digits[i + j] += x as u32 * y as u32;
            }
        }
        for i in 0..digits.len() - 1 {
            digits[i + 1] += digits[i] / 10;
            digits[i] %= 10;
        }
        Big(a.0 != b.0, digits[SCALE..].iter().rev().map(|&digit| digit as u8).collect())
    }

    pub(super) fn same(a: &Big, b: &Big) -> bool {
        let strip = |digits: &[u8]| digits.iter().copied().skip_while(|&digit| digit == 0).collect::<Vec<_>>();
        let (x, y) = (strip(&a.1), strip(&b.1));
        x == y && (a.0 == b.0 || x.is_empty())
    }
}

proptest! {
    #[test]
    fn text_round_trip(n in decimal()) {
        prop_assert_eq!(d(&n.to_string()), n);
        prop_assert_eq!(d(&n.to_string()).to_string(), n.to_string());
    }

    #[test]
    fn products_are_the_oracles(a in decimal(), b in decimal()) {
        let product = a.multiply(&b).unwrap();
        // A product that is too long loses words at its end.
        prop_assume!(product.scale() == a.scale() + b.scale());
        prop_assert!(oracle::same(&oracle::of(&product), &oracle::product(&oracle::of(&a), &oracle::of(&b))));
    }

    #[test]
    fn sums_and_differences_agree(a in decimal(), b in decimal()) {
        let sum = a.add(&b).unwrap();
        prop_assert_eq!(sum.subtract(&b).unwrap(), a);
        prop_assert_eq!(a.subtract(&b).unwrap(), b.subtract(&a).unwrap().negated());
        prop_assert_eq!(a.cmp(&b), a.subtract(&b).unwrap().cmp(&Decimal::ZERO));
    }

    #[test]
    fn small_numbers_are_as_integers(a in -1_000_000_000_000i64..1_000_000_000_000, b in -1_000_000_000_000i64..1_000_000_000_000, shift in 0u8..6) {
        let of = |n: i64| Decimal::from(n).multiply(&d(&format!("1e-{shift}"))).unwrap();
        prop_assert_eq!(of(a).add(&of(b)).unwrap(), of(a + b));
        prop_assert_eq!(of(a).cmp(&of(b)), a.cmp(&b));
        if b != 0 {
            prop_assert_eq!(of(a).remainder(&of(b)).unwrap(), of(a % b));
            prop_assert_eq!(of(a).divide_int(&of(b)).unwrap(), Decimal::from(a / b));
        }
    }

    #[test]
    fn quotients_times_divisors_are_dividends(a in decimal(), b in decimal()) {
        prop_assume!(!b.is_zero());
        let quotient = a.divide_int(&b).unwrap();
        let remainder = a.remainder(&b).unwrap();
        prop_assert!(remainder.abs() < b.abs());
        if let Some(product) = quotient.multiply(&b) {
            prop_assert_eq!(product.add(&remainder).unwrap(), a);
        }
        let rounded = a.divide(&b, 6).unwrap();
        // |a - q * b| <= |b| / 2 * 10^-6
        if let Some(error) = rounded.multiply(&b).and_then(|product| product.subtract(&a)) {
            let bound = b.abs().multiply(&d("0.0000005")).unwrap();
            prop_assert!(error.abs() <= bound);
        }
    }

    #[test]
    fn bytes_are_ordered(a in decimal(), b in decimal()) {
        let bytes = |n: &Decimal| {
            let mut out = Vec::new();
            n.write_binary(65, 30, &mut out).unwrap();
            assert_eq!(out.len(), binary::size(65, 30));
            out
        };
        prop_assert_eq!(bytes(&a).cmp(&bytes(&b)), a.cmp(&b));
        prop_assert_eq!(Decimal::read_binary(&bytes(&a), 65, 30), Some(a));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..40), precision in 1u8..=65, scale in 0u8..=30) {
        prop_assume!(scale <= precision);
        if let Some(n) = Decimal::read_binary(&bytes, precision, scale) {
            prop_assert!(n.precision() <= precision.max(scale));
        }
    }
}

#[test]
fn ordered_bytes_are_ordered_as_the_numbers() {
    let texts = [
        "-123456789012345678901234567890.5",
        "-1000000000",
        "-999999999.999999999999",
        "-999999999",
        "-2.5",
        "-2",
        "-0.000000000001",
        "0",
        "0.000000000001",
        "0.000000001",
        "0.5",
        "1",
        "1.000000000001",
        "1.5",
        "999999999",
        "1000000000",
        "1000000000.1",
        "1000000001",
        "5000000000000000000",
        "123456789012345678901234567890",
    ];
    let bytes = |text: &str| {
        let mut bytes = Vec::new();
        text.parse::<Decimal>().unwrap().write_ordered(&mut bytes);
        bytes
    };
    for two in texts.windows(2) {
        assert!(bytes(two[0]) < bytes(two[1]), "{two:?}");
        assert!(!bytes(two[1]).starts_with(&bytes(two[0])), "{two:?}");
    }
    assert_eq!(bytes("1.50"), bytes("1.5000000000000"));
    assert_eq!(bytes("-0.0"), bytes("0"));
}
