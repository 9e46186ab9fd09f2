//! The judge: the log, replayed into maps.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Gtid, LogPosition};
use binlog::event::{QueryEvent, RowsEvent, RowsKind, TableMap, XaStatement, Xid};
use binlog::{BinaryLog, EventType, LogTransaction};
use bytes::Bytes;
use types::RowLayout;

use crate::tables::{CELLS, LEDGER, numbers};

/// What the tables hold at one commit number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// Ids of the transactions that wrote themselves down.
    pub(crate) ledger: BTreeMap<u64, ()>,
    /// By cell: writer, and the unique column.
    pub(crate) cells: BTreeMap<u64, (u64, Option<u64>)>,
}

/// The history that a log tells.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// State after each transaction; the first is the empty one, so the index is the commit number.
    pub(crate) states: Vec<State>,
    /// Where each transaction ends in the log; as `states`, with the beginning first.
    pub(crate) ends: Vec<LogPosition>,
    /// All that have one, definitions too, in the order of the log.
    pub(crate) gtids: Vec<Gtid>,
    /// Commit number of each transaction in the ledger.
    pub(crate) numbers: BTreeMap<u64, u64>,
    /// First phases that have no second.
    pub(crate) prepared: BTreeMap<Xid, LogTransaction>,
    /// All that ever were prepared.
    pub(crate) ever_prepared: Vec<Xid>,
}

impl History {
    /// Reads the whole log.
    pub(crate) async fn read(log: &Arc<BinaryLog>) -> Result<History, String> {
        let mut history =
            History { states: vec![State::default()], ends: vec![LogPosition::default()], ..History::default() };
        let first = log.files().first().map_or(1, |file| file.number);
        let mut reader = log.reader(LogPosition::new(first, 4));
        while let Some(transaction) = reader.next_transaction().await.map_err(|error| format!("the log: {error}"))? {
            let mut state = history.states.last().cloned().unwrap_or_default();
            let number = history.states.len() as u64;
            let before = state.ledger.len();
            match phase_of(&transaction)? {
                Phase::All => replay(&transaction, &mut state)?,
                Phase::First(xid) => {
                    history.ever_prepared.push(xid.clone());
                    history.prepared.insert(xid, transaction.clone());
                }
                Phase::Second(xid, commits) => {
                    let first = history.prepared.remove(&xid).ok_or("a second phase without a first")?;
                    if commits {
                        replay(&first, &mut state)?;
                    }
                }
            }
            if state.ledger.len() > before {
                let new = state.ledger.keys().find(|id| !history.numbers.contains_key(id));
                history.numbers.insert(*new.ok_or("a ledger row twice")?, number);
            }
            history.gtids.extend(transaction.gtid());
            history.states.push(state);
            history.ends.push(transaction.end);
        }
        Ok(history)
    }

    /// The state at a position: after all transactions that end at or before it.
    pub(crate) fn at(&self, position: LogPosition) -> &State {
        let behind = self.ends.partition_point(|end| *end <= position);
        &self.states[behind.max(1) - 1]
    }

    /// The state at the end.
    pub(crate) fn last(&self) -> &State {
        self.states.last().expect("there is always the empty state")
    }
}

/// What a transaction of the log is of a distributed one.
enum Phase {
    /// Nothing: it is one by itself.
    All,
    First(Xid),
    /// With it, the rows of the first count, or never will.
    Second(Xid, bool),
}

fn phase_of(transaction: &LogTransaction) -> Result<Phase, String> {
    for event in transaction.events() {
        let event = event.map_err(|error| error.to_string())?;
        if event.header.event_type != EventType::QUERY {
            continue;
        }
        let query = QueryEvent::decode(event.body()).map_err(|error| error.to_string())?;
        return Ok(match XaStatement::of(query.sql).map_err(|error| error.to_string())? {
            Some(XaStatement::Start(xid)) => Phase::First(xid),
            Some(XaStatement::Commit(xid)) => Phase::Second(xid, true),
            Some(XaStatement::Rollback(xid)) => Phase::Second(xid, false),
            _ => Phase::All,
        });
    }
    Ok(Phase::All)
}

fn replay(transaction: &LogTransaction, state: &mut State) -> Result<(), String> {
    let mut maps: BTreeMap<u64, TableMap> = BTreeMap::new();
    for event in transaction.events() {
        let event = event.map_err(|error| format!("event at {}: {error}", transaction.start))?;
        let event_type = event.header.event_type;
        if event_type == EventType::TABLE_MAP {
            let map = TableMap::decode(event.body()).map_err(|error| error.to_string())?;
            maps.insert(map.table_id, map);
        } else if RowsKind::of(event_type).is_some() {
            let rows = RowsEvent::decode(event_type, event.body()).map_err(|error| error.to_string())?;
            let map = maps.get(&rows.table_id).ok_or("rows without their map")?;
            for images in rows.images(map) {
                let (before, after) = images.map_err(|error| error.to_string())?;
                change(&map.table, before, after, state)?;
            }
        }
    }
    Ok(())
}

fn change(table: &str, before: &[u8], after: &[u8], state: &mut State) -> Result<(), String> {
    let definition = crate::tables::definition(table);
    let layout = RowLayout::new(&definition);
    let read = |image: &[u8]| (!image.is_empty()).then(|| numbers(&layout, &Bytes::copy_from_slice(image)));
    let (before, after) = (read(before), read(after));
    let key = |row: &Vec<Option<u64>>| row[0].ok_or_else(|| "a key that is NULL".to_owned());
    match table {
        LEDGER => {
            if let Some(row) = &before {
                state.ledger.remove(&key(row)?);
            }
            if let Some(row) = &after {
                state.ledger.insert(key(row)?, ());
            }
        }
        CELLS => {
            if let Some(row) = &before {
                let found = state.cells.remove(&key(row)?);
                if found != Some((row[1].unwrap_or_default(), row[2])) {
                    return Err(format!("the log changes a cell that was {found:?} as if it were {row:?}"));
                }
            }
            if let Some(row) = &after {
                state.cells.insert(key(row)?, (row[1].unwrap_or_default(), row[2]));
            }
        }
        other => return Err(format!("rows of an unknown table {other}")),
    }
    Ok(())
}
