//! Partial revokes are what they are on MySQL 9.7: the statements of `interop/partial_revokes/statements.txt`, as several accounts, give the
//! same rows, errors and warnings there and here; and they go to a MySQL, come from one, and are there after a recovery.
//!
//! The peer is the expectation. What differs on purpose is listed in `interop/partial_revokes/differences.txt` with its reason.

use std::time::Duration;

use interop::{Kind, Node, Peer, Server, ServerOptions};

use crate::as_users::{Side, compare, follows};

#[test]
fn partial_revokes_are_those_of_mysql() {
    let ours = Server::start("partial-revokes", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "partial-revokes", Duration::ZERO, &[]).unwrap();
    compare("partial_revokes", &mut Side::new(ours.port()), &mut Side::new(peer.port()));
}

/// Restrictions of each way: by REVOKE, beside grants on the database, of an account that grants, lifted again. `AS` names the grantor as the
/// log does, so that one client can make all of it.
const MADE: &str = "CREATE DATABASE d; CREATE USER u, v, w; CREATE ROLE r; GRANT SELECT, INSERT, UPDATE ON *.* TO u WITH GRANT OPTION; \
                    REVOKE INSERT, UPDATE ON d.* FROM u; GRANT UPDATE ON d.* TO u; REVOKE SELECT ON mysql.* FROM u; GRANT SELECT, INSERT ON *.* TO v AS u; \
                    GRANT ALL ON *.* TO w; GRANT CREATE ON d.* TO w; REVOKE ALL ON d.* FROM w; GRANT INSERT ON *.* TO r; GRANT r TO u; \
                    GRANT INSERT ON *.* TO r AS u WITH ROLE r";

const SHOWN: &str = "SHOW GRANTS FOR u; SHOW GRANTS FOR v; SHOW GRANTS FOR w; SHOW GRANTS FOR r; SHOW GRANTS FOR u USING r; \
                     SELECT user, User_attributes FROM mysql.user WHERE user = 'w'";

#[test]
fn partial_revokes_go_to_a_mysql_and_come_from_one() {
    let made = format!(
        "SET GLOBAL partial_revokes = ON; {}",
        MADE.replace("CREATE DATABASE d; ", "").replace("GRANT CREATE ON d.* TO w; ", "")
    );
    // A MySQL that follows has to have the setting too; here the log is enough, but where it does not say which of two was meant.
    for (from, to) in [(None, Some(Kind::Mysql97)), (Some(Kind::Mysql97), None)] {
        let (source, replica) =
            follows("partial-revokes", from, to, "CREATE DATABASE d; SET GLOBAL partial_revokes = ON");
        if to.is_some() {
            replica.client().query("SET GLOBAL partial_revokes = ON").unwrap();
        }
        source.client().query(&made).unwrap();
        source.wait_for_replica(&replica, Duration::from_secs(60)).unwrap();
        let shown = |node: &Node| node.client().query(SHOWN).unwrap();
        assert_eq!(shown(&source), shown(&replica), "{from:?} to {to:?}");
    }
}

#[test]
fn a_copy_and_a_recovery_have_the_same_restrictions() {
    let mut source = Server::start("partial-revokes-recovered", ServerOptions::default()).unwrap();
    let copy = source.start_follower("partial-revokes-copied").unwrap();
    source.client().query(&format!("SET GLOBAL partial_revokes = ON; {MADE}")).unwrap();
    let before = source.client().query(SHOWN).unwrap();
    assert_eq!(before.matches("REVOKE ").count(), 6, "{before}");
    source.wait_until_in_step(&copy).unwrap();
    assert_eq!(copy.client().query(SHOWN).unwrap(), before);
    source.kill();
    // The setting was not kept; what it meant was.
    source.restart().unwrap();
    assert_eq!(source.client().query(SHOWN).unwrap(), before);
}
