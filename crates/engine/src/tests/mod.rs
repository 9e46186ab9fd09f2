//! The engine as a whole, on a simulated machine.
//!
//! | file | what it checks |
//! |---|---|
//! | `scripts/` | isolation, locks, checkpoints, DDL: what each session is told, as text |
//! | `model.rs` | any history of transactions, checkpoints and restarts against a map |
//! | `crash.rs` | what was acknowledged is there after a crash at any disk operation |
//! | `faults.rs`, `full.rs` | what fails, and what goes on, when the disk fails or is full |
//! | `freeze.rs` | commits and views across the moment at which a memtable is frozen |
//! | `gtids.rs` | GTIDs that are chosen, numbers under tags |
//! | `recovery_target.rs` | checkpoints by the time that recovery may take |
//! | `open_transactions.rs` | a hundred thousand of them at once |
//! | `role.rs` | source, follower, a log that begins anew |
//! | `sums.rs` | sums of ranges against reading them |
//! | `temporary.rs` | memory of temporary tables |
//! | `threads.rs` | the same on real threads and a real disk |

mod compression;
mod crash;
mod damage;
mod dependencies;
mod faults;
pub(crate) mod fixture;
mod freeze;
mod full;
mod gtids;
mod index_build;
mod large;
mod model;
mod open_transactions;
mod rebuild;
mod recovery_target;
mod repair;
mod role;
mod script;
mod state_at;
mod sums;
mod temporary;
mod threads;
