//! Numbers as text, and text as numbers, as MySQL writes and reads them.

use crate::value::NOT_FIXED;

/// Appends a signed integer.
pub fn write_i64(n: i64, out: &mut Vec<u8>) {
    if n < 0 {
        out.push(b'-');
    }
    write_u64(n.unsigned_abs(), out);
}

/// Appends an unsigned integer.
pub fn write_u64(mut n: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// A number as FLOAT(M,D) and DOUBLE(M,D) hold it, and whether it was within their range: with `decimals` digits after the point, half
/// to even, and `digits` in all.
pub fn to_digits(n: f64, digits: u8, decimals: u8) -> (f64, bool) {
    let scale = 10f64.powi(decimals.into());
    let max = 10f64.powi(i32::from(digits) - i32::from(decimals)) - 1.0 / scale;
    let whole = n.floor();
    let rounded = if n.is_finite() { whole + ((n - whole) * scale).round_ties_even() / scale } else { n };
    (rounded.clamp(-max, max), (-max..=max).contains(&rounded))
}

/// Appends a FLOAT; with a fixed number of digits after the point unless `decimals` is [`NOT_FIXED`]. Without one it has the
/// six digits at most, as MySQL prints it.
pub fn write_f32(n: f32, decimals: u8, out: &mut Vec<u8>) {
    if decimals < NOT_FIXED {
        return write_f64(n as f64, decimals, out);
    }
    let shortest = format!("{n:e}");
    let text =
        if mantissa_digits(&shortest) > FLOAT_DIGITS { format!("{:.*e}", FLOAT_DIGITS - 1, n) } else { shortest };
    write_scientific(&text, out);
}

/// FLT_DIG
const FLOAT_DIGITS: usize = 6;

/// Appends a DOUBLE; with a fixed number of digits after the point unless `decimals` is [`NOT_FIXED`]: then the fewest digits
/// that say the same number, with an exponent if it is 1e15 or more without a fraction, or less than 1e-15.
pub fn write_f64(n: f64, decimals: u8, out: &mut Vec<u8>) {
    if decimals < NOT_FIXED {
        write_fixed(n, decimals as usize, out);
    } else {
        write_scientific(&shortest(n), out);
    }
}

/// The fewest digits that say the same number; of two such texts that are as near the one that ends in an even digit, as MySQL chooses.
fn shortest(n: f64) -> String {
    let shortest = format!("{n:e}");
    let digits = mantissa_digits(&shortest);
    if digits < ONE_OF_TWO {
        return shortest;
    }
    let nearest = format!("{n:.*e}", digits - 1);
    if nearest.parse() == Ok(n) { nearest } else { shortest }
}

/// Numbers with fewer digits are not between two texts.
const ONE_OF_TWO: usize = 16;

/// With so many digits after the point; those of the shortest text that says the same number, and then zeros.
fn write_fixed(n: f64, decimals: usize, out: &mut Vec<u8>) {
    if !n.is_finite() {
        return out.push(b'0');
    }
    let shortest = n.to_string();
    let (whole, fraction) = shortest.split_once('.').unwrap_or((&shortest, ""));
    if fraction.len() > decimals {
        return out.extend_from_slice(format!("{n:.decimals$}").as_bytes());
    }
    out.extend_from_slice(whole.as_bytes());
    if decimals > 0 {
        out.push(b'.');
        out.extend_from_slice(fraction.as_bytes());
        out.extend(std::iter::repeat_n(b'0', decimals - fraction.len()));
    }
}

fn mantissa_digits(scientific: &str) -> usize {
    scientific.split('e').next().unwrap_or("").bytes().filter(u8::is_ascii_digit).count()
}

/// Writes what Rust gives as `-1.25e-7` the way MySQL chooses between its two forms.
fn write_scientific(scientific: &str, out: &mut Vec<u8>) {
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        // Infinite, as a sum can be, or no number: no column can hold it, and MySQL shows it so.
        out.push(b'0');
        return;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let kept = digits.iter().rposition(|&digit| digit != b'0').map_or(1, |last| last + 1);
    let digits = &digits[..kept];
    if digits == b"0" {
        out.extend_from_slice(if mantissa.starts_with('-') { b"-0" } else { b"0" });
        return;
    }
    if mantissa.starts_with('-') {
        out.push(b'-');
    }
    let has_fraction = digits.len() as i32 > exponent + 1;
    if exponent < -15 || exponent >= 15 && !has_fraction {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.push(b'e');
        write_i64(exponent as i64, out);
    } else if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', -exponent as usize - 1));
        out.extend_from_slice(digits);
    } else {
        let before = exponent as usize + 1;
        for place in 0..before.max(digits.len()) {
            if place == before {
                out.push(b'.');
            }
            out.push(digits.get(place).copied().unwrap_or(b'0'));
        }
    }
}

/// The number at the beginning of a text, after spaces: sign, digits, point, digits, exponent. Gives the number (0 if there
/// is none) and how many bytes it took with the spaces before it; more than a double can hold is its greatest.
pub fn parse_f64(text: &[u8]) -> (f64, usize) {
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut at = start + matches!(text.get(start), Some(b'+' | b'-')) as usize;
    let int = digits(at);
    at += int;
    let mut frac = 0;
    if text.get(at) == Some(&b'.') {
        frac = digits(at + 1);
        at += 1 + frac;
    }
    if int + frac == 0 {
        return (0.0, 0);
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = matches!(text.get(at + 1), Some(b'+' | b'-')) as usize;
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    let number: f64 = std::str::from_utf8(&text[start..at]).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0);
    (number.clamp(f64::MIN, f64::MAX), at)
}

/// Whether the number in the first `len` bytes of a text is greater than any DOUBLE.
pub fn is_beyond_f64(text: &[u8], len: usize) -> bool {
    let number = std::str::from_utf8(&text[..len]).ok().and_then(|text| text.trim_start().parse::<f64>().ok());
    number.is_some_and(f64::is_infinite)
}

/// The integer at the beginning of a text, after spaces, and how many bytes it took. Beyond 128 bits it stays at their ends.
pub fn parse_integer(text: &[u8]) -> (i128, usize) {
    let start = text.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let negative = text.get(start) == Some(&b'-');
    let first = start + matches!(text.get(start), Some(b'+' | b'-')) as usize;
    let len = text[first..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if len == 0 {
        return (0, 0);
    }
    let add = |n: i128, digit: &u8| n.saturating_mul(10).saturating_add((digit - b'0') as i128);
    let number = text[first..first + len].iter().fold(0, add);
    (if negative { -number } else { number }, first + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(n: f64) -> String {
        let mut out = Vec::new();
        write_f64(n, NOT_FIXED, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn float(n: f32) -> String {
        let mut out = Vec::new();
        write_f32(n, NOT_FIXED, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fixed_digits_are_those_of_the_shortest_text() {
        let cases = [
            (f64::from(1e22f32), 0, "9999999778196308000000"),
            (123456789012345678901.0, 2, "123456789012345680000.00"),
            (0.1, 20, "0.10000000000000000000"),
            (-1.255, 2, "-1.25"),
            (f64::INFINITY, 2, "0"),
        ];
        for (n, decimals, text) in cases {
            let mut out = Vec::new();
            write_f64(n, decimals, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn doubles_as_mysql_prints_them() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (0.1, "0.1"),
            (1.5e10, "15000000000"),
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (123456789012345.6, "123456789012345.6"),
            (1000000000000000.5, "1000000000000000.5"),
            (-1234567890123456.8, "-1234567890123456.8"),
            (12345678901234568.0, "1.2345678901234568e16"),
            (824873949835503.0 + 0.25, "824873949835503.2"),
            (824873949835503.0 + 0.75, "824873949835503.8"),
            (1.25e-5, "0.0000125"),
            (1e-16, "1e-16"),
            (-1.5e300, "-1.5e300"),
            (100.0, "100"),
        ];
        for (n, text) in cases {
            assert_eq!(double(n), text);
        }
        assert_eq!(float(0.1), "0.1");
        assert_eq!(float(2.1234567), "2.12346");
        assert_eq!(float(1e10), "10000000000");
        assert_eq!(float(123456.7), "123457");
    }

    #[test]
    fn numbers_at_the_beginning_of_text() {
        assert_eq!(parse_f64(b"  12.5abc"), (12.5, 6));
        assert_eq!(parse_f64(b"1e3"), (1000.0, 3));
        assert_eq!(parse_f64(b"1e"), (1.0, 1));
        assert_eq!(parse_f64(b"-.5"), (-0.5, 3));
        assert_eq!(parse_f64(b"abc"), (0.0, 0));
        assert_eq!(parse_f64(b"1e999").0, f64::MAX);
        assert!(is_beyond_f64(b"-1e999x", 6) && !is_beyond_f64(b"1e3", 3));
        assert_eq!(parse_integer(b" -42x"), (-42, 4));
        assert_eq!(parse_integer(b"x"), (0, 0));
    }
}
