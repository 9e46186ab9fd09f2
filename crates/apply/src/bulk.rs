//! A batch that is installed as a whole: a worker's way where nobody reads yet.

use base::{CommitNumber, LogPosition};
use binlog::event::RowsKind;
use binlog::{DecodeError, LogBatch};
use bytes::Bytes;
use engine::{BulkWrites, PublishPoint};

use crate::decode::TableRows;
use crate::error::{ApplyError, Result};
use crate::worker::{Batch, Worker, points_of, publish_before_waiting};
use crate::xa::Taken;

impl Worker<'_> {
    /// Installs all transactions of a batch with one step. From the first one with minimal images on, which are completed from
    /// rows that have to be readable, they are installed one by one.
    pub(crate) async fn install_bulk(&mut self, batch: &Batch, content: &LogBatch) -> Result<()> {
        self.writes.begin(batch.first);
        let mut points = Vec::with_capacity(content.transactions());
        let mut transactions = content.iter();
        let mut rows = Vec::new();
        let mut rest = Vec::new();
        for transaction in transactions.by_ref() {
            rows.clear();
            self.decoder.rows_of(transaction.start, transaction.events(), &mut rows)?;
            if !rows.iter().all(|(event, _)| event.is_full()) {
                rest.push(transaction);
                break;
            }
            let commit_number = CommitNumber(batch.first.0 + points.len() as u64);
            self.decoder.keep_source_position(&self.shared.engine, commit_number);
            add_rows(&mut self.writes, commit_number, (transaction.start, content.memory()), &rows)?;
            let gtid = transaction.head().map_err(|reason| bad(transaction.start, reason))?.gtid;
            points.push(PublishPoint { commit_number, end: transaction.end, gtid });
        }
        rest.extend(transactions);
        let rest = rest.iter().map(|slice| content.transaction(slice).map_err(|reason| bad(slice.start, reason)));
        let rest: Vec<Taken> = rest.map(|transaction| transaction.map(Taken::of)).collect::<Result<_>>()?;
        let (in_bulk, next) = (points.len(), CommitNumber(batch.first.0 + points.len() as u64));
        points.extend(points_of(next, &rest));
        batch.progress.set_points(points);
        let writes = &mut self.writes;
        publish_before_waiting(self.shared, content.start(), self.shared.engine.install_bulk(writes)).await?;
        batch.progress.installed_more(in_bulk);
        self.shared.gate.advance();
        let compacted = self.shared.engine.compact_bulk();
        compacted.map_err(|error| ApplyError::Engine { at: content.start(), error })?;
        if rest.is_empty() { Ok(()) } else { self.install_each(batch, next, &rest).await }
    }
}

fn bad(at: LogPosition, reason: DecodeError) -> ApplyError {
    ApplyError::Event { at, reason: reason.to_string() }
}

/// Adds the rows of the transaction that begins at `at`, of which `memory` holds the bytes.
fn add_rows(
    writes: &mut BulkWrites,
    number: CommitNumber,
    (at, memory): (LogPosition, &Bytes),
    rows: &[TableRows<'_>],
) -> Result<()> {
    for (event, mapped) in rows {
        for images in event.images(&mapped.map) {
            let (before, after) = images.map_err(|reason| bad(at, reason))?;
            let before = (event.kind != RowsKind::Write).then_some(before);
            let after = (event.kind != RowsKind::Delete).then(|| memory.slice_ref(after));
            let added = writes.add(number, &mapped.table, before, after.as_ref());
            added.map_err(|error| ApplyError::Engine { at, error })?;
        }
    }
    Ok(())
}
