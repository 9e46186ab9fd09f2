//! `START REPLICA UNTIL`: where a replica that executes, or the applier of a follower, is to stop.
//!
//! | | stops |
//! |---|---|
//! | SQL_BEFORE_GTIDS | before the first transaction of the set; at once if one of the set is executed |
//! | SQL_AFTER_GTIDS | when all of the set are executed |
//! | SOURCE_LOG_FILE, SOURCE_LOG_POS | behind the transaction that comes to the position, or past it |
//! | SQL_AFTER_MTS_GAPS | when all that the source has, and that was missing here below what was executed, is executed |
//! | MASTER_GTID_POS (MariaDB) | when each domain of the position has come to it |

use std::sync::Arc;

use apply::StopAt;
use base::{Gtid, LogPosition, SqlError, codes};
use binlog::{BinaryLog, GtidSet, MariaGtidName};
use sql::parse::ast::ReplicaUntil;

use super::Place;

/// A condition, and what is left of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    Before {
        set: GtidSet,
        /// One of them was executed when this was said.
        is_past: bool,
    },
    /// What was not executed yet.
    After(GtidSet),
    /// What was not executed below what was: left by an execution whose commits were out of order.
    Gaps(GtidSet),
    /// The domains that are not there yet.
    Maria(Vec<MariaGtidName>),
    Position(Place),
}

impl Until {
    /// What a statement says, on a server that has executed this.
    ///
    /// # Errors
    /// 1772 for a malformed set or position.
    pub(crate) fn new(until: &ReplicaUntil, executed: &GtidSet) -> Result<Self, SqlError> {
        let malformed = |text: &str| {
            SqlError::new(
                codes::MALFORMED_GTID_SET_SPECIFICATION,
                format!("Malformed GTID set specification '{text}'."),
            )
        };
        let set = |text: &str| text.parse::<GtidSet>().map_err(|_| malformed(text));
        Ok(match until {
            ReplicaUntil::BeforeGtids(text) => {
                let set = set(text)?;
                Until::Before { is_past: !set.is_disjoint(executed), set }
            }
            ReplicaUntil::AfterGtids(text) => {
                let mut left = set(text)?;
                left.subtract(executed);
                Until::After(left)
            }
            ReplicaUntil::AfterGaps => {
                let mut gaps = executed.gaps();
                // Numbers of a MariaDB's domain need not follow one another, and those are executed in their order.
                gaps.retain_servers(|uuid| MariaGtidName::of(Gtid::new(uuid, 1)).is_none());
                Until::Gaps(gaps)
            }
            ReplicaUntil::MariaGtids(text) => {
                let names = text.split(',').map(|name| name.trim().parse().map_err(|_| malformed(text)));
                let mut until = Until::Maria(names.collect::<Result<_, _>>()?);
                MariaGtidName::position(executed).into_iter().for_each(|name| until.executed(name.gtid()));
                until
            }
            ReplicaUntil::Position { file, position } => {
                Until::Position(Place { file: file.clone(), offset: *position })
            }
        })
    }

    /// Where nothing is ever executed out of order there are no gaps to be filled: what is missing was never to come.
    pub(crate) fn in_order(self) -> Self {
        match self {
            Until::Gaps(_) => Until::Gaps(GtidSet::new()),
            until => until,
        }
    }

    /// Whether it has to be known what the source has.
    pub(super) fn asks_the_source(&self) -> bool {
        matches!(self, Until::Gaps(gaps) if !gaps.is_empty())
    }

    /// A source that has this is connected. What it has not will not come.
    pub(super) fn source_has(&mut self, executed: &GtidSet) {
        if let Until::Gaps(gaps) = self {
            let mut never = gaps.clone();
            never.subtract(executed);
            gaps.subtract(&never);
        }
    }

    /// Whether a transaction that is about to begin is not to be executed any more.
    pub(super) fn stops_before(&self, gtid: Gtid) -> bool {
        matches!(self, Until::Before { set, .. } if set.contains(gtid))
    }

    /// A transaction is executed.
    pub(super) fn executed(&mut self, gtid: Gtid) {
        match self {
            Until::After(left) | Until::Gaps(left) => {
                let mut one = GtidSet::new();
                one.add(gtid);
                left.subtract(&one);
            }
            Until::Maria(left) => {
                if let Some(name) = MariaGtidName::of(gtid) {
                    left.retain(|until| until.domain_id != name.domain_id || until.seq_no > name.seq_no);
                }
            }
            Until::Before { .. } | Until::Position(_) => {}
        }
    }

    /// Whether it is the end, between two transactions.
    pub(super) fn is_reached(&self, file: &str, offset: u64) -> bool {
        match self {
            Until::Before { is_past, .. } => *is_past,
            Until::After(left) | Until::Gaps(left) => left.is_empty(),
            Until::Maria(left) => left.is_empty(),
            Until::Position(to) => (number_of(file), offset) >= (number_of(&to.file), to.offset),
        }
    }

    /// Until_Condition, Until_Log_File and Until_Log_Pos of SHOW REPLICA STATUS.
    pub(crate) fn shown(&self) -> (&'static str, Place) {
        match self {
            Until::Before { .. } => ("SQL_BEFORE_GTIDS", Place::default()),
            Until::After(_) => ("SQL_AFTER_GTIDS", Place::default()),
            Until::Gaps(_) => ("SQL_AFTER_MTS_GAPS", Place::default()),
            Until::Maria(_) => ("Gtid", Place::default()),
            Until::Position(to) => ("Source", to.clone()),
        }
    }
}

/// In a log that is a copy of the source's: its files have the source's names.
pub(crate) struct UntilInCopy {
    pub(crate) until: Until,
    pub(crate) log: Arc<BinaryLog>,
}

impl StopAt for UntilInCopy {
    fn stops_before(&self, gtid: Gtid) -> bool {
        self.until.stops_before(gtid)
    }

    fn applied(&mut self, gtid: Gtid) {
        self.until.executed(gtid);
    }

    fn is_reached(&self, position: LogPosition) -> bool {
        self.until.is_reached(&self.log.file_name(position.file), position.offset)
    }
}

/// The number behind the last dot of a file's name, which is what orders the files of a log.
fn number_of(file: &str) -> Option<u64> {
    file.rsplit('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const UUID: &str = "3e11fa47-71ca-11e1-9e33-c80aa9429562";

    fn set(text: &str) -> GtidSet {
        text.parse().unwrap()
    }

    fn gtid(gno: u64) -> Gtid {
        format!("{UUID}:{gno}").parse().unwrap()
    }

    #[test]
    fn gtids() {
        let executed = set(&format!("{UUID}:1-5"));
        let after = ReplicaUntil::AfterGtids(format!("{UUID}:4-6:9"));
        let mut until = Until::new(&after, &executed).unwrap();
        for (gno, is_reached) in [(6, false), (7, false), (9, true)] {
            until.executed(gtid(gno));
            assert_eq!(until.is_reached("", 0), is_reached, "{gno}");
        }
        assert!(Until::new(&ReplicaUntil::AfterGtids(format!("{UUID}:2")), &executed).unwrap().is_reached("", 0));
        let before = Until::new(&ReplicaUntil::BeforeGtids(format!("{UUID}:7")), &executed).unwrap();
        assert!(!before.stops_before(gtid(6)) && before.stops_before(gtid(7)) && !before.is_reached("", 0));
        assert!(Until::new(&ReplicaUntil::BeforeGtids(format!("{UUID}:5-9")), &executed).unwrap().is_reached("", 0));
        assert_eq!(Until::new(&ReplicaUntil::BeforeGtids("nonsense".into()), &executed).unwrap_err().code, 1772);
    }

    #[test]
    fn gaps_that_the_source_can_fill() {
        let mut executed = set(&format!("{UUID}:3-5:8:tag:2-3"));
        executed.add("0-1-7".parse::<MariaGtidName>().unwrap().gtid());
        let mut until = Until::new(&ReplicaUntil::AfterGaps, &executed).unwrap();
        assert_eq!(until, Until::Gaps(set(&format!("{UUID}:1-2:6-7:tag:1"))));
        assert!(until.asks_the_source() && !until.is_reached("", 0));
        assert_eq!(until.clone().in_order(), Until::Gaps(GtidSet::new()));
        // Others are not what is waited for; what the source never had neither.
        until.source_has(&set(&format!("{UUID}:2-20")));
        for (gno, is_reached) in [(2, false), (9, false), (6, false), (7, true)] {
            until.executed(gtid(gno));
            assert_eq!(until.is_reached("", 0), is_reached, "{gno}");
        }
        assert!(Until::new(&ReplicaUntil::AfterGaps, &set(&format!("{UUID}:1-9"))).unwrap().is_reached("", 0));
    }

    #[test]
    fn each_domain_of_a_mariadb() {
        let name = |text: &str| text.parse::<MariaGtidName>().unwrap().gtid();
        let mut executed = GtidSet::new();
        executed.add(name("0-1-7"));
        let mut until = Until::new(&ReplicaUntil::MariaGtids("0-1-5, 2-1-3".into()), &executed).unwrap();
        assert_eq!(until, Until::Maria(vec!["2-1-3".parse().unwrap()]));
        until.executed(name("2-4-2"));
        assert!(!until.is_reached("", 0));
        until.executed(name("2-4-4"));
        assert!(until.is_reached("", 0));
    }

    #[test]
    fn positions_go_on_in_later_files() {
        let to = ReplicaUntil::Position { file: "bin.000010".into(), position: 500 };
        let until = Until::new(&to, &GtidSet::new()).unwrap();
        for (file, offset, is_reached) in
            [("bin.000009", 900, false), ("bin.000010", 499, false), ("bin.000010", 500, true), ("bin.000011", 4, true)]
        {
            assert_eq!(until.is_reached(file, offset), is_reached, "{file} {offset}");
        }
    }
}
