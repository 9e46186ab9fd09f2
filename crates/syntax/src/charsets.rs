//! Character sets by the names that statements have for them.

use types::charset::Charset;

/// The name as it is stored: `utf8` is `utf8mb3`, which is handled as utf8mb4. `None` for one that is not supported.
pub fn static_name(name: &str) -> Option<&'static str> {
    if name.eq_ignore_ascii_case("utf8") || name.eq_ignore_ascii_case("utf8mb3") {
        return Some("utf8mb3");
    }
    Charset::by_name(name).map(Charset::name)
}
