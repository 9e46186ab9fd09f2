//! MariaDB's GTIDs (`domain-server-number`) as ours (`uuid:number`) and back, one to one.
//!
//! ```text
//! 4d617269-6144-4200-DDDD-DDDDSSSSSSSS : number          "MariaDB", NUL; domain; server id
//! ```
//! So a log of ours keeps the GTIDs of a MariaDB source, MySQL's replicas take them as they take any, and MariaDB's get their own
//! names back. MariaDB's numbers ascend within a domain whichever server they are born on, so a domain's position is its highest number.

use std::fmt;
use std::str::FromStr;

use base::{Gtid, ParseGtidError, Uuid};

use crate::gtid_set::{GtidSet, OWN_GNO_MAX};

/// The first half of the UUIDs.
const PREFIX: [u8; 8] = *b"MariaDB\0";

/// `domain-server-number`
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MariaGtidName {
    /// `gtid_domain_id`
    pub domain_id: u32,
    /// `server_id` of the server where it was born.
    pub server_id: u32,
    /// From 1. MariaDB has all of 64 bits; what is to be a GTID of ours has [`OWN_GNO_MAX`] at most, behind which a domain goes on here.
    pub seq_no: u64,
}

impl fmt::Display for MariaGtidName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.domain_id, self.server_id, self.seq_no)
    }
}

impl FromStr for MariaGtidName {
    type Err = ParseGtidError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.trim().split('-');
        let mut part = || parts.next().ok_or(ParseGtidError);
        let (domain_id, server_id, seq_no) = (part()?, part()?, part()?);
        let name = MariaGtidName {
            domain_id: domain_id.parse().map_err(|_| ParseGtidError)?,
            server_id: server_id.parse().map_err(|_| ParseGtidError)?,
            seq_no: seq_no.parse().map_err(|_| ParseGtidError)?,
        };
        if parts.next().is_none() && name.seq_no > 0 { Ok(name) } else { Err(ParseGtidError) }
    }
}

impl MariaGtidName {
    /// The UUID that stands for its domain and server.
    pub fn uuid(self) -> Uuid {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&PREFIX);
        bytes[8..12].copy_from_slice(&self.domain_id.to_be_bytes());
        bytes[12..].copy_from_slice(&self.server_id.to_be_bytes());
        Uuid(bytes)
    }

    /// The highest number of a domain in a set; 0 if it has none.
    pub(crate) fn last_of(set: &GtidSet, domain_id: u32) -> u64 {
        let uuid = |server_id| MariaGtidName { domain_id, server_id, seq_no: 0 }.uuid();
        set.last_between(uuid(0), uuid(u32::MAX))
    }

    /// Whether a GTID of ours can have its number.
    pub fn has_room(self) -> bool {
        self.seq_no <= OWN_GNO_MAX
    }

    /// As a GTID of ours.
    pub fn gtid(self) -> Gtid {
        Gtid::new(self.uuid(), self.seq_no)
    }

    /// What a GTID of ours stands for; `None` if it is none of MariaDB's.
    pub fn of(gtid: Gtid) -> Option<Self> {
        let (prefix, rest) = gtid.uuid.0.split_first_chunk::<8>()?;
        let (domain, server) = rest.split_first_chunk::<4>()?;
        let server: [u8; 4] = server.try_into().ok()?;
        (*prefix == PREFIX && gtid.tag.is_none()).then(|| MariaGtidName {
            domain_id: u32::from_be_bytes(*domain),
            server_id: u32::from_be_bytes(server),
            seq_no: gtid.gno,
        })
    }

    /// Several with commas between them; an empty text is none.
    ///
    /// # Errors
    /// When one of them is none.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, ParseGtidError> {
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::parse).collect()
    }

    /// The last one of each domain in a set, by domain: what MariaDB calls a position.
    pub fn position(set: &GtidSet) -> Vec<Self> {
        let mut last: Vec<Self> = Vec::new();
        for (uuid, _, gno) in set.ranges() {
            let Some(name) = Self::of(Gtid::new(uuid, gno)) else { continue };
            match last.iter_mut().find(|known| known.domain_id == name.domain_id) {
                Some(known) if known.seq_no < name.seq_no => *known = name,
                Some(_) => {}
                None => last.push(name),
            }
        }
        last.sort_unstable();
        last
    }

    /// A position as text, `0-1-17,2-1-4`.
    pub fn position_text(set: &GtidSet) -> String {
        let names: Vec<String> = Self::position(set).iter().map(ToString::to_string).collect();
        names.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let name: MariaGtidName = "4294967295-7-9007199254740993".parse().unwrap();
        assert_eq!(MariaGtidName::of(name.gtid()), Some(name));
        assert_eq!(name.gtid().to_string(), "4d617269-6144-4200-ffff-ffff00000007:9007199254740993");
        let other: Gtid = "3e11fa47-71ca-11e1-9e33-c80aa9429562:23".parse().unwrap();
        assert_eq!(MariaGtidName::of(other), None);
        assert_eq!(MariaGtidName::of(Gtid { tag: "x".parse().unwrap(), ..name.gtid() }), None);
        // MariaDB counts on to there.
        assert!(!"0-1-18446744073709551615".parse::<MariaGtidName>().unwrap().has_room());
        for bad in ["", "0-1", "0-1-0", "0-1-2-3", "0-x-1", "4294967296-1-1", "0-1-18446744073709551616"] {
            assert!(bad.parse::<MariaGtidName>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_position_is_the_last_of_each_domain() {
        let mut set = GtidSet::new();
        for text in ["0-1-5", "0-2-7", "0-1-6", "3-9-1"] {
            set.add(text.parse::<MariaGtidName>().unwrap().gtid());
        }
        set.add("3e11fa47-71ca-11e1-9e33-c80aa9429562:23".parse().unwrap());
        assert_eq!(MariaGtidName::position_text(&set), "0-2-7,3-9-1");
    }
}
