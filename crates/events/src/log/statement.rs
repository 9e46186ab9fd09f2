//! Statements of a log.

use std::borrow::Cow;

use binlog::event::{CompressedBlock, CompressedQuery, ExecuteLoadQuery, QueryEvent};

use super::INFLATED_SIZE_MAX;
use super::transaction::Counter;
use crate::error::EventError;
use crate::event::*;

/// QUERY, MariaDB's QUERY_COMPRESSED, or EXECUTE_LOAD_QUERY.
pub(super) struct LogStatement<'e> {
    query: QueryEvent<'e>,
    block: Option<CompressedBlock<'e>>,
    file: Option<LoadedFile>,
    counter: &'e Counter,
}

impl<'e> LogStatement<'e> {
    pub(super) fn decode(event_type: EventType, body: &'e [u8], counter: &'e Counter) -> Result<Self, EventError> {
        let (query, block, file) = match event_type {
            EventType::MARIA_QUERY_COMPRESSED => {
                let query = CompressedQuery::decode(body)?;
                (query.head, Some(query.block), None)
            }
            EventType::EXECUTE_LOAD_QUERY => {
                let ExecuteLoadQuery { query, file_id, name_start, name_end, duplicates } =
                    ExecuteLoadQuery::decode(body)?;
                (query, None, Some(LoadedFile { file_id, name_start, name_end, duplicates }))
            }
            _ => (QueryEvent::decode(body)?, None, None),
        };
        Ok(LogStatement { query, block, file, counter })
    }
}

impl Statement for LogStatement<'_> {
    fn sql(&self) -> Maybe<Cow<'_, [u8]>> {
        let Some(block) = &self.block else { return Ok(Some(Cow::Borrowed(self.query.sql))) };
        self.counter.count(|counts| counts.inflated += 1);
        Ok(Some(Cow::Owned(block.inflate(INFLATED_SIZE_MAX)?)))
    }

    fn database(&self) -> Maybe<&[u8]> {
        Ok(Some(self.query.schema))
    }

    fn context(&self) -> Maybe<Vec<StatusVar<'_>>> {
        Ok(Some(StatusVar::decode_all(self.query.status)))
    }

    fn thread_id(&self) -> Maybe<u32> {
        Ok(Some(self.query.thread_id))
    }

    fn exec_time(&self) -> Maybe<u32> {
        Ok(Some(self.query.exec_time))
    }

    fn error_code(&self) -> Maybe<u16> {
        Ok(Some(self.query.error_code))
    }

    fn file(&self) -> Maybe<LoadedFile> {
        Ok(self.file)
    }

    fn is_compressed(&self) -> bool {
        self.block.is_some()
    }
}
