//! What the clocks of a time zone show, and when.

use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use types::DateTime;
use types::temporal::parse::Parsed;
use types::temporal::{MICROS_PER_SECOND, calendar};

use crate::expr::context::SessionInfo;

/// Microseconds since 1970 as the zone's clocks show them.
pub(crate) fn utc_micros_to_local(micros: i64, zone: &TimeZone) -> Option<DateTime> {
    let offset = match zone.to_fixed_offset() {
        Ok(offset) => offset,
        Err(_) => zone.to_offset(jiff::Timestamp::from_microsecond(micros).ok()?),
    };
    calendar::from_unix_micros(micros + offset.seconds() as i64 * MICROS_PER_SECOND)
}

/// A stored TIMESTAMP (UTC) as the zone's clocks show it; the zero date stays.
pub(crate) fn utc_to_local(utc: DateTime, zone: &TimeZone) -> DateTime {
    if utc == DateTime::ZERO {
        return utc;
    }
    utc_micros_to_local(calendar::to_unix_micros(utc), zone).unwrap_or(utc)
}

/// A moment that a zone's clocks show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OfZone {
    /// Microseconds since 1970.
    pub(crate) micros: i64,
    /// They never show it: a change of the clocks skips it. The moment is that of the change, with the fraction that was given.
    pub(crate) is_skipped: bool,
}

/// What a zone's clocks show as microseconds since 1970.
pub(crate) fn local_to_utc_micros(local: DateTime, zone: &TimeZone) -> Option<i64> {
    local_to_utc(local, zone).map(|moment| moment.micros)
}

/// The moment at which a zone's clocks show that, for the first time.
pub(crate) fn local_to_utc(local: DateTime, zone: &TimeZone) -> Option<OfZone> {
    let as_if_utc = calendar::to_unix_micros(local);
    let behind = |offset: Offset| as_if_utc - offset.seconds() as i64 * MICROS_PER_SECOND;
    if let Ok(offset) = zone.to_fixed_offset() {
        return Some(OfZone { micros: behind(offset), is_skipped: false });
    }
    let date = local.date;
    let civil = jiff::civil::DateTime::new(
        date.year as i16,
        date.month as i8,
        date.day as i8,
        local.hour as i8,
        local.minute as i8,
        local.second as i8,
        local.micros as i32 * 1000,
    );
    Some(match zone.to_ambiguous_timestamp(civil.ok()?).offset() {
        AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
            OfZone { micros: behind(offset), is_skipped: false }
        }
        AmbiguousOffset::Gap { before, .. } => {
            let later = jiff::Timestamp::from_microsecond(behind(before).checked_add(1)?).ok()?;
            let change = zone.preceding(later).next()?.timestamp().as_microsecond();
            OfZone { micros: change + i64::from(local.micros), is_skipped: true }
        }
    })
}

/// Rounded to microseconds; a zone that stood in the text is changed for the session's.
pub(crate) fn in_session_zone(parsed: &Parsed<DateTime>, session: &SessionInfo) -> Option<DateTime> {
    let value = parsed.rounded(6, false)?;
    match parsed.zone_minutes {
        None => Some(value),
        Some(minutes) => {
            let utc = calendar::to_unix_micros(value) - minutes as i64 * 60 * MICROS_PER_SECOND;
            utc_micros_to_local(utc, &session.time_zone)
        }
    }
}
