//! The command line as somebody new to it uses it: what is wrong is said in a line, with what to do about it.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A folder that goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("commuter-cli-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = Folder(std::env::temp_dir().join(name));
        std::fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        std::fs::write(self.0.join(name), content).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn commuter(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_commuter"));
    command.args(arguments).env_remove("COMMUTER_LOG").stdin(Stdio::null());
    command
}

/// What it says on its way out, which must not be that all is well.
fn refusal(arguments: &[&str]) -> String {
    let output: Output = commuter(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{arguments:?}: {errors}");
    assert!(!errors.contains("panicked") && !errors.contains(" ERROR "), "{arguments:?}: {errors}");
    errors
}

fn serve(datadir: &str, rest: &[&str]) -> String {
    refusal(&[&["serve", "--port", "0", "--datadir", datadir], rest].concat())
}

/// Starts a server, waits until it says that it is ready, and ends it.
fn serves(datadir: &str, rest: &[&str]) {
    let log = format!("{datadir}.log");
    let mut child = start(datadir, rest, &log);
    terminate(&child);
    assert!(child.wait().unwrap().success(), "{}", std::fs::read_to_string(&log).unwrap());
}

fn start(datadir: &str, rest: &[&str], log: &str) -> Child {
    let arguments = [&["serve", "--port", "0", "--datadir", datadir, "--initialize-insecure"], rest].concat();
    let errors = std::fs::File::create(log).unwrap();
    let child = commuter(&arguments).stderr(errors).spawn().unwrap();
    let begin = Instant::now();
    while !std::fs::read_to_string(log).unwrap().contains("is ready on") {
        assert!(begin.elapsed() < Duration::from_secs(60), "{}", std::fs::read_to_string(log).unwrap());
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

fn terminate(child: &Child) {
    signal(child, "-TERM");
}

fn signal(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(status.success());
}

fn assert_says(said: &str, parts: &[&str]) {
    assert!(parts.iter().all(|part| said.contains(part)), "{said}\nshould say {parts:?}");
}

#[test]
fn folders_that_cannot_be_a_data_directory() {
    let folder = Folder::new();
    let file = folder.write("file", "x");
    assert_says(&serve(&file, &[]), &[&file, "is not a directory"]);
    assert_says(&serve("/dev/null/data", &[]), &["cannot make the data directory /dev/null/data"]);
    // Somebody else's: a MySQL's, a home.
    for (name, content) in [("mysql", "ibdata1"), ("home", "letter.txt")] {
        let foreign = folder.path(name);
        std::fs::create_dir(&foreign).unwrap();
        folder.write(&format!("{name}/{content}"), "precious");
        folder.write(&format!("{name}/binlog.000001"), "precious");
        assert_says(&serve(&foreign, &[]), &[&foreign, content, "empty"]);
        assert_eq!(std::fs::read_dir(&foreign).unwrap().count(), 2, "nothing was put into it");
    }
    // What people put beside their data does not matter.
    let prepared = folder.path("prepared");
    std::fs::create_dir(&prepared).unwrap();
    let config = folder.write("prepared/my.cnf", "[mysqld]\nwait_timeout=7\n");
    std::fs::create_dir(folder.0.join("prepared/lost+found")).unwrap();
    serves(&prepared, &["--config", &config]);
}

#[test]
fn data_that_is_damaged_or_missing() {
    let folder = Folder::new();
    let data = folder.path("data");
    serves(&data, &[]);
    let damage = |name: &str, file: &str, how: &dyn Fn(&Path)| {
        let copy = folder.path(name);
        std::fs::create_dir(&copy).unwrap();
        for entry in std::fs::read_dir(&data).unwrap().flatten() {
            if entry.file_type().unwrap().is_file() {
                std::fs::copy(entry.path(), Path::new(&copy).join(entry.file_name())).unwrap();
            }
        }
        how(&Path::new(&copy).join(file));
        copy
    };
    let cut = damage("cut", "data.ctr", &|path| std::fs::write(path, "").unwrap());
    assert_says(&serve(&cut, &[]), &[&cut, "data.ctr", "superblock", "--rebuild"]);
    // As it says:
    serves(&cut, &["--rebuild"]);
    assert!(Path::new(&cut).join("data.ctr.old").exists());
    let noise = damage("noise", "data.ctr", &|path| std::fs::write(path, [0xa5; 100_000]).unwrap());
    assert_says(&serve(&noise, &[]), &["data.ctr", "superblock", "Restore"]);
    let lost = damage("lost", "binlog.000001", &|path| std::fs::remove_file(path).unwrap());
    assert_says(&serve(&lost, &[]), &[&lost, "binlog.000001", "Restore"]);
    let torn = damage("torn", "binlog.000001", &|path| std::fs::write(path, [0xa5; 600]).unwrap());
    assert_says(&serve(&torn, &[]), &["binlog.000001", "damaged", "Restore"]);
}

#[test]
fn ports_and_addresses_that_cannot_be_had() {
    let folder = Folder::new();
    let data = folder.path("data");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let said = refusal(&["serve", "--datadir", &data, "--port", &port]);
    assert_says(&said, &[&format!("127.0.0.1:{port}"), "in use", "--port"]);
    assert!(!Path::new(&data).exists(), "it looked before it did anything");
    assert_says(&refusal(&["serve", "--datadir", &data, "--port", "99999"]), &["99999", "0..=65535"]);
    assert_says(&serve(&data, &["--bind", "192.0.2.1"]), &["192.0.2.1", "no address of this machine", "--bind"]);
    assert_says(&serve(&data, &["--bind", "no.such.host.invalid"]), &["no.such.host.invalid"]);
    // What is only found out once the data is open leaves it closed in order.
    assert_says(&serve(&data, &["--socket", "/no/such/folder/sock"]), &["/no/such/folder/sock"]);
    let long = format!("/tmp/{}", "x".repeat(200));
    assert_says(&serve(&data, &["--socket", &long]), &["107 bytes"]);
    serves(&data, &[]);
}

#[test]
fn one_server_per_folder_and_per_socket() {
    let folder = Folder::new();
    let (data, log) = (folder.path("data"), folder.path("log"));
    let mut first = start(&data, &[], &log);
    assert_says(&serve(&data, &[]), &[&data, "in use"]);
    let socket = folder.path("data/commuter.sock");
    let said = serve(&folder.path("other"), &["--socket", &socket]);
    assert_says(&said, &[&socket, "in use", "--socket"]);
    terminate(&first);
    assert!(first.wait().unwrap().success());
}

#[test]
fn settings_that_are_wrong() {
    let folder = Folder::new();
    let data = folder.path("data");
    let set = |assignment: &str| serve(&data, &["--set", assignment]);
    assert_says(&set("sync_binlgo=1"), &["sync_binlgo", "did you mean 'sync_binlog'"]);
    assert_says(&set("version=commuter"), &["'version' must begin with a number", "'commuter'"]);
    assert_says(&set("sync_binlog=often"), &["'sync_binlog'", "'often'", "0 to 4294967295"]);
    assert_says(&set("autocommit=maybe"), &["'autocommit'", "ON, OFF"]);
    assert_says(&set("innodb_buffer_pool_size=4X"), &["innodb_buffer_pool_size", "'4X'"]);
    assert_says(&set("binlog_row_image=half"), &["FULL", "MINIMAL"]);
    assert_says(&set("autocommit"), &["--set autocommit: that is not NAME=VALUE"]);
    assert_says(&set("gtid_mode=OFF"), &["--set gtid_mode=OFF: gtid_mode = OFF is not supported", "set it to ON"]);
    let all = serve(&data, &["--set", "nosuch=1", "--set", "innodb_buffer_pool_size=banana", "--set", "novalue"]);
    assert_says(&all, &["--set nosuch=1: unknown setting 'nosuch'", "'banana'", "--set novalue"]);
    assert!(!Path::new(&data).exists(), "settings come before the folder");
    let file = |name: &str, content: &[u8]| {
        let path = folder.write(name, content);
        serve(&data, &["--config", &path])
    };
    let unknown = file("a.cnf", b"[client]\nport=1\n[mysqld]\nserver-idd = 1\n");
    assert_says(&unknown, &["a.cnf: line 4", "server-idd", "'server_id'"]);
    assert_says(&file("b.toml", b"port = \"many\"\n"), &["b.toml: line 1", "'port'", "0 to 65535"]);
    assert_says(&file("c.cnf", b"[mysqld\n"), &["c.cnf: line 1"]);
    assert_says(&file("d.cnf", b"!include nosuch.cnf\n"), &["cannot read", "nosuch.cnf"]);
    let all = file("all.cnf", b"= 5\n!include nosuch.cnf\nbinlog_checksum=NONE\ndefault-time-zone=Nowhere\n");
    assert_says(
        &all,
        &[
            "line 1: a value without a name",
            "nosuch.cnf",
            "line 3: binlog_checksum",
            "line 4: Unknown or incorrect time zone",
        ],
    );
    assert_says(&file("e.cnf", b"\xff\xfe\x00"), &["e.cnf", "UTF-8"]);
    assert_says(&serve(&data, &["--config", &folder.path("nosuch.cnf")]), &["cannot read", "nosuch.cnf"]);
    assert_says(&serve(&data, &["--config", &folder.0.display().to_string()]), &["cannot read", "directory"]);
    assert_says(&serve(&data, &["--follow", "host:3306"]), &["mysql://"]);
    assert_says(&serve(&data, &["--follow", "mysql://h?ssl-mod=REQUIRED"]), &["ssl-mod", "ssl-mode"]);
}

/// The log names what is taken and means something else, or nothing; its file has the error of a start, too.
#[test]
fn what_the_log_says_of_a_configuration() {
    let folder = Folder::new();
    let data = folder.path("data");
    let text = "[mysqld]\nlog-bin = mysql-bin\nperformance_schema = ON\ninnodb_io_capacity = 200\nexpire_logs_days = 10\n[mysqld-5.7]\nnosuch\n";
    let config = folder.write("my.cnf", text);
    serves(&data, &["--config", &config]);
    let log = std::fs::read_to_string(format!("{data}.log")).unwrap();
    let nothing = "settings of other servers that mean nothing here: performance_schema, innodb_io_capacity\n";
    assert_says(&log, &[nothing, "log_bin = mysql-bin: the binary log is ON, and its files are binlog.NNNNNN"]);

    let file = folder.path("server.err");
    let log_error = format!("log_error={file}");
    assert_says(&serve("/dev/null/data", &["--set", &log_error]), &["cannot make the data directory"]);
    assert_says(&std::fs::read_to_string(&file).unwrap(), &[" ERROR cannot make the data directory /dev/null/data"]);
}

/// What those who run a server expect of its files and of signals.
#[test]
fn pid_files_and_signals() {
    let folder = Folder::new();
    let (data, pid_file, log) = (folder.path("data"), folder.path("server.pid"), folder.path("server.err"));
    let settings = [format!("pid_file={pid_file}"), format!("log_error={log}")];
    let mut child = start(&data, &["--set", &settings[0], "--set", &settings[1]], &log);
    assert_eq!(std::fs::read_to_string(&pid_file).unwrap().trim(), child.id().to_string());
    std::fs::rename(&log, folder.path("server.old")).unwrap();
    signal(&child, "-HUP");
    let begin = Instant::now();
    while !std::fs::read_to_string(&log).is_ok_and(|text| text.contains("SIGHUP")) {
        assert!(begin.elapsed() < Duration::from_secs(60), "the log is not opened again");
        std::thread::sleep(Duration::from_millis(10));
    }
    signal(&child, "-QUIT");
    assert!(child.wait().unwrap().success());
    assert!(!Path::new(&pid_file).exists(), "the file is there without its process");
}

#[test]
fn settings_are_printed_for_programs_and_without_a_reader() {
    let output = commuter(&["settings", "--format", "json"]).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let settings: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(settings.len() > 300 && settings.iter().any(|setting| setting["name"] == "max_connections"), "{lines}");
    // A reader that has gone, and a disk that is full.
    let mut child = commuter(&["settings"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = commuter(&["settings"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert!(!output.status.success());
    assert_says(&String::from_utf8_lossy(&output.stderr), &["writing the output: No space left on device"]);
}

/// Only root can become another user.
#[test]
fn who_is_refused_a_folder() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let folder = Folder::new();
    if std::fs::metadata(&folder.0).unwrap().uid() != 0 {
        return;
    }
    std::fs::set_permissions(&folder.0, std::fs::Permissions::from_mode(0o755)).unwrap();
    let said = serve(&folder.path("data"), &["--set", "user=nobody"]);
    assert_says(&said, &["as the user 'nobody' (setting user): cannot make the data directory", "denied"]);
}

#[test]
fn log_files_that_are_none() {
    let folder = Folder::new();
    let dump = |path: &str| refusal(&["log", "dump", path]);
    let nosuch = folder.path("nosuch");
    assert_says(&dump(&nosuch), &["cannot read", &nosuch]);
    let noise = folder.write("noise", [0xa5; 1000]);
    assert_says(&dump(&noise), &[&noise, "not a binary log"]);
    let empty = folder.write("empty", "");
    assert_says(&dump(&empty), &[&empty]);
    let itself = folder.0.display().to_string();
    assert_says(&dump(&itself), &[&itself, "is a folder", "binlog.000001"]);
    assert_says(&refusal(&["log", "dump"]), &["<FILE>"]);
    let wrong = |option: &str, value: &str| refusal(&["log", "dump", option, value, &noise]);
    assert_says(&wrong("--start-datetime", "yesterday"), &["--start-datetime", "'yesterday'", "2026-11-20 15:00:00"]);
    assert_says(&wrong("--stop-datetime", "2026-02-30 00:00:00"), &["2026-02-30"]);
    assert_says(&wrong("--include-gtids", "1-2-9-3"), &["'1-2-9-3' is no GTID set", "'0-1-5-9'"]);
    assert_says(&wrong("--table", "orders"), &["'orders' is no DATABASE.TABLE"]);
    assert_says(&refusal(&["log", "dump", "--follow", &noise]), &["--source"]);
}

#[test]
fn servers_that_cannot_be_asked() {
    let nobody = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let url = format!("mysql://root@{nobody}");
    assert_says(&refusal(&["checksum", &url]), &[&nobody.to_string(), "refused"]);
    assert_says(&refusal(&["checksum", "127.0.0.1:3306"]), &["mysql://"]);
    assert_says(&refusal(&["checksum", "mysql://h:x"]), &["'x' is not a port"]);
    assert_says(&refusal(&["checksum", "mysql://h?ssl-ca=/no/such/ca.pem"]), &["/no/such/ca.pem"]);
}

#[test]
fn help_is_there_for_everything() {
    for arguments in [&["--help"][..], &["serve", "--help"], &["log", "dump", "--help"], &["checksum", "--help"]] {
        let output = commuter(arguments).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("Example"), "{text}");
    }
    assert_says(&refusal(&["serv"]), &["serve"]);
}
