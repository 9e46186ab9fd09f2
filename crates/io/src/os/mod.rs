//! The operating system behind the traits of this crate.
