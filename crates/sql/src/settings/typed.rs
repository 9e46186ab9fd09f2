//! The types of settings' fields: how a value that was checked and stored becomes one.

use std::sync::Arc;
use std::time::Duration;

use binlog::SyncMethod;
use engine::commit::{DependencyTracking, OnTimeout};
use engine::{Isolation, RowImage};
use jiff::tz::TimeZone;
use types::CollationId;

use super::{SettingValue, sql_mode, time_zone};
use crate::charsets;
use crate::expr::SqlMode;
use crate::expr::function::cipher::CipherMode;
use crate::expr::locale::Locale;
use crate::replay::{ExecMode, OnDifference, TypeConversions};
use crate::session::TrackGtids;

/// What stands behind a setting's name in the table.
pub trait Typed {
    /// The field's own type.
    type Field;

    /// The field of a value that the setting's kind admits.
    fn of(value: &SettingValue) -> Self::Field;
}

/// `Name -> Field: |value| …` for each.
macro_rules! typed {
    ($($type:ty => $field:ty, |$value:ident| $of:expr;)*) => {
        $(impl Typed for $type {
            type Field = $field;

            fn of($value: &SettingValue) -> $field {
                $of
            }
        })*
    };
}

typed! {
    bool => bool, |value| value.as_bool();
    u8 => u8, |value| value.as_u64() as u8;
    u16 => u16, |value| value.as_u64() as u16;
    u32 => u32, |value| value.as_u64() as u32;
    u64 => u64, |value| value.as_u64();
    f64 => f64, |value| value.as_f64();
    usize => usize, |value| usize::try_from(value.as_u64()).unwrap_or(usize::MAX);
    Text => Arc<str>, |value| match value {
        SettingValue::Text(text) => text.clone(),
        _ => Arc::from(""),
    };
    Seconds => Duration, |value| Duration::from_secs(value.as_u64());
    Millis => Duration, |value| Duration::from_millis(value.as_u64());
    Micros => Duration, |value| Duration::from_micros(value.as_u64());
    SecondsLimit => Option<Duration>, |value| Some(Duration::from_secs_f64(value.as_f64())).filter(|time| !time.is_zero());
    MillisLimit => Option<Duration>, |value| Some(Millis::of(value)).filter(|time| !time.is_zero());
    ClientTime => Option<u64>, |value| Some((value.as_f64() * 1e6) as u64).filter(|micros| *micros > 0);
    Number => Option<u64>, |value| Some(value.as_u64()).filter(|number| *number > 0);
    Zone => Zone, |value| match value.as_str() {
        "SYSTEM" => Zone::System,
        name => Zone::Of(time_zone(name).unwrap_or(TimeZone::UTC)),
    };
    Language => &'static Locale, |value| Locale::by_name(value.as_str()).unwrap_or_else(Locale::english);
    CharacterSet => &'static str, |value| charsets::static_name(value.as_str()).unwrap_or("utf8mb4");
    ResultCharacterSet => Option<&'static str>, |value| charsets::static_name(value.as_str());
    CollationId => CollationId, |value| types::collation::by_name(value.as_str()).unwrap_or(CollationId::DEFAULT);
    Utf8Mb3Collation => Option<CollationId>, |value| charsets::utf8mb3_of(value.as_str());
    SqlMode => SqlMode, |value| sql_mode::parse(value.as_str());
    CipherMode => CipherMode, |value| CipherMode::by_name(value.as_str()).unwrap_or_default();
    Isolation => Isolation, |value| isolation_of(value.as_str());
    RowImage => RowImage, |value| match value.as_str() {
        "MINIMAL" => RowImage::Minimal,
        _ => RowImage::Full,
    };
    TrackGtids => TrackGtids, |value| match value.as_str() {
        "OWN_GTID" => TrackGtids::Own,
        "ALL_GTIDS" => TrackGtids::All,
        _ => TrackGtids::Off,
    };
    CompletionType => CompletionType, |value| match value.as_str() {
        "CHAIN" => CompletionType::Chain,
        "RELEASE" => CompletionType::Release,
        _ => CompletionType::NoChain,
    };
    DependencyTracking => DependencyTracking, |value| match value.as_str() {
        "COMMIT_ORDER" => DependencyTracking::CommitOrder,
        "WRITESET_SESSION" => DependencyTracking::WritesetSession,
        _ => DependencyTracking::Writeset,
    };
    OnTimeout => OnTimeout, |value| match value.as_str() {
        "WAIT" => OnTimeout::Wait,
        _ => OnTimeout::GoOn,
    };
    SyncMethod => SyncMethod, |value| match value.as_str() {
        "O_DSYNC" => SyncMethod::Dsync,
        _ => SyncMethod::Fdatasync,
    };
    IoMethod => IoMethod, |value| match value.as_str() {
        "THREADS" => IoMethod::Threads,
        _ => IoMethod::Uring,
    };
    ExecMode => ExecMode, |value| match value.as_str() {
        "IDEMPOTENT" => ExecMode::Idempotent,
        _ => ExecMode::Strict,
    };
    OnDifference => OnDifference, |value| match value.as_str() {
        "IGNORE" => OnDifference::Ignore,
        "ERROR" => OnDifference::Error,
        _ => OnDifference::Warn,
    };
    TypeConversions => TypeConversions, |value| TypeConversions::parse(value.as_str());
}

/// Text of any kind, words of a list among it.
pub enum Text {}
/// A time in seconds.
pub enum Seconds {}
/// A time in milliseconds.
pub enum Millis {}
/// A time in microseconds.
pub enum Micros {}
/// A time in seconds with a fraction; 0 for no limit.
pub enum SecondsLimit {}
/// A time in milliseconds; 0 for no limit.
pub enum MillisLimit {}
/// `SET timestamp = …`, in microseconds since 1970; `None` for the real time.
pub enum ClientTime {}
/// A number; 0 for none.
pub enum Number {}
/// The names of days and months.
pub enum Language {}
/// The name of a character set.
pub enum CharacterSet {}
/// The same, or NULL. With it, and with `binary`, text is sent in its own character set.
pub enum ResultCharacterSet {}
/// What `character_set_collations` makes of utf8mb3, where that is not what it is here.
pub enum Utf8Mb3Collation {}

/// A time zone.
#[derive(Clone, Debug)]
pub enum Zone {
    /// That of the machine.
    System,
    /// Another one.
    Of(TimeZone),
}

/// `completion_type`: what follows COMMIT and ROLLBACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionType {
    /// Nothing.
    NoChain,
    /// A transaction of the same kind.
    Chain,
    /// The end of the connection.
    Release,
}

/// `innodb_io_method`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoMethod {
    /// io_uring, where it works.
    Uring,
    /// Worker threads.
    Threads,
}

/// A level by the word that the setting has.
pub(crate) fn isolation_of(name: &str) -> Isolation {
    match name {
        "READ-UNCOMMITTED" => Isolation::ReadUncommitted,
        "READ-COMMITTED" => Isolation::ReadCommitted,
        "SERIALIZABLE" => Isolation::Serializable,
        _ => Isolation::RepeatableRead,
    }
}
