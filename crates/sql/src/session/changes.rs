//! What a statement changes of the session, for clients that ask to be told (`session_track_…`).
//!
//! Changes are noted while a statement runs and taken with its answer; the next statement begins with none.

use binlog::GtidSet;
use engine::{Commit, Engine};

use crate::settings::{SessionSettings, SettingId};

/// One change, as OK packets have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A setting was set; its name and value.
    Variable(&'static str, String),
    /// The default database was chosen, or is gone (empty).
    Schema(String),
    /// Something of the session was changed that another session would not have.
    State,
    /// The GTID of what was committed, or all that are executed.
    Gtids(String),
}

/// `session_track_gtids`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackGtids {
    /// None.
    Off,
    /// Those that the session commits.
    Own,
    /// All that are executed, with every statement.
    All,
}

/// What the statement that runs has changed so far.
#[derive(Debug, Default)]
pub(super) struct Changes {
    settings: Vec<SettingId>,
    schema: bool,
    state: bool,
    /// `session_track_state_change` itself was set: its own statement is not told.
    is_state_hidden: bool,
    committed: GtidSet,
}

impl Changes {
    pub(super) fn clear(&mut self) {
        self.settings.clear();
        (self.schema, self.state, self.is_state_hidden) = (false, false, false);
        if !self.committed.is_empty() {
            self.committed = GtidSet::new();
        }
    }

    pub(super) fn setting(&mut self, id: SettingId) {
        self.state = true;
        self.is_state_hidden |= id == SettingId::session_track_state_change;
        if !self.settings.contains(&id) {
            self.settings.push(id);
        }
    }

    pub(super) fn schema(&mut self) {
        (self.schema, self.state) = (true, true);
    }

    /// The default database was dropped.
    pub(super) fn schema_gone(&mut self) {
        self.schema = true;
    }

    /// A user variable, a temporary table, a prepared statement.
    pub(super) fn state(&mut self) {
        self.state = true;
    }

    pub(super) fn committed(&mut self, commit: &Commit) {
        if let Some(gtid) = commit.place.as_ref().and_then(|place| place.gtid) {
            self.committed.add(gtid);
        }
    }
}

impl Changes {
    /// What the statement has changed, as far as the session's settings track it; nothing is left.
    pub(super) fn take(&mut self, settings: &SessionSettings, database: Option<&str>, engine: &Engine) -> Vec<Change> {
        let mut changes = self.tracked_settings(settings);
        if self.schema && settings.session_track_schema {
            changes.push(Change::Schema(database.unwrap_or_default().to_owned()));
        }
        if self.state && settings.session_track_state_change && !self.is_state_hidden {
            changes.push(Change::State);
        }
        match settings.session_track_gtids {
            TrackGtids::Own if !self.committed.is_empty() => changes.push(Change::Gtids(self.committed.to_string())),
            TrackGtids::All => changes.push(Change::Gtids(engine.log().gtid_executed().to_string())),
            TrackGtids::Own | TrackGtids::Off => {}
        }
        self.clear();
        changes
    }

    /// The settings that were set and are in `session_track_system_variables`, by name.
    fn tracked_settings(&self, settings: &SessionSettings) -> Vec<Change> {
        if self.settings.is_empty() {
            return Vec::new();
        }
        let list = &settings.session_track_system_variables;
        let is_tracked =
            |name: &str| list.split(',').map(str::trim).any(|one| one == "*" || one.eq_ignore_ascii_case(name));
        let set = self.settings.iter().map(|id| (id.name(), *id));
        let mut set: Vec<_> = set.filter(|(name, _)| is_tracked(name)).collect();
        set.sort_unstable();
        set.into_iter().map(|(name, id)| Change::Variable(name, settings.get(id).to_string())).collect()
    }
}
