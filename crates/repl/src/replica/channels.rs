//! The channels of a server: each replicates from a source of its own.
//!
//! The channel without a name is always there. It may be one that copies its source's log ([`crate::follower`]); then there are no others,
//! since a copy has no place for anybody else's transactions.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{SqlError, codes};
use parking_lot::Mutex;
use sql::parse::ast::{ChangeSource, ChannelName};
use sql::replay::ChannelRules;
use sql::settings::Globals;

use super::Replica;
use super::filters::RuleTimes;
use crate::follower::{Follower, KeptSource, SourceSettings};

/// Characters of a name, as in MySQL.
const NAME_CHARS_MAX: usize = 64;
/// How many there may be, as in MySQL.
const CHANNELS_MAX: usize = 256;

/// See the module.
pub struct Channels {
    pub(super) follower: Arc<Follower>,
    pub(super) globals: Arc<Globals>,
    by_name: Mutex<BTreeMap<String, Arc<Replica>>>,
    /// When filters of all of them were set.
    pub(super) all_rules: Arc<RuleTimes>,
}

impl Channels {
    /// Reads what was kept of them; starts nothing.
    ///
    /// # Errors
    /// If a file is damaged.
    #[io::boxed]
    pub async fn open(follower: Arc<Follower>, globals: Arc<Globals>) -> Result<Arc<Self>, SqlError> {
        let kept = SourceSettings::load_named(follower.env()).await;
        let kept =
            kept.map_err(|error| SqlError::unknown(format!("cannot read the settings of a channel: {error}")))?;
        let all_rules = Arc::new(RuleTimes::new(follower.env().clock.now()));
        let first = Replica::new(follower.kept().clone(), follower.clone(), globals.clone(), &all_rules);
        let by_name = Mutex::new(BTreeMap::from([(String::new(), first)]));
        let channels = Channels { follower, globals, by_name, all_rules };
        for settings in kept {
            channels.add(settings.channel.clone(), Some(settings));
        }
        Ok(Arc::new(channels))
    }

    fn add(&self, name: String, settings: Option<SourceSettings>) -> Arc<Replica> {
        let source = Arc::new(KeptSource::new(self.follower.env().clone(), name.clone(), settings));
        let replica = Replica::new(source, self.follower.clone(), self.globals.clone(), &self.all_rules);
        self.by_name.lock().insert(name, replica.clone());
        replica
    }

    /// The channel without a name.
    pub fn unnamed(&self) -> Arc<Replica> {
        self.by_name.lock().get("").cloned().unwrap_or_else(|| unreachable!("it is never removed"))
    }

    /// All of them, that without a name first.
    pub fn all(&self) -> Vec<Arc<Replica>> {
        self.by_name.lock().values().cloned().collect()
    }

    /// Whether there are others than the one without a name.
    pub fn has_named(&self) -> bool {
        self.by_name.lock().len() > 1
    }

    /// The one that a statement names, or all.
    ///
    /// # Errors
    /// 3074 if there is no such channel.
    pub fn named(&self, channel: &ChannelName) -> Result<Vec<Arc<Replica>>, SqlError> {
        let Some(name) = channel else { return Ok(self.all()) };
        let found = self.by_name.lock().get(name).cloned();
        let missing = || {
            let message = format!("Replica channel '{name}' does not exist.");
            SqlError::new(codes::REPLICA_CHANNEL_DOES_NOT_EXIST, message)
        };
        found.map(|replica| vec![replica]).ok_or_else(missing)
    }

    /// `CHANGE REPLICATION SOURCE TO`: a channel that is named and is not there yet begins to be.
    ///
    /// # Errors
    /// 3079 if it does not say which of several, 3021, 3085 or 3081 while what has to be stopped for it runs, 3076 for names, 3080 for too many.
    #[io::boxed]
    pub async fn change_source(&self, change: &ChangeSource) -> Result<(), SqlError> {
        let name = match &change.channel {
            Some(name) => name.as_str(),
            None if self.has_named() => {
                let message = "Multiple channels exist on the replica. Please provide channel name as an argument.";
                return Err(SqlError::new(codes::REPLICA_MULTIPLE_CHANNELS_CMD, message));
            }
            None => "",
        };
        if name.is_empty() {
            self.unnamed().check_change(change)?;
            return self.follower.change_source(change).await;
        }
        let known = self.by_name.lock().get(name).cloned();
        let source = match &known {
            Some(replica) => {
                replica.check_change(change)?;
                replica.source().clone()
            }
            None => {
                self.check_new(name)?;
                Arc::new(KeptSource::new(self.follower.env().clone(), name.to_owned(), None))
            }
        };
        let mut settings = source.get_or_default();
        settings.change(change, &self.follower.engine().source_position_names())?;
        source.keep(settings.clone()).await?;
        if known.is_none() {
            self.add(name.to_owned(), Some(settings));
        }
        Ok(())
    }

    /// `CHANGE REPLICATION FILTER … FOR CHANNEL`: rules take the place of those that all channels have, and last as long as the channel.
    ///
    /// # Errors
    /// 3074 if there is no such channel, 3085 while it executes.
    #[io::boxed]
    pub async fn change_filter(&self, channel: String, rules: ChannelRules) -> Result<(), SqlError> {
        for replica in self.named(&Some(channel))? {
            replica.check_filter()?;
            let mut settings = replica.source().get_or_default();
            settings.filters.extend(rules.clone());
            replica.source().keep(settings).await?;
            rules.keys().for_each(|name| replica.rule_changed(name, true));
        }
        Ok(())
    }

    fn check_new(&self, name: &str) -> Result<(), SqlError> {
        if self.follower.engine().is_follower() {
            return Err(SqlError::not_supported("replication channels of a server that copies its source's log"));
        }
        // The log has names of positions with one byte for their length.
        let is_long = name.chars().count() > NAME_CHARS_MAX || name.len() > SourceSettings::CHANNEL_BYTES_MAX;
        if is_long || name.chars().any(char::is_control) {
            let message = "Couldn't create channel: Channel name is either invalid or too long.";
            return Err(SqlError::new(codes::REPLICA_CHANNEL_NAME_INVALID_OR_TOO_LONG, message));
        }
        if self.by_name.lock().len() >= CHANNELS_MAX {
            let message = "Maximum number of replication channels allowed exceeded.";
            return Err(SqlError::new(codes::REPLICA_MAX_CHANNELS_EXCEEDED, message));
        }
        Ok(())
    }

    /// `RESET REPLICA` of one that has stopped; with `all` it is gone, unless it is the one without a name.
    #[io::boxed]
    pub async fn reset(&self, replica: &Replica, all: bool) -> Result<(), SqlError> {
        replica.check_stopped()?;
        replica.reset();
        replica.source().begin_anew(&self.follower.engine().source_position_names()).await?;
        if replica.source().channel().is_empty() {
            return self.follower.reset(all).await;
        }
        if all {
            replica.source().forget().await?;
            self.by_name.lock().remove(replica.source().channel());
        }
        Ok(())
    }

    /// 3081 while one of them runs.
    pub fn check_stopped(&self) -> Result<(), SqlError> {
        self.all().iter().try_for_each(|replica| replica.check_stopped())
    }

    /// 3085 while one of them executes.
    pub fn check_filter(&self) -> Result<(), SqlError> {
        self.all().iter().try_for_each(|replica| replica.check_filter())
    }

    /// 3081 while all of them run that have a source: there is none to be started for which a setting would be.
    pub fn check_one_stopped(&self) -> Result<(), SqlError> {
        let is_stopped = |replica: &Arc<Replica>| replica.source().is_set() && replica.check_stopped().is_ok();
        if self.all().iter().any(is_stopped) { Ok(()) } else { self.check_stopped() }
    }

    /// Stops all of them.
    #[io::boxed]
    pub async fn shut_down(&self) {
        let all = self.all();
        all.iter().for_each(|replica| replica.ask_to_stop());
        for replica in all {
            replica.shut_down().await;
        }
    }
}
