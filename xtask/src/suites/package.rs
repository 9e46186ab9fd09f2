//! MariaDB's test files: Debian's packages, unpacked in the folder of the peers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use interop::{Kind, Result, peers_home};

/// The packages, in the version of the MariaDB that is a peer: what its root's archive gives.
const PACKAGES: [&str; 2] = ["mariadb-test", "mariadb-test-data"];
/// Of the folder `main`, files that begin so.
const MAIN: [&str; 13] = [
    "type_",
    "func_",
    "insert",
    "update",
    "delete",
    "null",
    "order_by",
    "union",
    "alter_table",
    "create",
    "view",
    "sp",
    "trigger",
];
/// Suites of which all files are taken.
const SUITES: [&str; 2] = ["suite/engines/iuds/t", "suite/engines/funcs/t"];
/// Files that need what these stand for are about MariaDB's own replication, debug builds or loaded libraries.
const NEEDS: [&str; 10] = [
    "master-slave",
    "have_debug",
    "have_udf",
    "big_test",
    "restart_mysqld",
    "have_des",
    "start_mysqld",
    "shutdown_mysqld",
    "rpl_init",
    "show_binlog_events",
];

/// Where the files are; they are put there if they are not.
pub(crate) fn folder() -> Result<PathBuf> {
    let home = peers_home().join("mariadb-test");
    let files = home.join("usr/share/mariadb/mariadb-test");
    if home.join(".ready").exists() {
        return Ok(files);
    }
    eprintln!("installing MariaDB's test files");
    let root = Kind::Maria118.root();
    if !root.join(".ready").exists() {
        return Err("the root of MariaDB is not installed: run `cargo xtask install`".into());
    }
    let packed = root.join("var/tmp/mariadb-test");
    let _ = fs::remove_dir_all(&packed);
    fs::create_dir_all(&packed).map_err(|error| error.to_string())?;
    let mut download = Command::new("chroot");
    download.arg(&root).args(["sh", "-c"]);
    succeed(download.arg(format!("cd /var/tmp/mariadb-test && apt-get download -qq {}", PACKAGES.join(" "))))?;
    for entry in fs::read_dir(&packed).map_err(|error| error.to_string())?.flatten() {
        succeed(Command::new("dpkg").arg("-x").arg(entry.path()).arg(&home))?;
    }
    let _ = fs::remove_dir_all(&packed);
    fs::write(home.join(".ready"), "").map_err(|error| error.to_string())?;
    Ok(files)
}

fn succeed(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

/// The files that are run, by their names below the folder, in order.
pub(crate) fn list(folder: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for suite in SUITES {
        files.extend(tests_of(folder, suite)?);
    }
    let is_chosen = |file: &String| MAIN.iter().any(|start| file["main/".len()..].starts_with(start));
    files.extend(tests_of(folder, "main")?.into_iter().filter(is_chosen));
    files.retain(|file| !needs_more(&folder.join(file)));
    files.sort();
    Ok(files)
}

fn tests_of(folder: &Path, below: &str) -> Result<Vec<String>> {
    let path = folder.join(below);
    let entries = fs::read_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    Ok(names.filter(|name| name.ends_with(".test")).map(|name| format!("{below}/{name}")).collect())
}

fn needs_more(path: &Path) -> bool {
    let bytes = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let sources = text.lines().filter(|line| line.trim_start_matches(['-', ' ']).starts_with("source"));
    sources.into_iter().any(|line| NEEDS.iter().any(|need| line.contains(need)))
}
