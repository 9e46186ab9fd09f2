//! What accounts have beside privileges and roles is what it is on MySQL 9.7: the statements of `interop/accounts/statements.txt`, as several
//! accounts, give the same rows, errors and warnings there and here, and logins succeed and fail alike.
//!
//! The peer is the expectation. What differs on purpose is listed in `interop/accounts/differences.txt` with its reason.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use interop::{Kind, Node, Peer, Server, ServerOptions};

use crate::as_users::{Side, compare, follows};

#[test]
fn accounts_are_those_of_mysql() {
    let ours = Server::start("accounts", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "accounts", Duration::ZERO, &[]).unwrap();
    let side = |folder: &Path| Side::over(folder.join("sock"));
    compare("accounts", &mut side(ours.folder()), &mut side(&peer.folder()));
}

/// The number of the error with which a client's login ends, over TCP with these options; 0 if it gets in.
fn login(port: u16, user: &str, options: &[&str]) -> u16 {
    let output = Command::new("mariadb")
        .args(["--no-defaults", "-h127.0.0.1", "-N", "-B", "-e", "SELECT 1"])
        .args([format!("-u{user}"), format!("-P{port}")])
        .args(options)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = error.strip_prefix("ERROR ").and_then(|rest| rest.split(' ').next()?.parse().ok());
    if output.status.success() { 0 } else { code.unwrap_or_else(|| panic!("{user}: {error}")) }
}

/// Where the files are that a MySQL has made for its clients, and the names in their certificate.
fn certificate_of(peer: &Peer) -> (Vec<String>, String, String) {
    let file = |name: &str| peer.folder().join(name).display().to_string();
    let version = peer.client().query("SELECT @@version").unwrap();
    let version = version.trim().split('-').next().unwrap().to_owned();
    let name = |of: &str| format!("/CN=MySQL_Server_{version}_Auto_Generated_{of}_Certificate");
    let options =
        vec![format!("--ssl-cert={}", file("client-cert.pem")), format!("--ssl-key={}", file("client-key.pem"))];
    (options, name("Client"), name("CA"))
}

#[test]
fn connections_have_to_be_what_accounts_require() {
    let peer = Peer::start(Kind::Mysql97, "requires", Duration::ZERO, &[]).unwrap();
    let authority = peer.folder().join("ca.pem").display().to_string();
    let arguments = vec!["--set".to_owned(), format!("ssl_ca={authority}")];
    let ours = Server::start("requires", ServerOptions { arguments, ..ServerOptions::default() }).unwrap();
    let (certificate, subject, issuer) = certificate_of(&peer);
    // Each of them has a favourite of its own.
    let cipher = |port: u16| {
        let output = Command::new("mariadb")
            .args([
                "--no-defaults",
                "--ssl",
                "--disable-ssl-verify-server-cert",
                "-h127.0.0.1",
                "-uroot",
                "-N",
                "-B",
                &format!("-P{port}"),
            ])
            .args(["-e", "SHOW STATUS LIKE 'Ssl_cipher'"])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split_whitespace().nth(1).unwrap_or_else(|| panic!("{port}: {text}")).to_owned()
    };
    for (client, port) in [(ours.client(), ours.port()), (peer.client(), peer.port())] {
        let cipher = cipher(port);
        let sql = format!(
            "CREATE USER s REQUIRE SSL; CREATE USER x REQUIRE X509; CREATE USER c REQUIRE CIPHER '{cipher}' AND ISSUER '{issuer}'; \
             CREATE USER o REQUIRE CIPHER 'nosuch'; CREATE USER t REQUIRE CIPHER '{cipher}'; CREATE USER m REQUIRE SUBJECT '{subject}'; \
             CREATE USER n REQUIRE SUBJECT '/CN=nobody'; CREATE USER i REQUIRE ISSUER '{subject}'; \
             CREATE USER b REQUIRE SUBJECT '{subject}' ISSUER '{issuer}'; CREATE USER f"
        );
        client.query(&sql).unwrap();
    }
    let certificate: Vec<&str> =
        certificate.iter().map(String::as_str).chain(["--disable-ssl-verify-server-cert"]).collect();
    let ways: [&[&str]; 3] = [&["--skip-ssl"], &["--ssl", "--disable-ssl-verify-server-cert"], &certificate];
    for options in ways {
        for user in ["s", "x", "c", "o", "t", "m", "n", "i", "b", "f", "absent"] {
            let (here, there) = (login(ours.port(), user, options), login(peer.port(), user, options));
            assert_eq!(here, there, "{user} {options:?}");
        }
    }
    assert_eq!(login(ours.port(), "b", &certificate), 0);
    assert_eq!(login(ours.port(), "b", &["--skip-ssl"]), 1045);
}

#[test]
fn passwords_that_the_server_makes_let_in() {
    let server = Server::start("random-passwords", ServerOptions::default()).unwrap();
    let client = server.client();
    let made = |sql: &str| {
        let text = client.query(sql).unwrap();
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let socket = format!("--socket={}", server.folder().join("sock").display());
    let enters = |user: &str, password: &str| {
        let password = format!("--password={password}");
        let arguments = ["--no-defaults", &socket, "-u", user, &password, "-e", "SELECT 1"];
        Command::new("mariadb").args(arguments).output().unwrap().status.success()
    };
    let two = made("CREATE USER a IDENTIFIED BY RANDOM PASSWORD, b, c@localhost IDENTIFIED BY RANDOM PASSWORD");
    let names: Vec<&str> = two.iter().flat_map(|row| [&*row[0], &*row[1], &*row[3]]).collect();
    assert_eq!(names, ["a", "%", "1", "c", "localhost", "1"]);
    assert!(two[0][2] != two[1][2] && two.iter().all(|row| row[2].len() == 20), "{two:?}");
    assert!(enters("a", &two[0][2]) && enters("c", &two[1][2]) && !enters("a", &two[1][2]));
    let next = made("SET PASSWORD FOR a TO RANDOM RETAIN CURRENT PASSWORD");
    assert!(enters("a", &two[0][2]) && enters("a", &next[0][2]));
    let last = made("SET generated_random_password_length = 255; ALTER USER a IDENTIFIED BY RANDOM PASSWORD");
    assert!(last[0][2].len() == 255 && enters("a", &last[0][2]) && !enters("a", &next[0][2]));
}

fn side_of(server: &Server) -> Side {
    Side::over(server.folder().join("sock"))
}

#[test]
fn a_block_does_not_tell_that_there_is_an_account() {
    let server = Server::start("blocks", ServerOptions::default()).unwrap();
    server.client().query("CREATE USER ada IDENTIFIED BY 'a' FAILED_LOGIN_ATTEMPTS 2 PASSWORD_LOCK_TIME 1").unwrap();
    let mut side = side_of(&server);
    let mut answers = |user: &str| -> Vec<String> {
        let tries = ["x", "y", "x", "a"].map(|password| side.run(&format!("[{user}:{password}!] SELECT 1")));
        tries.iter().map(|answer| answer.replace(user, "who")).collect()
    };
    let of_ada = answers("ada");
    assert!(of_ada[0].contains("1045") && of_ada[1..].iter().all(|answer| answer.contains("3955")), "{of_ada:?}");
    // The only account with a password is what every other name looks like.
    assert_eq!(answers("nobody"), of_ada);
    server.client().query("FLUSH PRIVILEGES").unwrap();
    assert_eq!(answers("nobody"), of_ada);
    assert!(side_of(&server).run("[ada:a!] SELECT 1").starts_with("rows"));
}

/// Options as a MySQL has them.
const OF_MYSQL: &str = "CREATE USER a1 PASSWORD EXPIRE; CREATE USER a2 IDENTIFIED BY 'x' PASSWORD EXPIRE NEVER PASSWORD HISTORY 3 PASSWORD REUSE INTERVAL 5 DAY \
                        PASSWORD REQUIRE CURRENT FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME UNBOUNDED; CREATE USER a3 REQUIRE SSL WITH MAX_QUERIES_PER_HOUR 5 \
                        MAX_USER_CONNECTIONS 3 PASSWORD EXPIRE INTERVAL 7 DAY ACCOUNT LOCK PASSWORD REQUIRE CURRENT OPTIONAL COMMENT 'it''s */ \\\\'; \
                        CREATE USER a4 REQUIRE SUBJECT '/CN=x' AND ISSUER '/CN=y' AND CIPHER 'AES' WITH MAX_UPDATES_PER_HOUR 1 MAX_CONNECTIONS_PER_HOUR 2 \
                        ATTRIBUTE '{\"b\":1,\"a\":[1,2]}'; ALTER USER a4 ATTRIBUTE '{\"a\": null, \"c\": \"*/\"}'; ALTER USER a4 COMMENT 'hi'; ALTER USER a2 IDENTIFIED BY 'y' \
                        RETAIN CURRENT PASSWORD; ALTER USER a2 IDENTIFIED BY 'z'; ALTER USER a3 ACCOUNT UNLOCK PASSWORD HISTORY DEFAULT PASSWORD_LOCK_TIME 2; \
                        CREATE USER a5 IDENTIFIED BY 'x'; ALTER USER a5 IDENTIFIED BY 'y' RETAIN CURRENT PASSWORD; ALTER USER a5 DISCARD OLD PASSWORD; \
                        SET PASSWORD FOR a5 = ''; CREATE USER a6; ALTER USER a6; ALTER USER a6 IDENTIFIED WITH caching_sha2_password; \
                        SET sql_mode = 'NO_BACKSLASH_ESCAPES'; CREATE USER a7 COMMENT 'a\\b''c*/'; ALTER USER a7 ATTRIBUTE '{\"k\": \"a\\\\b\"}'; SET sql_mode = DEFAULT; \
                        RENAME USER a4 TO a8; CREATE ROLE r1; ALTER USER r1 PASSWORD EXPIRE NEVER ACCOUNT UNLOCK";

/// What is there of them afterwards.
const SHOWN: &str = "SHOW CREATE USER a1; SHOW CREATE USER a2; SHOW CREATE USER a3; SHOW CREATE USER a5; SHOW CREATE USER a6; SHOW CREATE USER a7; SHOW CREATE USER a8; \
                     SHOW CREATE USER r1; SELECT user, User_attributes FROM mysql.user WHERE LENGTH(user) = 2 ORDER BY user; \
                     SELECT user, COUNT(*), MAX(LENGTH(password)) FROM mysql.password_history GROUP BY user ORDER BY user";

#[test]
fn options_of_accounts_go_to_a_mysql_and_come_from_one() {
    for (from, to) in [(None, Some(Kind::Mysql97)), (Some(Kind::Mysql97), None)] {
        let (source, replica) = follows("accounts", from, to, &format!("CREATE DATABASE d; {OF_MYSQL}"));
        let shown = |node: &Node| node.client().query(SHOWN).unwrap();
        assert_eq!(shown(&source), shown(&replica), "{from:?} to {to:?}");
    }
}

#[test]
fn a_copy_and_a_recovery_make_the_same_accounts() {
    let mut source = Server::start("accounts-recovered", ServerOptions::default()).unwrap();
    let copy = source.start_follower("accounts-copied").unwrap();
    let of_settings = "SET GLOBAL password_history = 2, GLOBAL password_reuse_interval = 1; CREATE USER g IDENTIFIED BY 'a'; \
                       ALTER USER g IDENTIFIED BY 'b'; SET GLOBAL password_reuse_interval = 0; ALTER USER g IDENTIFIED BY 'c'; \
                       SET PASSWORD FOR g = 'd'; ALTER USER r1, g COMMENT 'mixed'; CREATE USER h IDENTIFIED BY 'x' DEFAULT ROLE r1";
    source.client().query(&format!("{OF_MYSQL}; {of_settings}")).unwrap();
    let all = format!("{SHOWN}; SELECT * FROM mysql.password_history; SELECT * FROM mysql.user; SHOW GRANTS FOR h");
    let before = source.client().query(&all).unwrap();
    assert_eq!(source.client().query("SELECT COUNT(*) FROM mysql.password_history WHERE user = 'g'").unwrap(), "2\n");
    source.wait_until_in_step(&copy).unwrap();
    assert_eq!(copy.client().query(&all).unwrap(), before);
    source.kill();
    source.restart().unwrap();
    assert_eq!(source.client().query(&all).unwrap(), before);
}

#[test]
fn options_of_accounts_go_to_a_maria() {
    // What MariaDB does not know is in comments, also where MySQL's text would end one.
    let sql = OF_MYSQL.replace("COMMENT 'a\\b''c*/'", "COMMENT 'a\\b''c'");
    let sql = format!("CREATE DATABASE d; {sql}; ALTER USER r1, a6 WITH MAX_QUERIES_PER_HOUR 9 PASSWORD HISTORY 3");
    let (_source, replica) = follows("accounts", None, Some(Kind::Maria118), &sql);
    let shown = "SELECT user, ssl_type, x509_subject, max_questions, max_user_connections, max_updates, password_expired FROM mysql.user WHERE user LIKE 'a_' \
                 ORDER BY user";
    let expected = "a1\t\t\t0\t0\t0\tY\na2\t\t\t0\t0\t0\tN\na3\tANY\t\t5\t3\t0\tN\na5\t\t\t0\t0\t0\tN\na6\t\t\t9\t0\t0\tN\n\
                    a7\t\t\t0\t0\t0\tN\na8\tSPECIFIED\t/CN=x\t0\t0\t1\tN\n";
    assert_eq!(replica.client().query(shown).unwrap(), expected);
}

#[test]
fn options_of_accounts_come_from_a_maria() {
    let sql = "CREATE DATABASE d; CREATE USER a1 IDENTIFIED BY 'x' REQUIRE SSL WITH MAX_QUERIES_PER_HOUR 5 MAX_USER_CONNECTIONS 3 PASSWORD EXPIRE INTERVAL 7 DAY ACCOUNT LOCK; \
               CREATE USER a2 REQUIRE SUBJECT '/CN=x' AND ISSUER '/CN=y' ACCOUNT LOCK PASSWORD EXPIRE NEVER; ALTER USER a2 ACCOUNT UNLOCK; \
               ALTER USER a1 REQUIRE X509 WITH MAX_UPDATES_PER_HOUR 4; CREATE USER a3 PASSWORD EXPIRE; ALTER USER a3 PASSWORD EXPIRE DEFAULT";
    let (_source, replica) = follows("accounts", Some(Kind::Maria118), None, sql);
    let shown = "SELECT user, ssl_type, x509_subject, x509_issuer, max_questions, max_updates, max_user_connections, password_expired, password_lifetime, account_locked \
                 FROM mysql.user WHERE user LIKE 'a_' ORDER BY user";
    let expected = "a1\tX509\t\t\t5\t4\t3\tN\t7\tY\na2\tSPECIFIED\t/CN=x\t/CN=y\t0\t0\t0\tN\t0\tN\na3\t\t\t\t0\t0\t0\tY\tNULL\tN\n";
    assert_eq!(replica.client().query(shown).unwrap(), expected);
}

/// What MariaDB and old MySQL say of accounts in GRANT, and MariaDB's ways to say a password.
const GRANTED: &str = "GRANT SELECT ON d.* TO b1 IDENTIFIED BY 'x' REQUIRE X509 WITH GRANT OPTION MAX_QUERIES_PER_HOUR 5; \
                       GRANT INSERT ON d.* TO b1, b2 IDENTIFIED BY PASSWORD '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29' WITH MAX_USER_CONNECTIONS 3 MAX_STATEMENT_TIME 0; \
                       GRANT USAGE ON *.* TO b1 REQUIRE SUBJECT '/CN=a' AND ISSUER '/CN=b'; GRANT USAGE ON *.* TO b2 REQUIRE SSL; \
                       CREATE USER b4 IDENTIFIED VIA mysql_native_password USING 'invalid' OR unix_socket; \
                       CREATE USER b5 IDENTIFIED VIA mysql_native_password USING PASSWORD('test'); \
                       CREATE USER b6 IDENTIFIED VIA unix_socket OR mysql_native_password USING '*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29'";

const GRANTED_ARE: &str = "b1\tSPECIFIED\t/CN=a\t5\t3\nb2\tANY\t\t0\t3\n";

#[test]
fn accounts_that_a_maria_makes_by_grant() {
    // Without NO_AUTO_CREATE_USER a GRANT makes accounts without a word about them. A log has passwords of SET PASSWORD as they are stored.
    let sql = format!(
        "CREATE DATABASE d; {GRANTED}; SET sql_mode = ''; GRANT SELECT ON d.* TO b3; CREATE USER b7 IDENTIFIED BY 'old'; \
         SET PASSWORD FOR b7 = PASSWORD('test')"
    );
    let (_source, replica) = follows("granted", Some(Kind::Maria118), None, &sql);
    let shown = "SELECT user, ssl_type, x509_subject, max_questions, max_user_connections FROM mysql.user WHERE user IN ('b1', 'b2') ORDER BY user";
    assert_eq!(replica.client().query(shown).unwrap(), GRANTED_ARE);
    assert_eq!(
        replica.client().query("SHOW GRANTS FOR b1; SHOW GRANTS FOR b3").unwrap(),
        "GRANT USAGE ON *.* TO `b1`@`%`\nGRANT SELECT, INSERT ON `d`.* TO `b1`@`%` WITH GRANT OPTION\n\
         GRANT USAGE ON *.* TO `b3`@`%`\nGRANT SELECT ON `d`.* TO `b3`@`%`\n"
    );
    let plugins = replica
        .client()
        .query("SELECT user, plugin, authentication_string FROM mysql.user WHERE user > 'b3' AND user < 'c'");
    let hash = "mysql_native_password\t*94BDCEBE19083CE2A1F959FD02F964C7AF4CFC29";
    assert_eq!(plugins.unwrap(), format!("b4\tunix_socket\t\nb5\t{hash}\nb6\t{hash}\nb7\t{hash}\n"));
}

#[test]
fn accounts_that_are_made_by_grant_go_to_a_mysql() {
    // The methods of 9.7 are fewer: the accounts with stored passwords of others it does not get.
    let sql =
        GRANTED.split("; ").filter(|sql| !sql.contains("PASSWORD") && !sql.contains("socket") && !sql.contains("b2"));
    let sql = format!("CREATE DATABASE d; CREATE USER b2; {}", sql.collect::<Vec<_>>().join("; "));
    let sql = format!(
        "{sql}; GRANT USAGE ON *.* TO b1, b2 WITH MAX_USER_CONNECTIONS 3; GRANT USAGE ON *.* TO b2 REQUIRE SSL"
    );
    let (source, replica) = follows("granted", None, Some(Kind::Mysql97), &sql);
    let shown = "SHOW CREATE USER b1; SHOW CREATE USER b2; SHOW GRANTS FOR b1; SELECT user, ssl_type, x509_subject, max_questions, max_user_connections \
                 FROM mysql.user WHERE user LIKE 'b_' ORDER BY user";
    let of_source = source.client().query(shown).unwrap();
    assert_eq!(of_source, replica.client().query(shown).unwrap());
    assert!(of_source.ends_with(GRANTED_ARE), "{of_source}");
}

/// Names of accounts are as long as MySQL's wherever a client says them, or they would stop replicas; and methods that are not here are named.
#[test]
fn names_have_the_lengths_of_mysql() {
    let ours = Server::start("account-names", ServerOptions::default()).unwrap();
    let peer = Peer::start(Kind::Mysql97, "account-names", Duration::ZERO, &[]).unwrap();
    let (user, longer) = ("ä".repeat(32), "ä".repeat(33));
    let (host, wider) = ("h".repeat(255), "h".repeat(256));
    let statements = [
        format!("CREATE USER '{user}'@'{host}'"),
        format!("RENAME USER '{user}'@'{host}' TO '{user}'"),
        format!("CREATE USER '{longer}'"),
        format!("CREATE USER u@'{wider}'"),
        format!("CREATE ROLE '{longer}'"),
        format!("RENAME USER '{user}' TO '{longer}'"),
        format!("ALTER USER '{longer}' IDENTIFIED BY 'x'"),
        format!("GRANT SELECT ON *.* TO '{longer}'"),
        format!("REVOKE SELECT ON *.* FROM '{longer}'"),
        format!("GRANT '{longer}' TO root@localhost"),
        format!("SET PASSWORD FOR '{longer}' = 'x'"),
        format!("SET ROLE '{longer}'"),
        format!("SET DEFAULT ROLE '{longer}' TO root@localhost"),
        format!("SHOW GRANTS FOR '{longer}'"),
        format!("SHOW CREATE USER '{longer}'"),
        "CREATE USER e3 IDENTIFIED WITH 'nosuchplugin' AS 'xx'".to_owned(),
        "CREATE USER e3 IDENTIFIED WITH 'nosuchplugin' BY 'xx'".to_owned(),
        "CREATE USER e3 IDENTIFIED WITH 'nosuchplugin'".to_owned(),
    ];
    let answer = |client: &interop::Client, sql: &str| {
        client.query(sql).map_err(|error| error.trim().lines().last().unwrap_or_default().to_owned())
    };
    for sql in &statements {
        assert_eq!(answer(&ours.client(), sql), answer(&peer.client(), sql), "{sql}");
    }
    let error = ours.client().query("CREATE USER e3 IDENTIFIED VIA ed25519 USING 'x'").unwrap_err();
    assert!(error.contains("1524"), "{error}");
}
