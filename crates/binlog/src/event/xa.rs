//! XA_PREPARE: the end of the first phase of a distributed transaction.
//!
//! ```text
//! | one phase u8 | format id u32 | length of gtrid u32 | length of bqual u32 | gtrid, bqual |
//! ```

use crate::cursor::Cursor;
use crate::error::DecodeError;

/// Name of a distributed transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
