//! The settings of one channel's source, in memory and in its file.

use base::{SqlError, codes};
use io::Env;
use parking_lot::Mutex;
use sql::parse::ast::StartReplica;
use sql::replay::ReplicationFilter;
use sql::settings::Globals;

use super::settings::SourceSettings;
use crate::replica::SourceKind;

/// See the module. Who changes settings keeps others from doing the same meanwhile; the last one counts.
pub struct KeptSource {
    env: Env,
    channel: String,
    settings: Mutex<Option<SourceSettings>>,
}

impl KeptSource {
    /// With what was kept.
    pub(crate) fn new(env: Env, channel: String, settings: Option<SourceSettings>) -> Self {
        KeptSource { env, channel, settings: Mutex::new(settings) }
    }

    /// Name of its channel; empty for the one that is always there.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// The settings, if any were ever set.
    pub fn get(&self) -> Option<SourceSettings> {
        self.settings.lock().clone()
    }

    /// Whether there is a source.
    pub fn is_set(&self) -> bool {
        self.get().is_some_and(|settings| settings.has_source())
    }

    /// The settings, or what they are before any is set.
    pub(crate) fn get_or_default(&self) -> SourceSettings {
        self.get().unwrap_or_else(|| SourceSettings { channel: self.channel.clone(), ..SourceSettings::default() })
    }

    /// What of its log is executed.
    ///
    /// # Errors
    /// 1231 if a setting is no list of what it is to be.
    pub fn filter(&self, globals: &Globals) -> Result<ReplicationFilter, SqlError> {
        ReplicationFilter::of(globals, &self.get_or_default().filters)
    }

    /// Writes them to the file, and takes them.
    pub(crate) async fn keep(&self, settings: SourceSettings) -> Result<(), SqlError> {
        let stored = settings.store(&self.env).await;
        stored.map_err(|error| SqlError::unknown(format!("cannot keep the source: {error}")))?;
        *self.settings.lock() = Some(settings);
        Ok(())
    }

    /// Changes what was set; nothing is done if nothing was, or if nothing is new.
    pub(crate) async fn change(&self, change: impl FnOnce(&mut SourceSettings)) -> Result<(), SqlError> {
        let Some(before) = self.get() else { return Ok(()) };
        let mut settings = before.clone();
        change(&mut settings);
        if settings == before { Ok(()) } else { self.keep(settings).await }
    }

    /// Keeps what the source is.
    pub(crate) async fn keep_kind(&self, kind: SourceKind) -> Result<(), SqlError> {
        self.change(|settings| settings.kind = Some(kind)).await
    }

    /// Keeps whether this server is to execute its source's log after its next start.
    #[io::boxed]
    pub async fn set_executing(&self, executing: bool) -> Result<(), SqlError> {
        self.change(|settings| settings.executing = executing).await
    }

    /// `RESET REPLICA` of what is executed: it begins where it was told to begin.
    #[io::boxed]
    pub async fn begin_anew(&self, remembered: &[String]) -> Result<(), SqlError> {
        self.change(|settings| settings.begin_anew(remembered)).await
    }

    /// `RESET REPLICA ALL`
    pub(crate) async fn forget(&self) -> Result<(), SqlError> {
        let forgotten = self.get_or_default().remove(&self.env).await;
        forgotten.map_err(|error| SqlError::unknown(format!("cannot forget the source: {error}")))?;
        *self.settings.lock() = None;
        Ok(())
    }

    /// Whether `START REPLICA` can be done as it was said.
    ///
    /// # Errors
    /// 1200 without a source.
    pub fn check_start(&self, start: &StartReplica) -> Result<(), SqlError> {
        if start.user.is_some() || start.password.is_some() {
            return Err(SqlError::not_supported("START REPLICA with an account (CHANGE REPLICATION SOURCE TO has it)"));
        }
        if !self.is_set() {
            let message =
                "The server is not configured as replica; fix in config file or with CHANGE REPLICATION SOURCE TO";
            return Err(SqlError::new(codes::BAD_REPLICA, message));
        }
        Ok(())
    }
}
