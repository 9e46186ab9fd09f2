//! LOAD DATA.

use crate::ast as sql;

use super::TableName;

/// LOAD DATA. (LOW_PRIORITY and CONCURRENT mean nothing here and are dropped.)
#[derive(Clone, Debug, PartialEq)]
pub struct LoadData {
    /// The file is the client's.
    pub local: bool,
    /// Its name, as written.
    pub file: String,
    /// What becomes of rows whose keys are there.
    pub duplicates: LoadDuplicates,
    /// The table.
    pub table: TableName,
    /// The file's character set, if it was named.
    pub charset: Option<String>,
    /// How fields and lines look.
    pub format: FileFormat,
    /// IGNORE n LINES.
    pub skip_lines: u64,
    /// Where fields go, in the file's order; `None` for all columns of the table.
    pub targets: Option<Vec<LoadTarget>>,
    /// SET: columns by name, with what they get.
    pub set: Vec<sql::Assignment>,
}

/// What LOAD DATA does with a row whose key is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadDuplicates {
    /// Nothing was said.
    Error,
    /// IGNORE.
    Ignore,
    /// REPLACE.
    Replace,
}

/// Where a field goes.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadTarget {
    /// A column.
    Column(sql::ColumnPath),
    /// A user variable, without `@`.
    Variable(String),
}

/// FIELDS and LINES.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFormat {
    /// FIELDS TERMINATED BY.
    pub field_end: Vec<u8>,
    /// ENCLOSED BY.
    pub enclosed: Vec<u8>,
    /// OPTIONALLY ENCLOSED BY: of no consequence for reading.
    pub optionally: bool,
    /// ESCAPED BY; `None` for what `sql_mode` says.
    pub escaped: Option<Vec<u8>>,
    /// LINES STARTING BY.
    pub line_start: Vec<u8>,
    /// LINES TERMINATED BY.
    pub line_end: Vec<u8>,
}

impl Default for FileFormat {
    fn default() -> Self {
        FileFormat {
            field_end: b"\t".to_vec(),
            enclosed: Vec::new(),
            optionally: false,
            escaped: None,
            line_start: Vec::new(),
            line_end: b"\n".to_vec(),
        }
    }
}
