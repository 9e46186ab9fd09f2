//! engine

pub mod commit;
pub mod lock;
