//! commuter as a library: a database inside a program.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = std::env::temp_dir().join(format!("commuter-example-{}", std::process::id()));
//! let database = commuter::Database::open(&folder)?;
//! database.query("CREATE DATABASE IF NOT EXISTS shop")?;
//! database.query("CREATE TABLE IF NOT EXISTS shop.items (id INT PRIMARY KEY, name VARCHAR(50))")?;
//! database.query("REPLACE INTO shop.items VALUES (1, 'lamp')")?;
//! for row in database.query("SELECT * FROM shop.items")?.rows {
//!     println!("{row:?}");
//! }
//! database.close()?;
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok(())
//! # }
//! ```
//!
//! The data directory is the same as a server's, and held as a server holds it: one process at a time. The same binary log
//! is written, so what an embedded database did can be replicated or replayed later.

pub mod client;
mod database;
pub mod demo;

pub use base::SqlError;
pub use database::{Connection, Database, Rows};
pub use server::{ServeOptions, ServerError};
pub use types::Value;
