//! LOAD DATA.
//!
//! ```text
//! LOAD DATA [LOW_PRIORITY | CONCURRENT] [FROM] [LOCAL] INFILE 'file' [REPLACE | IGNORE] INTO TABLE t
//!   [CHARACTER SET charset]
//!   [{FIELDS | COLUMNS} [TERMINATED BY 's'] [[OPTIONALLY] ENCLOSED BY 'c'] [ESCAPED BY 'c']]
//!   [LINES [STARTING BY 's'] [TERMINATED BY 's']]
//!   [IGNORE n {LINES | ROWS}] [(column | @variable, …)] [SET column = {expr | DEFAULT}, …]
//! ```

use crate::Token;

use super::Parsed;
use super::tokens::Tokens;
use super::unsupported;
use crate::ParseError;
use crate::statement::{FileFormat, LoadData, LoadDuplicates, LoadTarget, Statement};

pub(super) fn load(tokens: &mut Tokens<'_>) -> Parsed<Statement> {
    if !tokens.accept("LOAD DATA") {
        return unsupported::statement(tokens);
    }
    let _ = tokens.accept_one(&["LOW_PRIORITY", "CONCURRENT"]);
    let _ = tokens.accept("FROM");
    let local = tokens.accept("LOCAL");
    for source in ["URL", "S3"] {
        if tokens.next_are(source) {
            return Err(ParseError::not_supported(format!("LOAD DATA FROM {source}")));
        }
    }
    tokens.expect("INFILE")?;
    let file = tokens.string()?;
    for clause in ["COUNT", "IN PRIMARY KEY ORDER"] {
        refuse(tokens, clause)?;
    }
    let duplicates = match tokens.accept_one(&["REPLACE", "IGNORE"]) {
        None => LoadDuplicates::Error,
        Some("REPLACE") => LoadDuplicates::Replace,
        Some(_) => LoadDuplicates::Ignore,
    };
    tokens.expect("INTO TABLE")?;
    let table = tokens.table_name()?;
    refuse(tokens, "PARTITION")?;
    refuse(tokens, "COMPRESSION")?;
    let mut charset = None;
    if tokens.accept_one(&["CHARACTER SET", "CHAR SET", "CHARSET"]).is_some() {
        charset = Some(tokens.name_or_string()?);
    }
    let format = format(tokens)?;
    let mut skip_lines = 0;
    if tokens.accept("IGNORE") {
        skip_lines = tokens.number()?;
        tokens.expect_one(&["LINES", "ROWS"])?;
    }
    let targets = targets(tokens)?;
    let set = if tokens.accept("SET") { tokens.comma_list(|tokens| tokens.assignment())? } else { Vec::new() };
    for clause in ["PARALLEL", "MEMORY", "ALGORITHM"] {
        refuse(tokens, clause)?;
    }
    let load = LoadData { local, file, duplicates, table, charset, format, skip_lines, targets, set };
    Ok(Statement::Load(Box::new(load)))
}

fn refuse(tokens: &Tokens<'_>, clause: &str) -> Parsed<()> {
    match tokens.next_are(clause) {
        true => Err(ParseError::not_supported(format!("LOAD DATA … {clause}"))),
        false => Ok(()),
    }
}

/// FIELDS and LINES, as of a file that is read or written.
pub(super) fn format(tokens: &mut Tokens<'_>) -> Parsed<FileFormat> {
    let mut format = FileFormat::default();
    if tokens.accept_one(&["FIELDS", "COLUMNS"]).is_some() {
        let options = ["TERMINATED BY", "OPTIONALLY ENCLOSED BY", "ENCLOSED BY", "ESCAPED BY"];
        let mut option = Some(tokens.expect_one(&options)?);
        while let Some(words) = option {
            let text = tokens.text_string()?.into_bytes();
            match words {
                "TERMINATED BY" => format.field_end = text,
                "ESCAPED BY" => format.escaped = Some(text),
                _ => {
                    format.enclosed = text;
                    format.optionally = words == "OPTIONALLY ENCLOSED BY";
                }
            }
            option = tokens.accept_one(&options);
        }
    }
    if tokens.accept("LINES") {
        let options = ["TERMINATED BY", "STARTING BY"];
        let mut option = Some(tokens.expect_one(&options)?);
        while let Some(words) = option {
            let text = tokens.text_string()?.into_bytes();
            match words {
                "STARTING BY" => format.line_start = text,
                _ => format.line_end = text,
            }
            option = tokens.accept_one(&options);
        }
    }
    Ok(format)
}

fn targets(tokens: &mut Tokens<'_>) -> Parsed<Option<Vec<LoadTarget>>> {
    if !tokens.accept_token(&Token::LParen) {
        return Ok(None);
    }
    if tokens.accept_token(&Token::RParen) {
        return Ok(None);
    }
    let targets = tokens.comma_list(|tokens| match tokens.accept_variable() {
        Some(name) => Ok(LoadTarget::Variable(name)),
        None => Ok(LoadTarget::Column(tokens.column_path()?)),
    })?;
    tokens.expect_token(&Token::RParen)?;
    Ok(Some(targets))
}
