//! Temporal values in row images. All but DATE are big-endian and ordered as bytes, so keys take them as they are.
//!
//! ```text
//!   DATE         3 bytes, little-endian: day | month << 5 | year << 9
//!   YEAR         1 byte: 0, or year - 1900
//!   DATETIME2    5 bytes: 1 bit set, (year * 13 + month) 17, day 5, hour 5, minute 6, second 6; then fraction
//!   TIMESTAMP2   4 bytes: seconds since 1970; then fraction; all zero is '0000-00-00 00:00:00'
//!   TIME2        3 bytes and fraction as one number: hour << 12 | minute << 6 | second, then the fraction; negated if
//!                negative; plus the top bit
//!   fraction     (fsp + 1) / 2 bytes: hundredths, ten-thousandths or millionths of a second
//! ```

use super::{Date, DateTime, MICROS_PER_SECOND, Time, calendar};

/// Bytes of the fraction.
pub fn fraction_bytes(fsp: u8) -> usize {
    (fsp as usize).div_ceil(2)
}

const DATETIME_SIGN: u64 = 1 << 39;
const TIME_SIGN: i64 = 1 << 23;

fn fraction_scale(bytes: usize) -> u32 {
    [1_000_000, 10_000, 100, 1][bytes]
}

fn push_big_endian(n: u64, bytes: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&n.to_be_bytes()[8 - bytes..]);
}

/// A big-endian number of at most 8 bytes.
pub(crate) fn read_big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, &byte| n << 8 | byte as u64)
}

fn push_fraction(micros: u32, fsp: u8, out: &mut Vec<u8>) {
    let bytes = fraction_bytes(fsp);
    push_big_endian((micros / fraction_scale(bytes)) as u64, bytes, out);
}

fn read_fraction(bytes: &[u8]) -> Option<u32> {
    let micros = read_big_endian(bytes) * fraction_scale(bytes.len()) as u64;
    (bytes.is_empty() || micros < MICROS_PER_SECOND as u64).then_some(micros as u32 * !bytes.is_empty() as u32)
}

/// Appends DATE.
pub fn write_date(date: Date, out: &mut Vec<u8>) {
    let packed = date.day as u32 | (date.month as u32) << 5 | (date.year as u32) << 9;
    out.extend_from_slice(&packed.to_le_bytes()[..3]);
}

/// Reads the 3 bytes of DATE.
pub fn read_date(bytes: &[u8]) -> Option<Date> {
    let packed = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]);
    let date = Date::new((packed >> 9) as u16, (packed >> 5 & 15) as u8, (packed & 31) as u8);
    (date.year <= 9999 && date.month <= 12).then_some(date)
}

/// Appends DATETIME2.
pub fn write_datetime(datetime: DateTime, fsp: u8, out: &mut Vec<u8>) {
    let date = datetime.date;
    let day = (date.year as u64 * 13 + date.month as u64) << 5 | date.day as u64;
    let time = (datetime.hour as u64) << 12 | (datetime.minute as u64) << 6 | datetime.second as u64;
    push_big_endian(DATETIME_SIGN | day << 17 | time, 5, out);
    push_fraction(datetime.micros, fsp, out);
}

/// Reads the bytes of DATETIME2.
pub fn read_datetime(bytes: &[u8]) -> Option<DateTime> {
    let packed = read_big_endian(&bytes[..5]).checked_sub(DATETIME_SIGN)?;
    let month = packed >> 22;
    let date = Date::new((month / 13) as u16, (month % 13) as u8, (packed >> 17 & 31) as u8);
    let (hour, minute, second) = ((packed >> 12 & 31) as u8, (packed >> 6 & 63) as u8, (packed & 63) as u8);
    let micros = read_fraction(&bytes[5..])?;
    (date.year <= 9999 && hour < 24 && minute < 60 && second < 60)
        .then_some(DateTime::new(date, hour, minute, second, micros))
}

/// The last second that TIMESTAMP can hold: 2106-02-07 06:28:15 UTC, as far as 32 bits without sign go. MySQL stops at
/// 2038-01-19 03:14:07, and so do assignments; what is read may be later.
pub const TIMESTAMP_MAX: u32 = u32::MAX;

/// Appends TIMESTAMP2 of a point in time in UTC; `None` if it is out of range.
pub fn write_timestamp(utc: DateTime, fsp: u8, out: &mut Vec<u8>) -> Option<()> {
    let seconds = if utc == DateTime::ZERO { 0 } else { calendar::to_unix_seconds(utc) };
    if !(0..=TIMESTAMP_MAX as i64).contains(&seconds) {
        return None;
    }
    push_big_endian(seconds as u64, 4, out);
    push_fraction(utc.micros, fsp, out);
    Some(())
}

/// Reads the bytes of TIMESTAMP2, in UTC.
pub fn read_timestamp(bytes: &[u8]) -> Option<DateTime> {
    let seconds = read_big_endian(&bytes[..4]) as i64;
    let micros = read_fraction(&bytes[4..])?;
    if seconds == 0 && micros == 0 {
        return Some(DateTime::ZERO);
    }
    calendar::from_unix_micros(seconds * MICROS_PER_SECOND + micros as i64)
}

/// Appends TIME2.
pub fn write_time(time: Time, fsp: u8, out: &mut Vec<u8>) {
    let bytes = fraction_bytes(fsp);
    let (negative, hours, minutes, seconds, micros) = time.parts();
    let whole = (hours as i64) << 12 | (minutes as i64) << 6 | seconds as i64;
    let packed = (whole << (8 * bytes)) + (micros / fraction_scale(bytes)) as i64;
    let packed = if negative { -packed } else { packed } + (TIME_SIGN << (8 * bytes));
    push_big_endian(packed as u64, 3 + bytes, out);
}

/// Reads the bytes of TIME2.
pub fn read_time(bytes: &[u8]) -> Option<Time> {
    let fraction = bytes.len() - 3;
    let packed = read_big_endian(bytes) as i64 - (TIME_SIGN << (8 * fraction));
    let magnitude = packed.unsigned_abs();
    let whole = (magnitude >> (8 * fraction)) as u32;
    let part = if fraction == 0 { 0 } else { magnitude & ((1 << (8 * fraction)) - 1) };
    let micros = part * fraction_scale(fraction) as u64 * (fraction > 0) as u64;
    let (hours, minutes, seconds) = (whole >> 12, whole >> 6 & 63, whole & 63);
    (hours < 1024 && minutes < 60 && seconds < 60 && micros < MICROS_PER_SECOND as u64).then_some(Time::from_parts(
        packed < 0,
        hours,
        minutes,
        seconds,
        micros as u32,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_of(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out);
        out
    }

    /// Bytes as MySQL writes them into its binary log.
    #[test]
    fn known_bytes() {
        let datetime = DateTime::new(Date::new(2024, 2, 29), 13, 14, 15, 123_456);
        assert_eq!(bytes_of(|out| write_datetime(datetime, 0, out)), [0x99, 0xb2, 0xba, 0xd3, 0x8f]);
        assert_eq!(bytes_of(|out| write_datetime(datetime, 3, out)), [0x99, 0xb2, 0xba, 0xd3, 0x8f, 0x04, 0xd2]);
        let time = Time::from_parts(true, 0, 0, 1, 500_000);
        assert_eq!(bytes_of(|out| write_time(time, 2, out)), [0x7f, 0xff, 0xfe, 0xce]);
        assert_eq!(bytes_of(|out| write_time(Time::default(), 0, out)), [0x80, 0, 0]);
        assert_eq!(bytes_of(|out| write_date(Date::new(2024, 2, 29), out)), [0x5d, 0xd0, 0x0f]);
    }

    #[test]
    fn round_trips_in_order() {
        let times =
            [-3_020_399_000_000i64, -1_500_000, -1_000_000, -10_000, 0, 10_000, 990_000, 1_000_000, 3_020_399_000_000];
        for fsp in [0, 2, 4, 6] {
            let mut last = Vec::new();
            for micros in times {
                let time = Time::from_micros(micros).truncated(fsp);
                let bytes = bytes_of(|out| write_time(time, fsp, out));
                assert_eq!(read_time(&bytes), Some(time));
                assert!(bytes >= last);
                last = bytes;
            }
        }
        for (year, fsp) in [(0, 0), (1, 1), (1970, 6), (9999, 5)] {
            let datetime = DateTime::new(Date::new(year, 12, 31), 23, 59, 59, 999_999).truncated(fsp);
            assert_eq!(read_datetime(&bytes_of(|out| write_datetime(datetime, fsp, out))), Some(datetime));
            assert_eq!(read_date(&bytes_of(|out| write_date(datetime.date, out))), Some(datetime.date));
        }
    }

    #[test]
    fn timestamps() {
        let utc = DateTime::new(Date::new(2024, 2, 29), 13, 14, 15, 120_000);
        let bytes = bytes_of(|out| write_timestamp(utc, 2, out).unwrap());
        assert_eq!(read_timestamp(&bytes), Some(utc));
        let zero = bytes_of(|out| write_timestamp(DateTime::ZERO, 6, out).unwrap());
        assert_eq!((zero.len(), read_timestamp(&zero)), (7, Some(DateTime::ZERO)));
        assert!(write_timestamp(DateTime::new(Date::new(1969, 12, 31), 0, 0, 0, 0), 0, &mut Vec::new()).is_none());
    }
}
