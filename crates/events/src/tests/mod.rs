//! Through every form and back, in text, and with anything in place of what should be there.

mod any_bytes;
mod interface;
mod proto;
mod round_trip;
mod texts;
