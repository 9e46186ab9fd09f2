//! Distributed transactions: XA_PREPARE, the end of the first phase, and the statements around it.
//!
//! ```text
//! XA_PREPARE   | one phase u8 | format id u32 | length of gtrid u32 | length of bqual u32 | gtrid, bqual |
//!
//! GTID, QUERY 'XA START xid', rows …, QUERY 'XA END xid', XA_PREPARE      the first phase, in place of BEGIN … XID
//! GTID, QUERY 'XA COMMIT xid'                                              the second, any time later; or 'XA ROLLBACK xid'
//! ```
//! In MariaDB's logs the GTID event says the `XA START`.

use crate::cursor::Cursor;
use crate::error::DecodeError;

/// Name of a distributed transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Xid {
    /// 1 if the client did not say.
    pub format_id: u32,
    /// Global transaction id; at most 64 bytes.
    pub gtrid: Vec<u8>,
    /// Branch qualifier; at most 64 bytes.
    pub bqual: Vec<u8>,
}

impl std::fmt::Display for Xid {
    /// As in statements: `X'6774',X'62',1`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for part in [&self.gtrid, &self.bqual] {
            f.write_str("X'")?;
            part.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            f.write_str("',")?;
        }
        write!(f, "{}", self.format_id)
    }
}

impl std::str::FromStr for Xid {
    type Err = DecodeError;

    /// `X'6774',X'62',1`, as servers write it.
    fn from_str(text: &str) -> Result<Self, DecodeError> {
        let hex = |part: &str| -> Option<Vec<u8>> {
            let digits = part.trim().strip_prefix(['X', 'x'])?.strip_prefix('\'')?.strip_suffix('\'')?;
            let pairs = digits.as_bytes().chunks(2);
            pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
        };
        let mut parts = text.trim().split(',');
        let mut xid = || {
            let (gtrid, bqual) = (hex(parts.next()?)?, hex(parts.next()?)?);
            let format_id = parts.next()?.trim().parse().ok()?;
            parts.next().is_none().then_some(Xid { format_id, gtrid, bqual })
        };
        xid().ok_or_else(|| DecodeError::new(format!("'{text}' is no XID")))
    }
}

/// What a QUERY of a log says of a distributed transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum XaStatement {
    /// `XA START`
    Start(Xid),
    /// `XA END`
    End(Xid),
    /// `XA COMMIT` of one that is prepared.
    Commit(Xid),
    /// `XA ROLLBACK` of one that is prepared.
    Rollback(Xid),
}

impl XaStatement {
    /// Of the text of a QUERY; `None` if it is another statement.
    ///
    /// # Errors
    /// When it has no XID as servers write it.
    pub fn of(sql: &[u8]) -> Result<Option<Self>, DecodeError> {
        let Some(rest) = sql.strip_prefix(b"XA ") else { return Ok(None) };
        let text = std::str::from_utf8(rest).map_err(|_| DecodeError::new("an XID that is no text"))?;
        let Some((word, xid)) = text.split_once(' ') else { return Ok(None) };
        Ok(Some(match word {
            "START" => XaStatement::Start(xid.parse()?),
            "END" => XaStatement::End(xid.parse()?),
            "COMMIT" => XaStatement::Commit(xid.parse()?),
            "ROLLBACK" => XaStatement::Rollback(xid.parse()?),
            _ => return Ok(None),
        }))
    }
}

impl std::fmt::Display for XaStatement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (word, xid) = match self {
            XaStatement::Start(xid) => ("START", xid),
            XaStatement::End(xid) => ("END", xid),
            XaStatement::Commit(xid) => ("COMMIT", xid),
            XaStatement::Rollback(xid) => ("ROLLBACK", xid),
        };
        write!(f, "XA {word} {xid}")
    }
}

/// XA_PREPARE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XaPrepare {
    /// `XA COMMIT … ONE PHASE`: committed, not only prepared.
    pub one_phase: bool,
    /// Which transaction.
    pub xid: Xid,
}

impl XaPrepare {
    /// Reads the body.
    pub fn decode(body: &[u8]) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(body, "XA_PREPARE");
        let (one_phase, format_id) = (cursor.u8()? != 0, cursor.u32()?);
        let (gtrid, bqual) = (cursor.u32()? as usize, cursor.u32()? as usize);
        let xid = Xid { format_id, gtrid: cursor.take(gtrid)?.to_vec(), bqual: cursor.take(bqual)?.to_vec() };
        Ok(XaPrepare { one_phase, xid })
    }

    /// Appends the body.
    pub fn encode_body(&self, out: &mut Vec<u8>) {
        out.push(self.one_phase.into());
        out.extend_from_slice(&self.xid.format_id.to_le_bytes());
        out.extend_from_slice(&(self.xid.gtrid.len() as u32).to_le_bytes());
        out.extend_from_slice(&(self.xid.bqual.len() as u32).to_le_bytes());
        out.extend_from_slice(&self.xid.gtrid);
        out.extend_from_slice(&self.xid.bqual);
    }
}
