//! Statements about replication from sources: which channels they mean, and whether a source's log is copied or executed.
//!
//! A source that is a commuter server is copied, if this server can be a copy: on the channel without a name, if there are no others, and
//! without filters. A copy has all that its source has.

use std::sync::Arc;

use base::{SqlError, codes};
use repl::replica::CopyHook;
use repl::{Replica, SourceKind};
use sql::parse::ast::{ChangeSource, ChannelName, StartReplica, StopReplica};
use sql::replay::ChannelRules;
use sql::services::{ChannelWork, ReplicaStatusRow};

use super::ServerServices;
use crate::replication;

impl ServerServices {
    /// Starts what was started before this server ended, and executes.
    pub(crate) async fn start_executing_again(self: &Arc<Self>) -> Result<(), SqlError> {
        let is_skipped = self.parts.globals.now().start.skip_replica_start;
        for replica in self.channels().all() {
            if !is_skipped && replication::executes(&replica) {
                self.execute(&replica, &replication::BOTH_THREADS).await?;
            }
        }
        Ok(())
    }

    /// Starts a replica that executes another server's log. A source that turns out to be one of ours is followed instead, if it can be.
    async fn execute(self: &Arc<Self>, replica: &Arc<Replica>, start: &StartReplica) -> Result<(), SqlError> {
        let Some(shared) = self.shared() else { return Ok(()) };
        let copy = self.may_copy(replica).then(|| self.copy_hook(start));
        replica.start(start, &shared.sql, copy).await
    }

    fn copy_hook(self: &Arc<Self>, start: &StartReplica) -> CopyHook {
        let (services, start) = (Arc::downgrade(self), start.clone());
        Arc::new(move || {
            let Some(services) = services.upgrade() else { return };
            let start = start.clone();
            let env = services.parts.engine.env().clone();
            let follow = async move {
                if let Err(error) = services.follow(&start).await {
                    tracing::error!("the source is a commuter server, and cannot be followed: {}", error.message);
                }
            };
            env.spawner.spawn("begin-to-follow", Box::pin(follow));
        })
    }

    fn may_copy(&self, replica: &Replica) -> bool {
        let is_alone = replica.source().channel().is_empty() && !self.channels().has_named();
        is_alone && !replication::has_filters(&self.parts.globals, replica.source())
    }

    async fn follow(&self, start: &StartReplica) -> Result<(), SqlError> {
        // It may have been started before the source could be seen; from here on the status is the follower's.
        let replica = self.channels().unnamed();
        replica.shut_down().await;
        replica.reset();
        let _role = self.parts.role.lock().await;
        if self.channels().has_named() {
            return Err(SqlError::not_supported("a copy of a source's log beside replication channels"));
        }
        replication::check_copies_all(&self.parts.globals, replica.source())?;
        replication::become_follower(&self.parts.engine, &self.parts.globals).await?;
        self.shared().inspect(|shared| shared.sql.xa.forget_prepared());
        self.follower().start(start).await
    }

    pub(super) async fn change(&self, change: &ChangeSource) -> Result<(), SqlError> {
        let _role = self.parts.role.lock().await;
        let ids = [&change.ignored_server_ids, &change.do_domain_ids, &change.ignored_domain_ids];
        if self.parts.engine.is_follower() && ids.into_iter().flatten().any(|ids| !ids.is_empty()) {
            return Err(replication::no_filters_of_a_copy());
        }
        self.channels().change_source(change).await
    }

    pub(super) async fn change_filter(&self, channel: String, rules: ChannelRules) -> Result<(), SqlError> {
        let _role = self.parts.role.lock().await;
        if self.parts.engine.is_follower() && rules.values().any(|rule| !rule.is_empty()) {
            return Err(replication::no_filters_of_a_copy());
        }
        self.channels().change_filter(channel, rules).await
    }

    pub(super) async fn start(&self, start: &StartReplica, holds_commits: bool) -> Result<(), SqlError> {
        let mut replicas = self.channels().named(&start.channel)?;
        if start.channel.is_none() && replicas.len() > 1 {
            // All that have a source.
            replicas.retain(|replica| replica.source().is_set());
            self.check_skip_counter(replicas.len())?;
        }
        if replicas.is_empty() {
            replicas.push(self.channels().unnamed());
        }
        for replica in &replicas {
            replica.source().check_start(start)?;
            self.start_one(replica, start, holds_commits).await?;
        }
        Ok(())
    }

    async fn start_one(
        &self,
        replica: &Arc<Replica>,
        start: &StartReplica,
        holds_commits: bool,
    ) -> Result<(), SqlError> {
        if self.parts.engine.is_follower() {
            return self.follow(start).await;
        }
        // What it is may be known only when it runs.
        let kind = replica.kind_of_source().await;
        let was_executed = replica.source().get().is_some_and(|settings| settings.executing && settings.kind == kind);
        if kind == Some(SourceKind::Commuter) && !was_executed && self.may_copy(replica) {
            // Becoming a follower waits for commits that are under way.
            if holds_commits {
                return Err(sql::session::holds_commits());
            }
            return self.follow(start).await;
        }
        replica.source().set_executing(true).await?;
        let this = self.this.upgrade().ok_or_else(|| SqlError::unknown("the server is being closed"))?;
        this.execute(replica, start).await
    }

    /// 3086 if several would leave out events because of the same number.
    fn check_skip_counter(&self, started: usize) -> Result<(), SqlError> {
        if started < 2 || self.parts.globals.now().role.sql_replica_skip_counter == 0 {
            return Ok(());
        }
        let message = "When sql_replica_skip_counter > 0, it is not allowed to start more than one SQL thread by using 'START \
                       REPLICA [SQL_THREAD]'. Value of sql_replica_skip_counter can only be used by one SQL thread at a time. \
                       Please use 'START REPLICA [SQL_THREAD] FOR CHANNEL' to start the SQL thread which will use the value of \
                       sql_replica_skip_counter.";
        Err(SqlError::new(codes::REPLICA_CHANNEL_SQL_SKIP_COUNTER, message))
    }

    /// How many temporary tables those have that are named.
    pub(super) async fn stop(&self, stop: &StopReplica) -> Result<usize, SqlError> {
        let (Some(this), Some(shared)) = (self.this.upgrade(), self.shared()) else { return Ok(0) };
        let mut temporary_tables = 0;
        for replica in self.channels().named(&stop.channel)? {
            let copy = self.may_copy(&replica).then(|| this.copy_hook(&replication::BOTH_THREADS));
            replica.stop(stop, &shared.sql, copy).await?;
            if replica.source().channel().is_empty() {
                self.follower().stop(stop).await?;
            }
            temporary_tables += replica.temporary_tables();
        }
        Ok(temporary_tables)
    }

    pub(super) async fn reset(&self, all: bool, channel: &ChannelName) -> Result<(), SqlError> {
        let _role = self.parts.role.lock().await;
        let replicas = self.channels().named(channel)?;
        replicas.iter().try_for_each(|replica| replica.check_stopped())?;
        for replica in replicas {
            self.channels().reset(&replica, all).await?;
        }
        Ok(())
    }

    pub(super) fn channel_status(&self, channel: &ChannelName) -> Result<Vec<ReplicaStatusRow>, SqlError> {
        let rows = |replica: &Arc<Replica>| if is_copy(replica) { self.follower().status() } else { replica.status() };
        Ok(self.channels().named(channel)?.iter().flat_map(rows).collect())
    }

    pub(super) fn channel_work(&self) -> Vec<ChannelWork> {
        let work = |replica: &Arc<Replica>| if is_copy(replica) { self.follower().work() } else { replica.work() };
        self.channels().all().iter().filter_map(work).collect()
    }
}

/// Its log is copied, if it has a source at all.
fn is_copy(replica: &Replica) -> bool {
    replica.source().channel().is_empty() && !replica.is_in_use()
}
