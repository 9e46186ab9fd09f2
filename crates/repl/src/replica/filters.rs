//! Which replication filters there are, since when, and how often they have matched: for `performance_schema.replication_applier_filters` and
//! its kin.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{SqlError, UnixMicros};
use sql::replay::{FILTER_RULES, ReplicationFilter, RuleUses};
use sql::services::FilterRule;
use sql::settings::{Globals, SettingId};

use super::Replica;

/// When rules were set, in the order of [`FILTER_RULES`].
pub(crate) struct RuleTimes {
    /// When those began that nobody has changed since.
    began: UnixMicros,
    /// 0 for never.
    changed: [AtomicU64; FILTER_RULES.len()],
}

impl RuleTimes {
    pub(super) fn new(began: UnixMicros) -> Self {
        RuleTimes { began, changed: Default::default() }
    }

    fn change(&self, rule: usize, now: UnixMicros) {
        self.changed[rule].store(now.0, Ordering::Relaxed);
    }

    fn is_changed(&self, rule: usize) -> bool {
        self.since(rule) != self.began
    }

    fn since(&self, rule: usize) -> UnixMicros {
        match self.changed[rule].load(Ordering::Relaxed) {
            0 => self.began,
            changed => UnixMicros(changed),
        }
    }

    /// The rule of all channels, if it is one or somebody has said that there is none.
    fn of_all(&self, rule: usize, globals: &Globals) -> Option<FilterRule> {
        let name = FILTER_RULES[rule].name();
        let value = globals.get(FILTER_RULES[rule]);
        let is_changed = self.is_changed(rule);
        let configured_by = if is_changed { "CHANGE_REPLICATION_FILTER" } else { "STARTUP_OPTIONS" };
        let shown = ReplicationFilter::shown(FILTER_RULES[rule], value.as_str());
        let found = FilterRule { name, rule: shown, configured_by, since: self.since(rule), count: 0 };
        (is_changed || !found.rule.is_empty()).then_some(found)
    }

    /// All of these.
    pub(super) fn all(&self, globals: &Globals) -> Vec<FilterRule> {
        (0..FILTER_RULES.len()).filter_map(|rule| self.of_all(rule, globals)).collect()
    }
}

/// What a channel knows of its filters.
pub(super) struct ChannelFilters {
    /// Of rules of its own, and when it began to be.
    own: RuleTimes,
    /// Those of all channels.
    all: Arc<RuleTimes>,
    uses: Arc<RuleUses>,
}

impl ChannelFilters {
    pub(super) fn new(began: UnixMicros, all: Arc<RuleTimes>) -> Self {
        ChannelFilters { own: RuleTimes::new(began), all, uses: Arc::default() }
    }
}

impl Replica {
    /// What of its source's log is executed.
    ///
    /// # Errors
    /// 1231 if a setting is no list of what it is to be.
    pub(super) fn filter(&self) -> Result<ReplicationFilter, SqlError> {
        Ok(self.source.filter(&self.globals)?.counted_by(self.filters.uses.clone()))
    }

    /// A rule of this channel is another one, or one of all channels that it has none of its own for.
    pub(super) fn rule_changed(&self, name: &str, is_own: bool) {
        let has_own = self.settings().filters.contains_key(name);
        if let Some(rule) = FILTER_RULES.iter().position(|known| known.name() == name)
            && is_own == has_own
        {
            self.filters.uses.begin_anew(rule);
            if is_own {
                self.filters.own.change(rule, self.follower.env().clock.now());
            }
        }
    }

    /// Its rules, and those of all that are its.
    pub(super) fn shown_filters(&self) -> Vec<FilterRule> {
        let (settings, filters) = (self.settings(), &self.filters);
        let shown = |rule: usize| {
            let name = FILTER_RULES[rule].name();
            let found = match settings.filters.get(name) {
                None => filters.all.of_all(rule, &self.globals)?,
                Some(own) => FilterRule {
                    name,
                    rule: ReplicationFilter::shown(FILTER_RULES[rule], own),
                    configured_by: "CHANGE_REPLICATION_FILTER_FOR_CHANNEL",
                    since: filters.own.since(rule),
                    count: 0,
                },
            };
            // Not before there was the channel.
            Some(FilterRule { since: found.since.max(filters.own.began), count: filters.uses.count(rule), ..found })
        };
        (0..FILTER_RULES.len()).filter_map(shown).collect()
    }
}

impl super::Channels {
    /// The setting is another one from here on.
    pub fn filter_changed(&self, id: SettingId) {
        if let Some(rule) = FILTER_RULES.iter().position(|known| *known == id) {
            self.all_rules.change(rule, self.follower.env().clock.now());
            self.all().iter().for_each(|replica| replica.rule_changed(id.name(), false));
        }
    }

    /// Filters of all channels that have none of their own of a kind.
    pub fn filters(&self) -> Vec<FilterRule> {
        self.all_rules.all(&self.globals)
    }
}
