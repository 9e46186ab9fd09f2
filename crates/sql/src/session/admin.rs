//! Administration: privileges, then the server.

use base::{Cancelled, ConnectionId, SqlError, codes};
use types::Value;

use super::Session;
use crate::account::{self, Account, Privilege, with_roles};
use crate::expr::WarningLevel;
use crate::parse::ast::{Admin, ChangeSource, ChannelName, FlushTarget, StartReplica, StopReplica, TableMaintenance};
use crate::replay::ReplicationFilter;
use crate::result::{Outcome, ResultSink};
use crate::services::{Process, PurgeBinaryLogs};
use crate::settings::{SettingValue, find_or_suggest};

impl Session {
    pub(super) async fn administer(&mut self, admin: &Admin, sink: &mut dyn ResultSink) -> Result<Outcome, SqlError> {
        let services = self.shared.services.clone();
        match admin {
            Admin::ChangeSource(change) => {
                self.replication_admin().await?;
                let channel = self.channel(&change.channel);
                services.change_source(ChangeSource { channel, ..(**change).clone() }).await?;
            }
            Admin::ReplicationFilter { rules, channel } => {
                self.replication_admin().await?;
                for (name, value) in rules {
                    ReplicationFilter::check(find_or_suggest(name)?, value)?;
                }
                if let Some(channel) = self.channel(channel) {
                    services.change_channel_filter(channel, rules.iter().cloned().collect()).await?;
                    return Ok(Outcome::default());
                }
                for (name, value) in rules {
                    self.set_global(find_or_suggest(name)?, SettingValue::text(value.clone())).await?;
                }
            }
            Admin::StartReplica(start) => {
                self.check_global(&[Privilege::ReplicationAdmin])?;
                let holds_commits = self.check_no_hold().is_err();
                if !holds_commits {
                    self.commit().await?;
                }
                let channel = if start.all { None } else { self.channel(&start.channel) };
                services.start_replica(StartReplica { channel, ..start.clone() }, holds_commits).await?;
            }
            Admin::StopReplica(stop) => {
                self.replication_admin().await?;
                let channel = if stop.all { None } else { self.channel(&stop.channel) };
                if services.stop_replica(StopReplica { channel, ..stop.clone() }).await? > 0 {
                    let message = "This operation may not be safe when the replica has temporary tables. The tables will be kept open \
                                   until the server restarts or until the tables are deleted by any replicated DROP statement. Suggest \
                                   to wait until replica_open_temp_tables = 0.";
                    self.warnings.push(WarningLevel::Warning, codes::WARN_OPEN_TEMP_TABLES_MUST_BE_ZERO, message);
                }
            }
            Admin::ResetReplica { all, channel } => {
                self.check_global(&[Privilege::Reload])?;
                self.check_no_hold()?;
                self.commit().await?;
                services.reset_replica(*all, self.channel(channel)).await?;
            }
            Admin::ResetBinaryLogs(to) => {
                self.check_global(&[Privilege::Reload])?;
                self.check_no_hold()?;
                self.commit().await?;
                services.reset_binary_logs(*to).await?;
            }
            Admin::PurgeTo(file) => {
                self.check_global(&[Privilege::BinlogAdmin])?;
                self.purge_binary_logs(PurgeBinaryLogs::To(file.clone())).await?;
            }
            Admin::PurgeBefore(time) => {
                self.check_global(&[Privilege::BinlogAdmin])?;
                let call = crate::parse::unix_timestamp_of(time);
                let seconds = match self.evaluate(&call, &[]).await?.0 {
                    Value::Int(seconds) => seconds,
                    Value::UInt(seconds) => seconds as i64,
                    Value::Null => {
                        return Err(SqlError::new(codes::WRONG_ARGUMENTS, "Incorrect arguments to PURGE LOGS BEFORE"));
                    }
                    other => seconds_of(&other),
                };
                self.purge_binary_logs(PurgeBinaryLogs::Before(seconds)).await?;
                self.warn_of_active_log();
            }
            Admin::Flush(targets) => {
                for target in targets {
                    match target {
                        FlushTarget::Tables(_) => {
                            self.check_global(&[Privilege::Reload, Privilege::FlushTables])?;
                        }
                        FlushTarget::TablesWithReadLock(tables) => {
                            self.check_global(&[Privilege::Reload, Privilege::FlushTables])?;
                            tables.iter().try_for_each(|table| self.check_may_lock(table))?;
                        }
                        FlushTarget::Status => self.check_global(&[Privilege::Reload, Privilege::FlushStatus])?,
                        FlushTarget::Nothing(words) => self.check_may_flush(words)?,
                        FlushTarget::Logs
                        | FlushTarget::ErrorLogs
                        | FlushTarget::BinaryLogs
                        | FlushTarget::RelayLogs => {
                            self.check_global(&[Privilege::Reload])?;
                        }
                    }
                }
                for target in targets {
                    self.flush(target).await?;
                }
            }
            Admin::Kill { query_only, id } => self.kill(*query_only, id).await?,
            Admin::Shutdown => {
                self.check_global(&[Privilege::Shutdown])?;
                services.shutdown();
            }
            Admin::Tables { what: TableMaintenance::Repair, tables, from, .. } => {
                return self.repair(tables, from.as_deref(), sink).await;
            }
            Admin::Tables { what, tables, local, .. } => {
                self.check_may_maintain(*what, *local, tables)?;
                return self.maintain(*what, *local, tables, sink).await;
            }
            Admin::Histogram(histogram) => {
                self.check_may_maintain(TableMaintenance::Analyze, histogram.local, &histogram.tables)?;
                return self.change_histograms(histogram, sink).await;
            }
            Admin::Checksum { tables, how } => return self.checksum(tables, how, sink).await,
        }
        Ok(Outcome::default())
    }

    /// The channel that a statement means: the one that it names, or the session's (MariaDB's `default_master_connection`).
    pub(crate) fn channel(&self, named: &ChannelName) -> ChannelName {
        let session = || Some(self.settings.default_master_connection.to_lowercase());
        named.clone().or_else(|| session().filter(|name| !name.is_empty()))
    }

    async fn purge_binary_logs(&mut self, to: PurgeBinaryLogs) -> Result<(), SqlError> {
        let kept_for = self.shared.services.purge_binary_logs(to).await?;
        if let Some(who) = kept_for {
            let message = format!("Not all files were purged, because {who} still needs them");
            self.warnings.push(WarningLevel::Warning, codes::WARN_PURGE_LOG_IN_USE, message);
        }
        Ok(())
    }

    /// That nothing but the file that is written is left.
    fn warn_of_active_log(&mut self) {
        if let [active] = self.shared.services.binary_logs().as_slice() {
            let message = format!("file ./{} was not purged because it is the active log file.", active.name);
            self.warnings.push(WarningLevel::Warning, codes::WARN_PURGE_LOG_IS_ACTIVE, message);
        }
    }

    async fn replication_admin(&mut self) -> Result<(), SqlError> {
        self.check_global(&[Privilege::ReplicationAdmin])?;
        if self.check_no_hold().is_err() {
            return Err(holds_commits());
        }
        self.commit().await
    }

    async fn flush(&mut self, target: &FlushTarget) -> Result<(), SqlError> {
        match target {
            FlushTarget::TablesWithReadLock(_) if self.has_locked_tables() => Err(holds_commits()),
            FlushTarget::TablesWithReadLock(tables) => self.lock_for_read(tables).await,
            // There are no open tables to close; the statement only ends the transaction.
            FlushTarget::Tables(tables) => {
                self.check_may_close(tables)?;
                self.commit().await
            }
            FlushTarget::Nothing(words) => {
                match *words {
                    "USER_RESOURCES" => self.shared.usage.clear(),
                    // As in MySQL, which reads its accounts anew.
                    "PRIVILEGES" => {
                        self.shared.failed_logins.clear();
                        let message = "'FLUSH PRIVILEGES' is deprecated and will be removed in a future release.";
                        let code = codes::WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT;
                        self.warnings.push(WarningLevel::Warning, code, message.to_owned());
                    }
                    _ => {}
                }
                self.commit().await
            }
            target => {
                self.commit().await?;
                self.shared.services.flush(target.clone()).await
            }
        }
    }

    async fn kill(&mut self, query_only: bool, id: &syntax::ast::Expr) -> Result<(), SqlError> {
        let id = match self.evaluate(id, &[]).await?.0 {
            Value::Int(id) => u32::try_from(id).ok(),
            Value::UInt(id) => u32::try_from(id).ok(),
            _ => None,
        };
        let no_such = || SqlError::new(codes::NO_SUCH_THREAD, format!("Unknown thread id: {}", id.unwrap_or_default()));
        let target = ConnectionId(id.ok_or_else(no_such)?);
        let process = self.shared.services.processlist().into_iter().find(|process| process.id == target);
        let process = process.ok_or_else(no_such)?;
        if process.user != self.client.user && !self.account().global.has(Privilege::ConnectionAdmin) {
            return Err(not_owner(target));
        }
        self.check_may_kill_system_user(&process)?;
        let what = if query_only { Cancelled::Statement } else { Cancelled::Connection };
        self.shared.services.kill(target, what)?;
        if target == self.handle.connection_id {
            return Err(SqlError::new(codes::QUERY_INTERRUPTED, "Query execution was interrupted"));
        }
        Ok(())
    }
}

impl Session {
    /// RELOAD, or the part of it that MySQL has made for one of these.
    fn check_may_flush(&mut self, words: &str) -> Result<(), SqlError> {
        match words {
            "PRIVILEGES" => self.check_global(&[Privilege::Reload, Privilege::FlushPrivileges]),
            "USER_RESOURCES" => self.check_global(&[Privilege::Reload, Privilege::FlushUserResources]),
            "OPTIMIZER_COSTS" => self.check_global(&[Privilege::Reload, Privilege::FlushOptimizerCosts]),
            _ => self.check_global(&[Privilege::Reload]),
        }
    }

    /// Only a system user kills what a system user does, which an account may also be by an active role (1095).
    fn check_may_kill_system_user(&mut self, process: &Process) -> Result<(), SqlError> {
        let is_own = process.id == self.handle.connection_id;
        if is_own || self.account().global.contains(Privilege::SystemUser) {
            return Ok(());
        }
        let catalog = self.shared.engine.catalog();
        let is_of_process =
            |account: &Account| process.account.as_ref().is_some_and(|it| *it == account.name().to_string());
        let Some(account) = account::all(&catalog).into_iter().find(is_of_process) else { return Ok(()) };
        let (active, mandatory) = (self.shared.active_roles.of(process.id), self.mandatory_roles(&catalog));
        match with_roles(&catalog, account, &active, &mandatory).global.contains(Privilege::SystemUser) {
            true => Err(not_owner(process.id)),
            false => Ok(()),
        }
    }
}

/// 1095
fn not_owner(thread: ConnectionId) -> SqlError {
    SqlError::new(codes::KILL_DENIED_ERROR, format!("You are not owner of thread {}", thread.0))
}

/// Whole seconds of a value with a fraction.
fn seconds_of(value: &Value) -> i64 {
    let mut text = Vec::new();
    value.write_text(types::value::NOT_FIXED, &mut text);
    String::from_utf8_lossy(&text).parse::<f64>().map_or(0, |seconds| seconds as i64)
}

/// 1192
pub fn holds_commits() -> SqlError {
    let message = "Can't execute the given command because you have active locked tables or an active transaction";
    SqlError::new(codes::LOCK_OR_ACTIVE_TRANSACTION, message)
}
