//! The log files of real servers that `crates/binlog/src/tests/golden/` holds: the scripts in `interop/golden/` make the
//! servers write every type of event that they can be made to write.
//!
//! `UPDATE_GOLDEN=1 cargo test -p interop golden_logs` writes the files anew (then `UPDATE_GOLDEN=1 cargo test -p
//! binlog` what the dump says of them); without it the servers must still write events of the same types in the same
//! order. Times, keys and identities differ from run to run, so bytes are not compared.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use interop::{Kind, Peer, Result, workspace_root};

/// Of all servers here: small caches; LOAD DATA of files in the database's folder, in blocks of a few kilobytes; the
/// server id is in every event.
const COMMON: [&str; 4] =
    ["--secure-file-priv=", "--innodb-buffer-pool-size=128M", "--max-allowed-packet=4096", "--server-id=1"];

/// The scripts, and the numbers of the log files that are kept.
const SCRIPTS: [(Kind, &str, &[u32]); 7] = [
    (Kind::Mysql97, "statements", &[1]),
    (Kind::Mysql97, "rows", &[1]),
    (Kind::Mysql97, "payload", &[1]),
    (Kind::Mysql97, "gtids", &[1, 4, 5]),
    (Kind::Maria118, "statements", &[1, 2]),
    (Kind::Maria118, "rows", &[1]),
    (Kind::Maria118, "compressed", &[1]),
];

#[test]
fn servers_write_what_they_wrote() {
    for (kind, name, files) in SCRIPTS {
        let peer = Peer::start(kind, "golden", Duration::ZERO, &COMMON).unwrap();
        run_script(&peer, name).unwrap();
        keep_or_compare(peer, name, files).unwrap();
    }
}

#[test]
fn an_encrypted_log() {
    let keys = interop::peers_home().join("data").join("golden-keys.txt");
    fs::write(&keys, "1;770A8A65DA156D24EE2A093277530142\n").unwrap();
    let file = format!("--file-key-management-filename={}", keys.display());
    let own = ["--plugin-load-add=file_key_management", &file, "--encrypt-binlog=ON"];
    let peer = Peer::start(Kind::Maria118, "golden-encrypted", Duration::ZERO, &[&COMMON[..], &own].concat()).unwrap();
    run_script(&peer, "encrypted").unwrap();
    let name = golden("maria118-encrypted.binlog");
    let log = fs::read(peer.folder().join("bin.000001")).unwrap();
    // Behind the second event nothing can be compared: it is encrypted with a nonce of its own.
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(name, log).unwrap();
    } else {
        assert_eq!(types(&log)[..2], types(&fs::read(name).unwrap())[..2]);
    }
}

/// Most statements succeed; which do not, and why, is said by the script.
fn run_script(peer: &Peer, name: &str) -> Result<()> {
    let script = workspace_root().join(format!("interop/golden/{}-{name}.sql", peer.kind().name()));
    let sql = fs::read_to_string(&script).map_err(|error| format!("{}: {error}", script.display()))?;
    // From the first statement on, without what the server's installation wrote.
    peer.client().query(match peer.kind() {
        Kind::Mysql97 => "RESET BINARY LOGS AND GTIDS",
        Kind::Maria118 => "RESET MASTER",
    })?;
    let printed = peer.client().script("sbtest", &format!("SET NAMES utf8mb4;\n{sql}"))?;
    let errors = printed.lines().filter(|line| line.starts_with("ERROR")).count();
    let expected = sql.lines().filter(|line| line.starts_with("-- Fails: ")).count();
    if errors == expected { Ok(()) } else { Err(format!("{name}: {errors} errors, not {expected}:\n{printed}")) }
}

fn keep_or_compare(mut peer: Peer, name: &str, files: &[u32]) -> Result<()> {
    // The last file ends with a STOP.
    peer.stop()?;
    let (folder, kind) = (peer.folder(), peer.kind().name());
    for &number in files {
        let suffix = if number == 1 { String::new() } else { format!("-{number}") };
        let path = golden(&format!("{kind}-{name}{suffix}.binlog"));
        let read = |path: PathBuf| fs::read(&path).map_err(|error| format!("{}: {error}", path.display()));
        let log = read(folder.join(format!("bin.{number:06}")))?;
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, log).map_err(|error| format!("{}: {error}", path.display()))?;
            continue;
        }
        let (is, was) = (types(&log), types(&read(path.clone())?));
        if is != was {
            return Err(format!("{}: the server wrote\n{is:?}\nand before\n{was:?}", path.display()));
        }
    }
    Ok(())
}

fn golden(name: &str) -> PathBuf {
    workspace_root().join("crates/binlog/src/tests/golden").join(name)
}

/// The type of each event: byte 4 of its header, whose bytes 9 to 12 are its length.
fn types(log: &[u8]) -> Vec<u8> {
    let mut types = Vec::new();
    let mut rest = log.get(4..).unwrap_or_default();
    while let Some(length) = rest.get(9..13) {
        types.push(rest[4]);
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]) as usize;
        rest = rest.get(length.max(19)..).unwrap_or_default();
    }
    types
}
