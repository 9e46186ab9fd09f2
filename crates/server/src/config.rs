//! From defaults, configuration file and command line to the settings that hold.
//!
//! Later ones win: the table's defaults, the file (`--config`), `--set NAME=VALUE`, the options with a name of their own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sql::settings::{Applied, ConfigEntry, ConfigError, ConfigFile, Globals, apply_setting};

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

/// What the log should say of a configuration file that was taken.
#[derive(Debug, Default)]
pub(crate) struct FileNotes {
    /// Names that mean nothing here.
    ignored: Vec<String>,
    /// Values that are not those of the file.
    adjusted: Vec<String>,
    /// What is wrong, by file and line.
    errors: Vec<String>,
}

impl FileNotes {
    /// Says it.
    pub(crate) fn log(&self) {
        if !self.ignored.is_empty() {
            tracing::warn!("settings of other servers that mean nothing here: {}", self.ignored.join(", "));
        }
        self.adjusted.iter().for_each(|note| tracing::warn!("{note}"));
    }
}

/// The settings, and what is to be said of the file that they are from.
pub(crate) fn read(options: &ServeOptions) -> Result<(Arc<Globals>, FileNotes), ServerError> {
    let globals = Globals::new();
    let mut notes = FileNotes::default();
    if let Some(path) = &options.config {
        apply_file(&globals, path, 0, &mut notes)?;
    }
    if !notes.errors.is_empty() {
        return Err(ServerError::ConfigFiles(notes.errors));
    }
    let of_file = globals.named("datadir").as_str().to_owned();
    let configure =
        |name: &str, value: &str| globals.configure(name, value).map_err(|error| ServerError::Setting(error.message));
    for assignment in &options.set {
        let Some((name, value)) = assignment.split_once('=') else {
            return Err(ServerError::Setting(format!("'{assignment}' is not NAME=VALUE")));
        };
        configure(name.trim(), value.trim())?;
    }
    let named: [(&str, Option<String>); 4] = [
        ("port", options.port.map(|port| port.to_string())),
        ("bind_address", options.bind.clone()),
        ("socket", options.socket.as_ref().map(|path| path.display().to_string())),
        ("server_id", options.server_id.map(|id| id.to_string())),
    ];
    for (name, value) in named {
        if let Some(value) = value {
            configure(name, &value)?;
        }
    }
    let datadir = std::path::absolute(&options.datadir).context(|| options.datadir.display().to_string())?;
    let own = with_slash(&datadir);
    if options.config.is_some() && !of_file.is_empty() && with_slash(Path::new(&of_file)) != own {
        notes.adjusted.push(format!("datadir = {of_file} of the configuration file is not used: --datadir is {own}"));
    }
    configure("datadir", &own)?;
    let log = datadir.join(binlog::LogOptions::default().basename);
    configure("log_bin_basename", &log.display().to_string())?;
    configure("log_bin_index", &format!("{}.index", log.display()))?;
    let version = globals.named("version");
    if version.as_str().is_empty() {
        configure("version", VERSION)?;
    } else if !version.as_str().starts_with(|first: char| first.is_ascii_digit()) {
        let message = format!("'version' must begin with a number, as clients expect it, not '{}'", version.as_str());
        return Err(ServerError::Setting(message));
    }
    if let Ok(name) = std::fs::read_to_string("/proc/sys/kernel/hostname") {
        configure("hostname", name.trim())?;
    }
    Ok((Arc::new(globals), notes))
}

/// A file and, where it includes others, those; their paths are relative to its own. What is wrong with its settings is noted, so that all of
/// it is said at once.
fn apply_file(globals: &Globals, path: &Path, depth: usize, notes: &mut FileNotes) -> Result<(), ServerError> {
    let text = std::fs::read_to_string(path).context(|| format!("cannot read {}", path.display()))?;
    let at_path = |error| ServerError::ConfigFile { path: path.to_owned(), error };
    let too_deep = |line| {
        let what = format!("files are included more than {INCLUDE_DEPTH_MAX} deep");
        at_path(ConfigError::Syntax { line, what })
    };
    let beside = |name: &str| path.parent().unwrap_or(Path::new("")).join(name);
    for (line, entry) in ConfigFile::parse(&text).map_err(at_path)?.entries {
        match entry {
            ConfigEntry::Setting(name, value) => match apply_setting(globals, line, &name, &value) {
                Ok(Applied::Taken) => {}
                Ok(Applied::Adjusted(note)) => notes.adjusted.push(note),
                Ok(Applied::Ignored) if notes.ignored.contains(&name) => {}
                Ok(Applied::Ignored) => notes.ignored.push(name),
                Err(error) => notes.errors.push(at_path(error).to_string()),
            },
            ConfigEntry::Include(_) | ConfigEntry::IncludeFolder(_) if depth == INCLUDE_DEPTH_MAX => {
                return Err(too_deep(line));
            }
            ConfigEntry::Include(name) => apply_file(globals, &beside(&name), depth + 1, notes)?,
            ConfigEntry::IncludeFolder(name) => {
                for file in files_of(&beside(&name))? {
                    apply_file(globals, &file, depth + 1, notes)?;
                }
            }
        }
    }
    Ok(())
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
        assert_eq!(globals.named("port").as_u64(), 2);
        assert_eq!(globals.named("wait_timeout").as_u64(), 7);
        assert_eq!(globals.named("datadir").as_str(), "/tmp/x/");
        assert_eq!(globals.named("version").as_str(), VERSION);
    }

    #[test]
    fn errors_are_for_people() {
        let error = |set: &str| {
            let options = ServeOptions { set: vec![set.into()], ..ServeOptions::default() };
            settings(&options).err().map(|e| e.to_string()).unwrap_or_default()
        };
        assert_eq!(error("sync_binlgo=1"), "Unknown system variable 'sync_binlgo'; did you mean 'sync_binlog'?");
        assert_eq!(error("port"), "'port' is not NAME=VALUE");
        assert_eq!(error("port=x"), "Variable 'port' can't be set to the value of 'x'; values: 0 to 65535");
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
        assert_eq!((globals.named("port").as_u64(), globals.named("wait_timeout").as_u64()), (3, 2));
        write("conf.d/a.cnf", "[mysqld]\n\nprot=2\n");
        let error = with("my.cnf").err().unwrap().to_string();
        assert!(error.ends_with("a.cnf: line 3: unknown setting 'prot'; did you mean 'port'?"), "{error}");
        write("conf.d/a.cnf", "[mysqld]\nprot=2\nloose_prot=3\nmyisam_recover_options=1\nslow_query_log\n");
        let error = with("my.cnf").err().unwrap().to_string();
        let both = error.contains("a.cnf: line 2: unknown setting 'prot'")
            && error.contains("line 5: slow_query_log = ON is not");
        assert!(both && error.lines().count() == 2, "all at once: {error}");
        write("circle", "!include circle\n");
        let error = with("circle").err().unwrap().to_string();
        assert!(error.ends_with("line 1: files are included more than 10 deep"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
