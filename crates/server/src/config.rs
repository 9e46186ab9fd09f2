//! From defaults, configuration file and command line to the settings that hold.
//!
//! Later ones win: the table's defaults, the file (`--config`), `--set NAME=VALUE`, the options with a name of their own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sql::settings::{ConfigFile, Globals};

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
    /// At first start, root has an empty password that is accepted from loopback.
    pub initialize_insecure: bool,
    /// At first start, root's password.
    pub root_password: Option<String>,
}

/// What clients are told: MySQL's version that is spoken, and this program's.
pub const VERSION: &str = concat!("8.4.0-commuter-", env!("CARGO_PKG_VERSION"));

/// The settings that hold.
pub fn settings(options: &ServeOptions) -> Result<Arc<Globals>, ServerError> {
    let globals = Globals::new();
    if let Some(path) = &options.config {
        let text = std::fs::read_to_string(path).context(|| format!("cannot read {}", path.display()))?;
        let at_path = |error| ServerError::ConfigFile { path: path.clone(), error };
        ConfigFile::parse(&text).map_err(at_path)?.apply(&globals).map_err(at_path)?;
    }
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
    configure("datadir", &with_slash(&datadir))?;
    if globals.named("version").as_str().is_empty() {
        configure("version", VERSION)?;
    }
    if let Ok(name) = std::fs::read_to_string("/proc/sys/kernel/hostname") {
        configure("hostname", name.trim())?;
    }
    Ok(Arc::new(globals))
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
    }
}
