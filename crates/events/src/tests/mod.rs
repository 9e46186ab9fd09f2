//! Through every form and back.
mod round_trip;
