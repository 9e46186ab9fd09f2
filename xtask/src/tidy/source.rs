//! Headers, banned calls, unfinished places.

use super::SourceFile;

/// What must not be written, where it may be all the same, and what to write instead.
struct Ban {
    text: &'static str,
    allowed_in: &'static [&'static str],
    instead: &'static str,
}

const OUTSIDE: [&str; 5] = ["io", "server", "commuter", "interop", "xtask"];

const BANS: &[Ban] = &[
    Ban { text: "std::fs", allowed_in: &["io", "server", "commuter", "interop", "xtask"], instead: "io::Disk" },
    Ban { text: "std::net::Tcp", allowed_in: &OUTSIDE, instead: "io::Network" },
    Ban { text: "std::thread", allowed_in: &OUTSIDE, instead: "io::Spawner" },
    Ban { text: "Instant::now", allowed_in: &OUTSIDE, instead: "io::Clock" },
    Ban { text: "SystemTime::now", allowed_in: &OUTSIDE, instead: "io::Clock" },
    Ban { text: "tokio::", allowed_in: &["io", "server", "commuter"], instead: "plain futures and io::Env" },
    Ban { text: "rand::rng(", allowed_in: &["io", "interop", "xtask"], instead: "io::Random" },
    Ban { text: "thread_rng", allowed_in: &["io", "interop", "xtask"], instead: "io::Random" },
    Ban { text: ".unwrap()", allowed_in: &[], instead: "`?`, or `expect` with the reason why it cannot fail" },
    Ban { text: "unbounded(", allowed_in: &[], instead: "a bounded queue whose bound has a name" },
    Ban { text: "unbounded_channel(", allowed_in: &[], instead: "a bounded queue whose bound has a name" },
    Ban { text: "todo!(", allowed_in: &[], instead: "the thing itself, or a clear error that names it" },
    Ban { text: "unimplemented!(", allowed_in: &[], instead: "the thing itself, or a clear error that names it" },
];

/// Words of unfinished work, in pieces so that this file does not complain about itself.
const UNFINISHED: [&str; 2] = [concat!("FIX", "ME"), concat!("XX", "X")];

pub(crate) fn check(files: &[SourceFile], complaints: &mut Vec<String>) {
    for file in files {
        if !file.text.starts_with("//!") {
            complaints.push(format!("{}: no header; begin with `//!` and what the file is for", file.path));
        }
        check_words(file, complaints);
        if !file.is_test() {
            check_bans(file, complaints);
        }
    }
}

fn check_bans(file: &SourceFile, complaints: &mut Vec<String>) {
    if file.path.starts_with("xtask/src/tidy/") {
        return;
    }
    for (number, line) in file.production_lines() {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for ban in BANS {
            if line.contains(ban.text) && !ban.allowed_in.contains(&file.crate_name()) {
                complaints.push(format!("{}:{number}: {} is banned here; use {}", file.path, ban.text, ban.instead));
            }
        }
    }
}

fn check_words(file: &SourceFile, complaints: &mut Vec<String>) {
    // Paths of somebody's machine, in pieces for the same reason.
    let paths = [concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/wo", "rk/")];
    for (at, line) in file.text.lines().enumerate() {
        if UNFINISHED.iter().any(|word| line.contains(word)) {
            complaints.push(format!("{}:{}: unfinished", file.path, at + 1));
        }
        if paths.iter().any(|path| line.contains(path)) {
            complaints.push(format!("{}:{}: names a path of a machine", file.path, at + 1));
        }
    }
}
