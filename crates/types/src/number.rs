//! Numbers as text, and text as numbers, as MySQL writes and reads them.

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

/// Appends a FLOAT; with a fixed number of digits after the point unless `decimals` is [`crate::value::NOT_FIXED`].
pub fn write_f32(n: f32, decimals: u8, out: &mut Vec<u8>) {
    let _ = (n, decimals, out);
    todo!()
}

/// Appends a DOUBLE; with a fixed number of digits after the point unless `decimals` is [`crate::value::NOT_FIXED`].
pub fn write_f64(n: f64, decimals: u8, out: &mut Vec<u8>) {
    let _ = (n, decimals, out);
    todo!()
}
