//! Functions that have a file of their own: what MySQL 9.7 answers to `SELECT` of each call.

use super::Fixture;
use crate::expr::function::cipher::CipherMode;

/// `block_encryption_mode: expression`
#[test]
fn ciphers() {
    let mut fixture = Fixture::new();
    crate::golden::check("src/expr/testdata/ciphers.golden", |line| {
        let (mode, text) = line.split_once(": ").unwrap();
        fixture.session.block_encryption_mode = CipherMode::by_name(mode).unwrap();
        fixture.show(text)
    });
}

#[test]
fn json_schemas() {
    let fixture = Fixture::new();
    crate::golden::check("src/expr/testdata/schemas.golden", |text| fixture.show(text));
}

#[test]
fn xml() {
    let fixture = Fixture::new();
    crate::golden::check("src/expr/testdata/xml.golden", |text| fixture.show(text));
}

/// Digests, sizes and times; functions of MariaDB.
#[test]
fn of_servers() {
    let fixture = Fixture::new();
    crate::golden::check("src/expr/testdata/server.golden", |text| fixture.show(text));
}
