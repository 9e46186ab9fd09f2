//! Whole engines from one seed: a workload, crashes at any instant, and a model that says what must be true after.
//!
//! ```text
//!  seed ─► SimMachine ─► [ open ─ recover ─ clients write, readers look ─ crash ]*  ─► check after every recovery
//! ```
//!
//! The production code of `binlog`, `store`, `engine` and `apply` runs on the simulated disk. The **log is the judge**: after
//! each crash it is read from its beginning and replayed by a model that is nothing but maps ([`model`]), and the engine must
//! hold exactly what the model holds.
//!
//! # What is checked
//! 1. Every acknowledged transaction is in the log, with the commit number that its client was told (invariant 1).
//! 2. Commit numbers count the transactions of the log without a gap (invariant 2).
//! 3. What a reader saw at a commit number is what the model has at that number (invariants 2 and 9): a prefix, always.
//! 4. After recovery rows and secondary indexes are the model's at the log's end: nothing uncommitted, nothing half
//!    (invariants 3, 4 and 5).
//! 5. After a failed sync nothing is acknowledged any more; where none fails, also on a disk that is full for a while, nothing stops
//!    (invariant 6).
//!
//! Several servers with a network between them are simulated by [`cluster`], which has checks of its own; what transactions
//! may see of one another is checked by [`isolation`].
//!
//! A failing seed repeats exactly: `COMMUTER_SIM_SEED=123 cargo test -p sim`.

mod check;
mod cluster;
mod isolation;
mod life;
mod model;
mod tables;
mod workload;

pub use cluster::{ClusterReport, ClusterScenario, Executing, run_cluster};
pub use isolation::{Class, IsolationReport, IsolationScenario, Level, run_isolation};
pub use life::{Scenario, SeedReport, run_seed};
