//! The two phases of a distributed transaction; see [`crate::prepared`].

use base::{SqlError, codes};
use binlog::event::{XaStatement, Xid};
use binlog::{EncodedTransaction, TransactionEncoder};
use xxhash_rust::xxh64::xxh64;

use super::commit::{WRITESET_KEYS_MAX, context_of, count_rows, encode, encoder_options, install, tell_rows, writeset};
use super::{Pending, Transaction};
use crate::core::{Core, Payload, XaPhase};
use crate::error::{EngineError, Result};
use crate::gate::Passage;

/// Of a transaction whose first phase is done.
pub(super) struct Prepared {
    xid: Xid,
    /// It has written something, or has a GTID that was chosen: both phases are in the log.
    in_log: bool,
    /// What the second phase depends on: the first, and what that depends on.
    writeset: Vec<u64>,
    depends_on_all: bool,
}

impl Transaction {
    /// The first phase of a distributed transaction: it has its place in the log. What is left is to wait for that, and then
    /// [`Transaction::enqueue_second_phase`]; dropping it does not undo what the log says.
    ///
    /// # Errors
    /// As those of [`Transaction::commit`], and 1197 if it did not stay in memory. Nothing is prepared then.
    #[io::boxed]
    pub async fn enqueue_prepare(&mut self, xid: &Xid) -> Result<Pending> {
        self.check_active()?;
        self.shown = None;
        let has_name = self.options.gtid.is_chosen() || self.options.source_position.is_some();
        if self.writes.is_empty() && !has_name {
            self.wait_for_what_was_read().await?;
            self.prepared =
                Some(Prepared { xid: xid.clone(), in_log: false, writeset: Vec::new(), depends_on_all: false });
            return Ok(Pending::nothing());
        }
        if self.writes.is_large() {
            return Err(too_large());
        }
        let core = self.core().clone();
        core.check_commits()?;
        let (cancel, most) = (&self.options.session.cancel, self.options.commit_wait_timeout);
        let passing = core.pass_gate(Passage::Transaction, cancel, most).await?;
        core.check_commits()?;
        let mut encoded = encode(&core, &self.options, &self.writes, Some(xid)).await?;
        self.depend(&mut encoded, xid);
        let pipeline = core.commits.load_full().ok_or(EngineError::ServerReadOnly)?;
        let reservation = pipeline.reserve(encoded.max_size()).await?;
        self.prepared = Some(Prepared {
            xid: xid.clone(),
            in_log: true,
            writeset: encoded.writeset.clone(),
            depends_on_all: encoded.depends_on_all,
        });
        let mut payload = Payload::without_versions(self.options.source_position.take());
        payload.xa = Some(XaPhase::Prepare(xid.clone()));
        self.depend_on_others(pipeline.settings(), &mut encoded, &mut payload);
        core.env.step().await;
        let ticket = pipeline.enqueue(encoded, reservation, payload);
        self.view = None;
        Ok(Pending::new(ticket, passing))
    }

    /// Both phases are known by what was written and referred to, and by their name.
    fn depend(&self, encoded: &mut EncodedTransaction, xid: &Xid) {
        match encoded.writeset.len() + self.referred.len() < WRITESET_KEYS_MAX {
            true => encoded.writeset.extend(&self.referred),
            false => encoded.depends_on_all = true,
        }
        encoded.writeset.push(xxh64(xid.to_string().as_bytes(), 0));
    }

    /// It has done again, under its locks, what the log says of a first phase: from now on it is that transaction.
    ///
    /// # Errors
    /// When it did not stay in memory.
    pub fn adopt_prepared(&mut self, xid: &Xid) -> Result<()> {
        self.check_active()?;
        if self.writes.is_large() {
            return Err(too_large());
        }
        let mut encoded = EncodedTransaction::default();
        match writeset(&self.writes)? {
            Some(hashes) => encoded.writeset = hashes,
            None => encoded.depends_on_all = true,
        }
        self.depend(&mut encoded, xid);
        let EncodedTransaction { writeset, depends_on_all, .. } = encoded;
        self.prepared = Some(Prepared { xid: xid.clone(), in_log: true, writeset, depends_on_all });
        self.view = None;
        Ok(())
    }

    /// Which transaction it is the first phase of.
    pub fn prepared_as(&self) -> Option<&Xid> {
        self.prepared.as_ref().map(|prepared| &prepared.xid)
    }

    /// The second phase has its place: everybody who comes later sees what was committed. Its locks go when it is dropped. After an error
    /// nothing has happened, and it is still prepared.
    ///
    /// # Errors
    /// As those of [`Transaction::commit`].
    #[io::boxed]
    pub async fn enqueue_second_phase(&mut self, commits: bool) -> Result<Pending> {
        let Some(prepared) = self.prepared.as_ref() else {
            return Err(EngineError::Bug("a second phase without a first".to_owned()));
        };
        if !prepared.in_log {
            self.prepared = None;
            return Ok(Pending::nothing());
        }
        let core = self.core().clone();
        let mut encoded = self.second_phase(&core, prepared, commits)?;
        let xid = prepared.xid.clone();
        core.check_commits()?;
        let (cancel, most) = (&self.options.session.cancel, self.options.commit_wait_timeout);
        let passing = core.pass_gate(Passage::Transaction, cancel, most).await?;
        core.check_commits()?;
        core.wait_for_room(cancel).await?;
        let pipeline = core.commits.load_full().ok_or(EngineError::ServerReadOnly)?;
        let reservation = pipeline.reserve(encoded.max_size()).await?;
        let position = self.options.source_position.take();
        let mut payload = match commits {
            true => Payload::new(core.guard(), position),
            false => Payload::without_versions(position),
        };
        payload.xa = Some(XaPhase::End(xid));
        self.depend_on_others(pipeline.settings(), &mut encoded, &mut payload);
        install(&core, &self.writes, &payload).await;
        core.env.step().await;
        let ticket = pipeline.enqueue(encoded, reservation, payload);
        self.prepared = None;
        if commits {
            tell_rows(count_rows(self.writes.steps()));
        }
        core.env.step().await;
        Ok(Pending::new(ticket, passing))
    }

    fn second_phase(&self, core: &Core, prepared: &Prepared, commits: bool) -> Result<EncodedTransaction> {
        let xid = prepared.xid.clone();
        let statement = if commits { XaStatement::Commit(xid) } else { XaStatement::Rollback(xid) };
        let (context, position) = (context_of(core, &self.options), self.options.source_position.as_ref());
        let options = encoder_options(core, &self.options);
        let encoded = TransactionEncoder::ddl(&options, &context, &statement.to_string(), &[], position)?;
        Ok(EncodedTransaction {
            gtid: self.options.gtid,
            origin: self.options.origin,
            writeset: prepared.writeset.clone(),
            depends_on_all: prepared.depends_on_all,
            ..encoded
        })
    }
}

/// 1197: both phases of a transaction are kept in memory.
fn too_large() -> EngineError {
    let message = "XA PREPARE of a transaction that required more than 'binlog_cache_size' bytes of storage; increase this variable \
                   and try again";
    EngineError::Sql(SqlError::new(codes::TRANS_CACHE_FULL, message))
}
