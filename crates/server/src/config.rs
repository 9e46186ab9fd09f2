//! From defaults, configuration file and command line to the settings that hold.
//!
//! Later ones win: the table's defaults, the file (`--config`), `--set NAME=VALUE`, the options with a name of their own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sql::settings::{Applied, ConfigEntry, ConfigFile, GivenSettings, Globals, SettingId};

use crate::core::configure;
use crate::error::{Context, ServerError};

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct ServeOptions {
    /// Where the data is.
    pub datadir: PathBuf,
    /// TOML, or a my.cnf with a `[mysqld]` section.
    pub config: Option<PathBuf>,
    /// `NAME=VALUE`
    pub set: Vec<String>,
    /// `port`; 0 takes a free one.
    pub port: Option<u16>,
    /// `bind_address`
    pub bind: Option<String>,
    /// `socket`
    pub socket: Option<PathBuf>,
    /// `server_id`
    pub server_id: Option<u32>,
    /// Follow this server from the start.
    pub follow: Option<crate::url::ServerUrl>,
    /// Make the data file anew from the log.
    pub rebuild: bool,
    /// At first start, root has an empty password that is accepted from loopback.
    pub initialize_insecure: bool,
    /// At first start, root's password.
    pub root_password: Option<String>,
    /// Called when recovery is complete.
    pub on_recovered: Option<fn()>,
}

/// What clients are told: MySQL's version that is spoken, and this program's.
pub const VERSION: &str = concat!("8.4.0-commuter-", env!("CARGO_PKG_VERSION"));

/// Files that include each other in a circle end here.
const INCLUDE_DEPTH_MAX: usize = 10;

/// The settings that hold.
pub fn settings(options: &ServeOptions) -> Result<Arc<Globals>, ServerError> {
    read(options).map(|(globals, _)| globals)
}

/// What the log should say of what was given, and was taken.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Names that mean nothing here.
    ignored: Vec<String>,
    /// Values that are not those that were given.
    adjusted: Vec<String>,
}

impl Notes {
    /// Says it.
    pub(crate) fn log(&self) {
        if !self.ignored.is_empty() {
            tracing::warn!("settings of other servers that mean nothing here: {}", self.ignored.join(", "));
        }
        self.adjusted.iter().for_each(|note| tracing::warn!("{note}"));
    }
}

/// The settings, and what is to be said of what was given. All errors are reported at once.
pub(crate) fn read(options: &ServeOptions) -> Result<(Arc<Globals>, Notes), ServerError> {
    let mut reading = Reading::default();
    if let Some(path) = &options.config {
        reading.file(path, 0);
    }
    let of_file = reading.given.globals().now().start.datadir.to_string();
    options.set.iter().for_each(|assignment| reading.assignment(assignment));
    reading.named_options(options);
    let Reading { given, mut notes, mut errors, .. } = reading;
    let globals = given.finish().unwrap_or_else(|(globals, error)| {
        errors.push(error.to_string());
        globals
    });
    errors.extend(set_version(&globals).err().map(|error| error.to_string()));
    if !errors.is_empty() {
        return Err(ServerError::Settings(errors));
    }
    let datadir = std::path::absolute(&options.datadir).context(|| options.datadir.display().to_string())?;
    let own = with_slash(&datadir);
    if !of_file.is_empty() && with_slash(Path::new(&of_file)) != own {
        notes.adjusted.push(format!("datadir = {of_file} of the configuration file is not used: --datadir is {own}"));
    }
    configure(&globals, SettingId::datadir, &own)?;
    let log = datadir.join(binlog::LogOptions::default().basename);
    configure(&globals, SettingId::log_bin_basename, &log.display().to_string())?;
    configure(&globals, SettingId::log_bin_index, &format!("{}.index", log.display()))?;
    if let Ok(name) = std::fs::read_to_string("/proc/sys/kernel/hostname") {
        configure(&globals, SettingId::hostname, name.trim())?;
    }
    Ok((Arc::new(globals), notes))
}

/// The version that clients see: ours, if nothing else was given.
fn set_version(globals: &Globals) -> Result<(), ServerError> {
    let version = globals.now().start.version.clone();
    if version.is_empty() {
        return configure(globals, SettingId::version, VERSION);
    }
    match version.starts_with(|first: char| first.is_ascii_digit()) {
        true => Ok(()),
        false => {
            let message = format!("'version' must begin with a number, as clients expect it, not '{version}'");
            Err(ServerError::Setting(message))
        }
    }
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    given: GivenSettings,
    notes: Notes,
    /// What is wrong, and where it stands.
    errors: Vec<String>,
    /// Files include each other in a circle: no more of them, since each may have several.
    is_too_deep: bool,
}

impl Reading {
    /// A file and, where it includes others, those; their paths are relative to its own.
    fn file(&mut self, path: &Path, depth: usize) {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) => return self.errors.push(format!("cannot read {}: {error}", path.display())),
        };
        let beside = |name: &str| path.parent().unwrap_or(Path::new("")).join(name);
        for (line, entry) in ConfigFile::parse(&text).entries {
            let place = format!("{}: line {line}", path.display());
            match entry {
                Ok(ConfigEntry::Setting(name, value)) => self.setting(&place, &name, &value),
                Ok(_) if self.is_too_deep => {}
                Ok(_) if depth == INCLUDE_DEPTH_MAX => {
                    self.is_too_deep = true;
                    self.errors.push(format!("{place}: files are included more than {INCLUDE_DEPTH_MAX} deep"));
                }
                Ok(ConfigEntry::Include(name)) => self.file(&beside(&name), depth + 1),
                Ok(ConfigEntry::IncludeFolder(name)) => match files_of(&beside(&name)) {
                    Ok(files) => files.iter().for_each(|file| self.file(file, depth + 1)),
                    Err(error) => self.errors.push(format!("{place}: {error}")),
                },
                Err(what) => self.errors.push(format!("{place}: {what}")),
            }
        }
    }

    /// `--set`
    fn assignment(&mut self, assignment: &str) {
        let place = format!("--set {assignment}");
        let Some((name, value)) = assignment.split_once('=') else {
            return self.errors.push(format!("{place}: that is not NAME=VALUE"));
        };
        let adjusted = self.notes.adjusted.len();
        self.setting(&place, name.trim(), value.trim());
        // A file may be another server's; this was written for us.
        let outside = self.notes.adjusted.drain(adjusted..).map(|note| format!("{place}: {note}"));
        self.errors.extend(outside);
    }

    /// Options with a name of their own.
    fn named_options(&mut self, options: &ServeOptions) {
        let named = [
            ("port", options.port.map(|port| port.to_string())),
            ("bind_address", options.bind.clone()),
            ("socket", options.socket.as_ref().map(|path| path.display().to_string())),
            ("server_id", options.server_id.map(|id| id.to_string())),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                self.setting("the command line", name, &value);
            }
        }
    }

    fn setting(&mut self, place: &str, name: &str, value: &str) {
        match self.given.apply(name, value) {
            Ok(Applied::Taken) => {}
            Ok(Applied::Adjusted(note)) => self.notes.adjusted.push(note),
            Ok(Applied::Ignored) if self.notes.ignored.iter().any(|known| known == name) => {}
            Ok(Applied::Ignored) => self.notes.ignored.push(name.to_owned()),
            Err(error) => self.errors.push(format!("{place}: {error}")),
        }
    }
}

/// What `!includedir` takes of a folder, in the order of the names.
fn files_of(folder: &Path) -> Result<Vec<PathBuf>, ServerError> {
    let entries = std::fs::read_dir(folder).context(|| format!("cannot read {}", folder.display()))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|ext| ext == "cnf")).collect();
    files.sort();
    Ok(files)
}

/// MySQL shows directories so.
fn with_slash(path: &Path) -> String {
    let text = path.display().to_string();
    if text.ends_with('/') { text } else { text + "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_ones_win() {
        let options = ServeOptions {
            datadir: "/tmp/x".into(),
            set: vec!["port=1".into(), "wait-timeout = 7".into()],
            port: Some(2),
            ..ServeOptions::default()
        };
        let globals = settings(&options).unwrap();
        assert_eq!(globals.get(SettingId::port).as_u64(), 2);
        assert_eq!(globals.get(SettingId::wait_timeout).as_u64(), 7);
        assert_eq!(globals.get(SettingId::datadir).as_str(), "/tmp/x/");
        assert_eq!(globals.get(SettingId::version).as_str(), VERSION);
    }

    #[test]
    fn errors_are_for_people() {
        let error = |set: &[&str]| {
            let set = set.iter().map(|set| (*set).to_owned()).collect();
            let options = ServeOptions { datadir: "/tmp/x".into(), set, ..ServeOptions::default() };
            settings(&options).err().map(|e| e.to_string()).unwrap_or_default()
        };
        let unknown = "--set sync_binlgo=1: unknown setting 'sync_binlgo'; did you mean 'sync_binlog'?";
        let word = "--set port=x: Variable 'port' can't be set to the value of 'x'; values: 0 to 65535";
        assert_eq!(error(&["sync_binlgo=1"]), unknown);
        assert_eq!(
            error(&["sync_binlgo=1", "port=x", "port"]),
            [unknown, word, "--set port: that is not NAME=VALUE"].join("\n")
        );
        assert_eq!(error(&["port=70000"]), "--set port=70000: port = 70000 is out of range: 65535 holds");
        let checksum = error(&["binlog_checksum=NONE"]);
        assert!(
            checksum.starts_with("--set binlog_checksum=NONE: binlog_checksum = NONE is not supported"),
            "{checksum}"
        );
        assert_eq!(error(&["default-time-zone=+02:00", "innodb_io_capacity=200", "expire_logs_days=10"]), "");
    }

    #[test]
    fn files_include_files() {
        let folder = std::env::temp_dir().join(format!("commuter-config-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("conf.d")).unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("my.cnf", "[mysqld]\nport=1\nwait_timeout=1\n!includedir conf.d\n[client]\nport=9\n");
        write("conf.d/b.cnf", "[mysqld]\nport=3\n");
        write("conf.d/a.cnf", "[mysqld]\nport=2\n!include ../more\n[mysqld]\n");
        write("conf.d/c.txt", "port=4\n");
        write("more", "wait_timeout=2\n");
        let options = |name: &str| ServeOptions {
            datadir: folder.clone(),
            config: Some(folder.join(name)),
            ..ServeOptions::default()
        };
        let with = |name: &str| settings(&options(name));
        let globals = with("my.cnf").unwrap();
        assert_eq!((globals.get(SettingId::port).as_u64(), globals.get(SettingId::wait_timeout).as_u64()), (3, 2));
        write("conf.d/a.cnf", "[mysqld]\n\nprot=2\n");
        let error = with("my.cnf").err().unwrap().to_string();
        assert!(error.ends_with("a.cnf: line 3: unknown setting 'prot'; did you mean 'port'?"), "{error}");
        write("conf.d/a.cnf", "[mysqld]\nprot=2\nloose_prot=3\nmyisam_recover_options=1\nslow_query_log\n");
        let error = with("my.cnf").err().unwrap().to_string();
        let both = error.contains("a.cnf: line 2: unknown setting 'prot'")
            && error.contains("line 5: slow_query_log = ON is not");
        assert!(both && error.lines().count() == 2, "all at once: {error}");
        write("conf.d/a.cnf", "= 5\n[mysqld]\n!include nosuch.cnf\n!includedir nosuch.d\nsql_mode = NONE\n");
        let error = with("my.cnf").err().unwrap().to_string();
        for part in
            ["a.cnf: line 1: a value", "nosuch.cnf", "a.cnf: line 4: cannot read", "a.cnf: line 5: Variable 'sql_mode'"]
        {
            assert!(error.contains(part) && error.lines().count() == 4, "{part}: {error}");
        }
        write("circle", "!include circle\n");
        let error = with("circle").err().unwrap().to_string();
        assert!(error.ends_with("line 1: files are included more than 10 deep"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
