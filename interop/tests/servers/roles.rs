//! Roles are what they are on MySQL 9.7: the statements of `interop/roles/statements.txt`, as several accounts, give the same rows, errors
//! and warnings there and here.
//!
//! The peer is the expectation. What differs on purpose is listed in `interop/roles/differences.txt` with its reason.

use std::time::Duration;

use interop::{Kind, Node, Peer, Server, ServerOptions};

use crate::as_users::{Side, compare, follows};

#[test]
fn roles_are_those_of_mysql() {
    let ours = Server::start("roles", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "roles", Duration::ZERO, &[]).unwrap();
    compare("roles", &mut Side::new(ours.port()), &mut Side::new(peer.port()));
}

/// Roles as a MySQL makes them.
const OF_MYSQL: &str = "CREATE DATABASE d; CREATE ROLE a, b, 'c'@'localhost'; CREATE USER u, v, w; GRANT SELECT ON d.* TO a; \
                        GRANT a, b TO u, v WITH ADMIN OPTION; GRANT b TO a; GRANT 'c'@'localhost' TO w; GRANT v TO w; \
                        SET DEFAULT ROLE a, b TO u; SET DEFAULT ROLE ALL TO v, w; ALTER USER u DEFAULT ROLE b; REVOKE b FROM v, w; \
                        CREATE USER x DEFAULT ROLE a; CREATE ROLE gone, went; GRANT gone TO u; DROP ROLE gone; DROP USER went; \
                        RENAME USER x TO y";

/// What is there of them afterwards.
const SHOWN: &str = "SELECT * FROM mysql.role_edges ORDER BY 1, 2, 3, 4; SELECT * FROM mysql.default_roles ORDER BY 1, 2, 3, 4; SHOW GRANTS FOR u; \
                     SHOW GRANTS FOR w USING v; SHOW GRANTS FOR y USING a; SELECT user, host, account_locked FROM mysql.user WHERE LENGTH(user) < 5 \
                     AND user <> 'root' ORDER BY 1, 2";

#[test]
fn roles_go_to_a_mysql_and_come_from_one() {
    for (from, to) in [(None, Some(Kind::Mysql97)), (Some(Kind::Mysql97), None)] {
        let (source, replica) = follows("roles", from, to, OF_MYSQL);
        let shown = |node: &Node| node.client().query(SHOWN).unwrap();
        assert_eq!(shown(&source), shown(&replica), "{from:?} to {to:?}");
    }
}

/// Roles as a MariaDB knows them, in words of each kind.
const OF_BOTH: &str = "CREATE DATABASE d; CREATE ROLE a, b, gone; CREATE USER u@localhost, v@localhost; GRANT SELECT ON d.* TO a; GRANT a TO u@localhost, \
                       v@localhost; GRANT b TO a; GRANT b TO v@localhost WITH ADMIN OPTION; GRANT gone TO v@localhost; REVOKE a FROM v@localhost; DROP ROLE gone";

/// MariaDB's grants of roles, but for those that CREATE ROLE gave to who made them.
const OF_MARIA: &str = "SELECT Role, User, Host, Admin_option FROM mysql.roles_mapping WHERE User NOT IN ('root', '') ORDER BY 1, 2, 3; SELECT User, default_role FROM mysql.user WHERE User = 'u'";

#[test]
fn roles_go_to_a_maria() {
    let sql = format!("{OF_BOTH}; SET DEFAULT ROLE a TO u@localhost; GRANT a, b TO v@localhost");
    let (_source, replica) = follows("roles", None, Some(Kind::Maria118), &sql);
    let shown = replica.client().query(OF_MARIA).unwrap();
    assert_eq!(shown, "a\tu\tlocalhost\tN\nb\ta\t\tN\nb\tv\tlocalhost\tY\nu\ta\n");
}

#[test]
fn roles_come_from_a_maria() {
    let sql = format!(
        "{OF_BOTH}; SET DEFAULT ROLE b FOR v@localhost; SET DEFAULT ROLE NONE FOR v@localhost; SET DEFAULT ROLE a FOR u@localhost"
    );
    let (_source, replica) = follows("roles", Some(Kind::Maria118), None, &sql);
    let shown = replica.client().query("SELECT * FROM mysql.role_edges; SELECT * FROM mysql.default_roles").unwrap();
    let edges = "%\ta\tlocalhost\tu\tN\n%\tb\t%\ta\tN\n%\tb\tlocalhost\tv\tY\n";
    assert_eq!(shown, format!("{edges}localhost\tu\t%\ta\n"));
}
