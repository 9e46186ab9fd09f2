//! The text of temporal values: written, and read back in the same form.

use super::{Date, DateTime, Time, fraction_unit};

/// Two digits.
fn push2(n: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'0' + n / 10 % 10, b'0' + n % 10]);
}

fn push_fraction(micros: u32, fsp: u8, out: &mut Vec<u8>) {
    if fsp == 0 {
        return;
    }
    out.push(b'.');
    for place in 1..=fsp.min(6) {
        out.push(b'0' + (micros / fraction_unit(place) % 10) as u8);
    }
}

impl Date {
    /// Appends `2024-01-31`.
    pub fn write_text(self, out: &mut Vec<u8>) {
        push2((self.year / 100) as u8, out);
        push2((self.year % 100) as u8, out);
        out.push(b'-');
        push2(self.month, out);
        out.push(b'-');
        push2(self.day, out);
    }

    /// Reads what [`Date::write_text`] writes.
    pub fn from_canonical(text: &str) -> Option<Self> {
        let mut numbers = Numbers { text: text.as_bytes() };
        let date = numbers.date()?;
        numbers.text.is_empty().then_some(date)
    }
}

impl Time {
    /// Appends `-12:34:56.789` with `fsp` digits of the fraction.
    pub fn write_text(self, fsp: u8, out: &mut Vec<u8>) {
        let (negative, hours, minutes, seconds, micros) = self.parts();
        if negative {
            out.push(b'-');
        }
        if hours >= 100 {
            crate::number::write_u64(hours as u64, out);
        } else {
            push2(hours as u8, out);
        }
        out.push(b':');
        push2(minutes as u8, out);
        out.push(b':');
        push2(seconds as u8, out);
        push_fraction(micros, fsp, out);
    }

    /// Reads what [`Time::write_text`] writes.
    pub fn from_canonical(text: &str) -> Option<Self> {
        let negative = text.starts_with('-');
        let mut numbers = Numbers { text: &text.as_bytes()[negative as usize..] };
        let hours = numbers.number(2, 3)?;
        let (minutes, seconds) = (numbers.after(b':')?.number(2, 2)?, numbers.after(b':')?.number(2, 2)?);
        let micros = numbers.fraction()?;
        numbers.text.is_empty().then_some(Time::from_parts(negative, hours, minutes, seconds, micros))
    }
}

impl DateTime {
    /// Appends `2024-01-31 12:34:56.789` with `fsp` digits of the fraction.
    pub fn write_text(self, fsp: u8, out: &mut Vec<u8>) {
        self.date.write_text(out);
        out.push(b' ');
        push2(self.hour, out);
        out.push(b':');
        push2(self.minute, out);
        out.push(b':');
        push2(self.second, out);
        push_fraction(self.micros, fsp, out);
    }

    /// Reads what [`DateTime::write_text`] writes.
    pub fn from_canonical(text: &str) -> Option<Self> {
        let mut numbers = Numbers { text: text.as_bytes() };
        let date = numbers.date()?;
        let hour = numbers.after(b' ')?.number(2, 2)? as u8;
        let minute = numbers.after(b':')?.number(2, 2)? as u8;
        let second = numbers.after(b':')?.number(2, 2)? as u8;
        let micros = numbers.fraction()?;
        numbers.text.is_empty().then_some(DateTime::new(date, hour, minute, second, micros))
    }
}

/// Reads fixed forms from the front of a text.
struct Numbers<'a> {
    text: &'a [u8],
}

impl Numbers<'_> {
    fn number(&mut self, min: usize, max: usize) -> Option<u32> {
        let len = self.text.iter().take(max).take_while(|byte| byte.is_ascii_digit()).count();
        if len < min {
            return None;
        }
        let number = self.text[..len].iter().fold(0, |n, digit| n * 10 + (digit - b'0') as u32);
        self.text = &self.text[len..];
        Some(number)
    }

    fn after(&mut self, byte: u8) -> Option<&mut Self> {
        self.text = self.text.strip_prefix(&[byte])?;
        Some(self)
    }

    fn date(&mut self) -> Option<Date> {
        let year = self.number(4, 4)? as u16;
        let month = self.after(b'-')?.number(2, 2)? as u8;
        let day = self.after(b'-')?.number(2, 2)? as u8;
        Some(Date::new(year, month, day))
    }

    fn fraction(&mut self) -> Option<u32> {
        if self.text.is_empty() {
            return Some(0);
        }
        let before = self.after(b'.')?.text.len();
        let digits = self.number(1, 6)?;
        Some(digits * fraction_unit((before - self.text.len()) as u8))
    }
}
