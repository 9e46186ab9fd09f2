//! What accounts have beside privileges and roles is what it is on MySQL 9.7: the statements of `interop/accounts/statements.txt`, as several
//! accounts, give the same rows, errors and warnings there and here, and logins succeed and fail alike.
//!
//! The peer is the expectation. What differs on purpose is listed in `interop/accounts/differences.txt` with its reason.

use std::time::Duration;

use interop::{Kind, Peer, Server, ServerOptions};

use crate::as_users::{Side, compare};

#[test]
fn accounts_are_those_of_mysql() {
    let ours = Server::start("accounts", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "accounts", Duration::ZERO, &[]).unwrap();
    let side = |folder: &std::path::Path| Side::over(folder.join("sock"));
    compare("accounts", &mut side(ours.folder()), &mut side(&peer.folder()));
}
