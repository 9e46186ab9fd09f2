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

/// The session `u` has the number ID.
const KILLS: &str = "[u] SET ROLE rs; [k] KILL QUERY ID; [k] KILL ID; [u] SET ROLE rr; [k] KILL QUERY ID; [k2!] KILL QUERY ID; [k2] SET ROLE rs; \
                     [k2] KILL QUERY ID; [u] SET ROLE NONE; [k] KILL QUERY ID; [u] SET ROLE ALL; [k] KILL ID; RESET; [k] KILL ID; [u] SET ROLE rc; [k] KILL ID";

#[test]
fn an_active_role_with_system_user_protects_a_session_from_kill() {
    let made = "CREATE USER u, k, k2; CREATE ROLE rs, rr, rc; GRANT SYSTEM_USER ON *.* TO rs; GRANT rs TO rr; GRANT rs, rr, rc TO u; GRANT rs TO k2; \
                GRANT CONNECTION_ADMIN ON *.* TO k, k2";
    let answers = |port| {
        let mut side = Side::new(port);
        made.split("; ").for_each(|line| assert!(side.run(line).starts_with("done"), "{line}"));
        let id = side.run("[u!] SELECT CONNECTION_ID()").trim_start_matches("rows:\n").to_owned();
        let mut run = |line: &str| {
            let line = if line == "RESET" { "[u] RESET CONNECTION".to_owned() } else { line.replace("ID", &id) };
            side.run(&line).replace(&format!("thread {id}"), "thread ID")
        };
        KILLS.split("; ").map(|line| format!("{line}: {}", run(line))).collect::<Vec<_>>()
    };
    let ours = Server::start("roles-kill", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "roles-kill", Duration::ZERO, &[]).unwrap();
    let (ours, theirs) = (answers(ours.port()), answers(peer.port()));
    assert_eq!(ours, theirs);
    assert_eq!(ours.iter().filter(|answer| answer.contains("error 1095")).count(), 6, "{ours:#?}");
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
