//! Distributed transactions in the log: their rows are in the first phase, and become versions with the second.
//!
//! The coordinator meets both in the log's order, so it knows for each second phase where the first is, and hands out the second with the rows of the
//! first. The first itself only counts: it has a commit number that no version has.

use std::collections::HashMap;

use base::{CommitNumber, LogPosition};
use binlog::event::{QueryEvent, XaPrepare, XaStatement, Xid};
use binlog::{DecodeError, EventType, LogTransaction, SourcePosition};
use engine::{Engine, XaStep};

use crate::error::{ApplyError, Result};

/// A transaction of the log, and where its rows are.
pub(crate) struct Taken {
    pub(crate) transaction: LogTransaction,
    pub(crate) rows: RowsOf,
}

/// Where the rows of a transaction are.
pub(crate) enum RowsOf {
    /// In it.
    Itself,
    /// It has none.
    Nothing,
    /// It is a second phase.
    FirstPhase(Box<LogTransaction>),
}

impl Taken {
    /// With its own rows.
    pub(crate) fn of(transaction: LogTransaction) -> Self {
        Taken { transaction, rows: RowsOf::Itself }
    }

    /// The transaction of which the rows are.
    pub(crate) fn source(&self) -> Option<&LogTransaction> {
        match &self.rows {
            RowsOf::Itself => Some(&self.transaction),
            RowsOf::Nothing => None,
            RowsOf::FirstPhase(group) => Some(group),
        }
    }
}

/// What a transaction is, if it is a phase of a distributed one.
struct Phase {
    step: Step,
    /// Where it ends in the log of its source.
    position: Option<SourcePosition>,
}

enum Step {
    Prepare(Xid),
    Commit(Xid),
    Rollback(Xid),
}

/// First phases without a second, up to where the log is read.
#[derive(Default)]
pub(crate) struct FirstPhases(HashMap<Xid, LogPosition>);

impl FirstPhases {
    /// Those of the state from which reading begins.
    pub(crate) fn of(engine: &Engine) -> Self {
        FirstPhases(engine.prepared_transactions().into_iter().collect())
    }

    /// Takes the next transaction, which will have this number.
    pub(crate) async fn take(
        &mut self,
        engine: &Engine,
        number: CommitNumber,
        transaction: LogTransaction,
    ) -> Result<Taken> {
        let at = transaction.start;
        let phase = phase_of(&transaction).map_err(|error| ApplyError::Event { at, reason: error.to_string() })?;
        let Some(Phase { step, position }) = phase else { return Ok(Taken::of(transaction)) };
        if let Some(position) = position {
            engine.install_source_position(number, position);
        }
        let (xid, commits) = match step {
            Step::Prepare(xid) => {
                engine.install_xa(number, XaStep::Prepared(xid.clone(), at));
                self.0.insert(xid, at);
                return Ok(Taken { transaction, rows: RowsOf::Nothing });
            }
            Step::Commit(xid) => (xid, true),
            Step::Rollback(xid) => (xid, false),
        };
        let start = self.0.remove(&xid).ok_or_else(|| {
            let reason = format!("the second phase of the transaction {xid}, which is not prepared");
            ApplyError::Drifted { at, reason }
        })?;
        engine.install_xa(number, XaStep::Ended(xid));
        if !commits {
            return Ok(Taken { transaction, rows: RowsOf::Nothing });
        }
        let group = engine.log().reader(start).without_verification().next_transaction().await;
        let group = group.map_err(|error| ApplyError::reading(start, error))?;
        let missing = || ApplyError::Event { at: start, reason: "a first phase that is not whole".to_owned() };
        Ok(Taken { transaction, rows: RowsOf::FirstPhase(Box::new(group.ok_or_else(missing)?)) })
    }
}

fn phase_of(transaction: &LogTransaction) -> std::result::Result<Option<Phase>, DecodeError> {
    if transaction.gtid_event.as_ref().is_some_and(|event| !event.may_have_statements) {
        return Ok(None);
    }
    let mut position = None;
    let mut step = None;
    for event in transaction.events() {
        let event = event?;
        match event.header.event_type {
            EventType::IGNORABLE => position = SourcePosition::decode(event.body())?.or(position),
            EventType::XA_PREPARE => {
                event.verify()?;
                let XaPrepare { one_phase, xid } = XaPrepare::decode(event.body())?;
                step = (!one_phase).then_some(Step::Prepare(xid));
            }
            EventType::QUERY => match XaStatement::of(QueryEvent::decode(event.body())?.sql)? {
                Some(XaStatement::Commit(xid)) => step = Some(Step::Commit(xid)),
                Some(XaStatement::Rollback(xid)) => step = Some(Step::Rollback(xid)),
                Some(XaStatement::Start(_) | XaStatement::End(_)) => {}
                // It is a definition, or has rows of its own.
                None => return Ok(None),
            },
            _ => {}
        }
    }
    Ok(step.map(|step| Phase { step, position }))
}
