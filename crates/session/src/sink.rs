//! Rows on their way to a client: encoded as they come, sent whenever enough of them wait.

use base::{SqlError, codes, memory};
use bytes::Bytes;
use io::BoxFuture;
use sql::{FieldFlags, ResultColumn, ResultSink};
use types::Value;
use types::charset::Charset;
use wire::column::Column;
use wire::flags::{COLLATION_BINARY, capability};
use wire::row::{self, Field};
use wire::{codec::Put, reply};

use crate::link::Link;
use crate::local_file::LocalFile;

/// How the rows of a result set are encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// `COM_QUERY`
    Text,
    /// `COM_STMT_EXECUTE`
    Binary,
}

/// With more than this waiting, the producer is asked to let it be sent.
const FLUSH_BYTES: usize = 16 << 10;

/// Takes the rows of one statement.
pub(crate) struct ReplySink<'a> {
    link: &'a mut Link,
    encoding: Encoding,
    /// `character_set_results`; `None` for "as they are".
    charset: Option<&'static str>,
    /// The session's status when the statement began.
    status: u16,
    fields: Vec<Field>,
    /// In which character set each column's text goes out; empty if all of it is as it is here.
    charsets: Vec<Charset>,
    began: bool,
    /// Of LOAD DATA LOCAL.
    file: LocalFile,
}

impl<'a> ReplySink<'a> {
    pub(crate) fn new(link: &'a mut Link, encoding: Encoding, charset: Option<&'static str>, status: u16) -> Self {
        let (fields, charsets, file) = (Vec::new(), Vec::new(), LocalFile::None);
        ReplySink { link, encoding, charset, status, fields, charsets, began: false, file }
    }

    /// For rows that follow those of an earlier answer, whose columns the client knows.
    pub(crate) fn resume(link: &'a mut Link, columns: &[ResultColumn], charset: Option<&'static str>) -> Self {
        let mut sink = ReplySink::new(link, Encoding::Binary, charset, 0);
        sink.set_columns(columns);
        sink.began = true;
        sink
    }

    /// Whether there was a result set.
    pub(crate) fn began(&self) -> bool {
        self.began
    }

    /// What became of a file that the statement asked for.
    pub(crate) fn into_file(self) -> LocalFile {
        self.file
    }

    fn set_columns(&mut self, columns: &[ResultColumn]) {
        self.fields = columns.iter().map(field).collect();
        let is_other = |charset: &Charset| matches!(charset, Charset::Single(_));
        let own = columns.iter().map(|column| column.collation.charset());
        self.charsets = match self.charset.and_then(Charset::by_name) {
            Some(charset @ Charset::Single(_)) => vec![charset; columns.len()],
            Some(Charset::Utf8Mb4) => Vec::new(),
            // As it is in each column's own character set.
            None | Some(Charset::Binary) => own.collect(),
        };
        if !self.charsets.iter().any(is_other) {
            self.charsets.clear();
        }
    }
}

impl ResultSink for ReplySink<'_> {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), SqlError> {
        self.began = true;
        self.set_columns(columns);
        self.link.writer.packet(|out| out.put_lenenc(columns.len() as u64));
        write_columns(self.link, columns, self.charset);
        if self.link.capabilities & capability::DEPRECATE_EOF == 0 {
            reply::write_eof(&mut self.link.writer, 0, self.status);
        }
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        // Values share their bytes with each other and with variables; in a packet each has its own.
        let bytes = Value::bytes_of(row);
        if bytes > self.link.reader.limit() {
            let message = "Got a packet bigger than 'max_allowed_packet' bytes";
            return Err(SqlError::new(codes::NET_PACKET_TOO_LARGE, message));
        }
        memory::check_more(bytes as u64)?;
        let converted: Vec<Value>;
        let row = if self.charsets.is_empty() {
            row
        } else {
            converted = row.iter().zip(&self.charsets).map(|(value, charset)| in_charset(value, *charset)).collect();
            &converted
        };
        match self.encoding {
            Encoding::Text => self.link.writer.packet(|out| row::encode_text(out, &self.fields, row)),
            Encoding::Binary => {
                self.link.writer.try_packet(|out| row::encode_binary(out, &self.fields, row)).map_err(|_| misfit())?;
            }
        }
        Ok(())
    }

    fn needs_flush(&self) -> bool {
        self.link.writer.len() >= FLUSH_BYTES
    }

    fn has_files(&self) -> bool {
        self.encoding == Encoding::Text && self.link.capabilities & capability::LOCAL_FILES != 0
    }

    fn ask_for_file<'a>(&'a mut self, name: &'a str) -> BoxFuture<'a, Result<(), SqlError>> {
        let name = names_charset(self.charset).encode_lossy(name.as_bytes());
        Box::pin(async move { self.file.ask(self.link, &name).await })
    }

    fn next_of_file(&mut self) -> BoxFuture<'_, Result<Bytes, SqlError>> {
        Box::pin(self.file.next(self.link))
    }

    fn flush(&mut self) -> BoxFuture<'_, Result<(), SqlError>> {
        Box::pin(async { self.link.send().await.map_err(SqlError::from) })
    }
}

fn misfit() -> SqlError {
    SqlError::new(codes::INTERNAL_ERROR, "Internal error: a value is not of its column's type")
}

fn field(column: &ResultColumn) -> Field {
    let zerofill = column.flags.has(FieldFlags::ZEROFILL);
    Field { ty: column.ty as u8, decimals: column.decimals, length: column.length, zerofill }
}

/// Characters that it does not have become `?`, as in MySQL.
fn in_charset(value: &Value, charset: Charset) -> Value {
    match value {
        Value::Str(text) => Value::Str(charset.encode_shared(text)),
        // A document is text too. As it is here it is no other character set's.
        Value::Json(_) if charset != Charset::Binary => {
            let mut text = Vec::new();
            value.write_text(types::value::NOT_FIXED, &mut text);
            Value::Str(charset.encode_shared(&text.into()))
        }
        other => other.clone(),
    }
}

/// The character set of names and messages, by that of results: UTF-8 is what they are in here.
pub(crate) fn names_charset(charset: Option<&str>) -> Charset {
    charset.and_then(Charset::by_name).unwrap_or(Charset::Utf8Mb4)
}

/// Writes column definitions, as they follow a column count or the answer to PREPARE.
pub(crate) fn write_columns(link: &mut Link, columns: &[ResultColumn], charset: Option<&'static str>) {
    let names = names_charset(charset);
    for column in columns {
        link.writer.packet(|out| definition(column, charset).encode(out, names));
    }
}

/// The definition as clients get it: text is in the character set of results, whatever the column's own is.
pub(crate) fn definition<'a>(column: &'a ResultColumn, charset: Option<&'static str>) -> Column<'a> {
    let collation = match (column.collation.0, charset) {
        (COLLATION_BINARY, _) | (_, Some("binary")) => COLLATION_BINARY,
        (_, Some("utf8mb4")) => wire::flags::COLLATION_UTF8MB4_0900_AI_CI,
        (_, Some("utf8mb3" | "utf8")) => wire::flags::COLLATION_UTF8MB3_GENERAL_CI,
        (own, name) => match name.and_then(Charset::by_name) {
            Some(charset @ Charset::Single(_)) => charset.default_collation().0,
            _ => own,
        },
    };
    Column {
        schema: &column.schema,
        table: &column.table,
        org_table: &column.org_table,
        name: &column.name,
        org_name: &column.org_name,
        collation,
        length: column.length,
        ty: column.ty as u8,
        flags: column.flags.0,
        decimals: column.decimals,
    }
}
