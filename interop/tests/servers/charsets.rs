//! Character sets of one byte per character: their characters and orders as MySQL has them, and their text in logs.

use std::fmt::Write as _;
use std::time::Duration;

use interop::{Answer, Client, Connection, Kind, Node, Peer, Server, ServerOptions};

const PATIENCE: Duration = Duration::from_secs(60);

/// Collation and character set of each that is here.
fn collations(client: &Client) -> Vec<(String, String)> {
    let query = "SELECT collation_name, c.character_set_name FROM information_schema.collations c \
         JOIN information_schema.character_sets s ON s.character_set_name = c.character_set_name \
         WHERE maxlen = 1 AND c.character_set_name <> 'binary' ORDER BY 1";
    let lines = client.query(query).unwrap();
    let pair = |line: &str| line.split_once('\t').map(|(name, set)| (name.to_owned(), set.to_owned())).unwrap();
    lines.lines().map(pair).collect()
}

/// Their character sets.
fn sets(client: &Client) -> Vec<String> {
    let mut sets: Vec<String> = collations(client).into_iter().map(|(_, set)| set).collect();
    sets.dedup();
    sets
}

/// Bytes beyond ASCII that are characters of a set.
fn characters(client: &Client, set: &str) -> Vec<u8> {
    let is_one = |byte: u8| format!("HEX(CONVERT(CONVERT(x'{byte:02x}' USING {set}) USING utf8mb4)) NOT IN ('3F', '')");
    let all: Vec<String> = (0x80..=0xff).map(is_one).collect();
    let answer = client.query(&format!("SELECT {}", all.join(", "))).unwrap();
    (0x80..=0xff)
        .zip(answer.trim_end().split('\t'))
        .filter(|(_, is_one)| *is_one == "1")
        .map(|(byte, _)| byte)
        .collect()
}

/// Each character alone and between others.
fn texts(bytes: &[u8], set: &str) -> String {
    let ascii = (0x20..0x7f).filter(|byte: &u8| !byte.is_ascii_punctuation());
    let text = |byte: u8| format!("(_{set} x'{byte:02x}'), (_{set} x'61{byte:02x}'), (_{set} x'{byte:02x}2062')");
    ascii.chain(bytes.iter().copied()).map(text).collect::<Vec<_>>().join(", ")
}

#[test]
fn orders_are_those_of_mysql() {
    let theirs = Peer::start(Kind::Mysql97, "charsets", Duration::ZERO, &[]).unwrap();
    let ours = Server::start("charsets", ServerOptions::default()).unwrap();
    let clients = [ours.client(), theirs.client()];
    clients.iter().for_each(|client| drop(client.query("CREATE DATABASE d").unwrap()));
    let all = collations(&clients[0]);
    assert!(all.len() > 50, "{all:?}");
    let sets = "SELECT * FROM information_schema.character_sets WHERE character_set_name = ";
    for (name, set) in all {
        let characters = clients.each_ref().map(|client| characters(client, &set));
        assert_eq!(characters[0], characters[1], "characters of {set}");
        let values = texts(&characters[0], &set);
        let statements = format!(
            "USE d; CREATE TABLE {name} (id INT AUTO_INCREMENT PRIMARY KEY, c CHAR(3) CHARACTER SET {set} COLLATE {name}, KEY (c)); \
             INSERT INTO {name} (c) VALUES {values};"
        );
        let query = format!(
            "{sets} '{set}'; SHOW CREATE TABLE d.{name}; SELECT HEX(c), HEX(CONVERT(c USING utf8mb4)), LENGTH(c), \
             HEX(UPPER(c)), HEX(LOWER(c)) FROM d.{name} ORDER BY id; \
             SELECT GROUP_CONCAT(HEX(c) ORDER BY id) FROM d.{name} GROUP BY c ORDER BY c; \
             SELECT COUNT(*) FROM d.{name} a JOIN d.{name} b ON a.c = b.c; SELECT COUNT(*) FROM d.{name} WHERE c LIKE 'a%'; \
             SELECT MAX(id) FROM d.{name} WHERE c >= 'm' AND c < _{set} x'7a'"
        );
        let answers = clients.each_ref().map(|client| {
            client.query(&statements).unwrap();
            client.query(&query).unwrap_or_else(|error| panic!("{name}: {error}"))
        });
        for (ours, theirs) in answers[0].lines().zip(answers[1].lines()) {
            assert_eq!(ours, theirs, "{name}");
        }
        assert_eq!(answers[0].len(), answers[1].len(), "{name}");
    }
}

/// Letters of the languages that have orders of their own, accents among them, alone and beside others.
fn letters() -> String {
    let blocks =
        [0x20..0x250, 0x300..0x340, 0x400..0x460, 0x600..0x700, 0xd80..0xe00, 0x1ea0..0x1f00, 0x1f600..0x1f604];
    let letters = blocks.into_iter().flatten().filter_map(char::from_u32).filter(|c| !c.is_ascii_punctuation());
    let text = |c: char| format!("('{c}'), ('a{c}'), ('{c}b'), ('{c}\u{301}')");
    letters.map(text).collect::<Vec<_>>().join(", ")
}

#[test]
fn orders_of_unicode_are_those_of_mysql() {
    let theirs = Peer::start(Kind::Mysql97, "charsets-unicode", Duration::ZERO, &[]).unwrap();
    let ours = Server::start("charsets-unicode", ServerOptions::default()).unwrap();
    let clients = [ours.client(), theirs.client()];
    let values = letters();
    clients.iter().for_each(|client| drop(client.query("CREATE DATABASE d").unwrap()));
    let names = "SELECT collation_name FROM information_schema.collations WHERE character_set_name = 'utf8mb4'";
    let names = clients[0].query(names).unwrap();
    assert!(names.lines().count() >= 24, "{names}");
    for name in names.lines() {
        let statements = format!(
            "SET NAMES utf8mb4; SET SESSION group_concat_max_len = 1000000; USE d; \
             CREATE TABLE {name} (id INT AUTO_INCREMENT PRIMARY KEY, c VARCHAR(3) COLLATE {name}, KEY (c)); \
             INSERT INTO {name} (c) VALUES {values}; \
             SELECT GROUP_CONCAT(HEX(c) ORDER BY id) FROM {name} GROUP BY c ORDER BY c; \
             SELECT COUNT(*) FROM {name} a JOIN {name} b ON a.c = b.c"
        );
        let answers = clients.each_ref().map(|client| client.query(&statements).unwrap());
        for (ours, theirs) in answers[0].lines().zip(answers[1].lines()) {
            assert_eq!(ours, theirs, "{name}");
        }
        assert_eq!(answers[0].len(), answers[1].len(), "{name}");
    }
}

/// What clients write and read in each character set, and what does not fit into it.
#[test]
fn clients_are_answered_as_by_mysql() {
    let theirs = Peer::start(Kind::Mysql97, "charsets-clients", Duration::ZERO, &[]).unwrap();
    let ours = Server::start("charsets-clients", ServerOptions::default()).unwrap();
    let clients = [ours.client(), theirs.client()];
    let sets = sets(&clients[0]);
    for set in sets {
        let statements = format!(
            "CREATE DATABASE {set}; USE {set}; CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, c VARCHAR(9) CHARACTER SET {set}, u VARCHAR(9), \
             a CHAR(9) CHARACTER SET ascii COLLATE ascii_bin); SET NAMES {set}; \
             INSERT INTO t (c, u, a) VALUES ('abc', 'abc', 'abc'), (_{set} x'', '', ''); \
             SELECT @@character_set_client, @@collation_connection, @@character_set_results, CHARSET('x'), COLLATION(CONCAT('x', 1)); \
             SET NAMES utf8mb4; INSERT IGNORE INTO t (c, u) VALUES ('я', 'я'), ('é', 'é'), ('€', '€'), ('語', '語'); \
             SELECT HEX(c), HEX(u), HEX(CONVERT(u USING {set})), c = u, HEX(CONCAT(c, u)), CHARSET(CONCAT(c, a)), c = a FROM t ORDER BY id;"
        );
        let [ours, theirs] = clients.each_ref().map(|client| client.query(&statements));
        assert_eq!(ours.unwrap_or_else(|error| panic!("{set}: {error}")), theirs.unwrap(), "{set}");
        let refused = format!("INSERT INTO {set}.t (c) VALUES ('語')");
        for client in &clients {
            let error = client.query(&format!("SET NAMES utf8mb4; {refused}")).unwrap_err();
            assert!(error.contains("1366") && error.contains("\\xE8\\xAA\\x9E"), "{set}: {error}");
        }
    }
}

/// Binary columns get the bytes that the client wrote, be they text of its character set or not; columns of text refuse those that are none.
#[test]
fn bytes_of_clients_are_kept() {
    let theirs = Peer::start(Kind::Mysql97, "charsets-bytes", Duration::ZERO, &[]).unwrap();
    let ours = Server::start("charsets-bytes", ServerOptions::default()).unwrap();
    let clients = [ours.client(), theirs.client()];
    clients.iter().for_each(|client| {
        client
            .query("CREATE DATABASE d; CREATE TABLE d.b (id INT PRIMARY KEY, x VARBINARY(200), y BLOB, t TEXT)")
            .unwrap();
    });
    let sets = sets(&clients[0]);
    let mut connections = [ours.port(), theirs.port()].map(|port| Connection::open(port, "d").unwrap());
    let all: Vec<u8> = (0x80..=0xff).collect();
    let with = |before: &str, bytes: &[u8], after: &str| [before.as_bytes(), bytes, after.as_bytes()].concat();
    for set in sets {
        let known = characters(&clients[1], &set);
        let text: Vec<u8> = all.iter().copied().filter(|byte| !known.contains(byte)).collect();
        let mut statements = vec![
            format!("SET NAMES {set}").into_bytes(),
            with("INSERT INTO b (id, x, y) VALUES (1, '", &all, &format!("', CONCAT('', _binary'{set}'))")),
            with("INSERT INTO b (id, x, y) VALUES (2, '', _binary'", &all, "'), (3, 1, NULL)"),
            with("UPDATE b SET y = '", &all, "' WHERE id = 3"),
            with("SET @all = '", &all, "'"),
            b"PREPARE p FROM 'INSERT INTO b (id, x, y) VALUES (?, ?, ?), (?, ?, LEFT(?, 7)) ON DUPLICATE KEY UPDATE x = ?'".to_vec(),
            b"SET @a = 4, @b = 5".to_vec(),
            b"EXECUTE p USING @a, @all, @all, @b, @all, @all, @all".to_vec(),
            b"EXECUTE p USING @a, @all, @all, @b, @all, @all, @a".to_vec(),
            b"PREPARE p FROM 'UPDATE b SET y = CAST(? AS BINARY), x = ? WHERE id = 3'".to_vec(),
            b"EXECUTE p USING @all, @all".to_vec(),
            b"SELECT id, HEX(x), HEX(y), t FROM b ORDER BY id".to_vec(),
        ];
        statements.extend(text.iter().map(|&byte| with("INSERT INTO b (id, t) VALUES (9, 'a", &[byte], "')")));
        statements.push(b"DELETE FROM b".to_vec());
        for statement in statements {
            let answers = connections.each_mut().map(|connection| connection.query_bytes(&statement).unwrap());
            let [ours, theirs] = answers.map(|answer| match answer {
                Answer::Failed(code, _) => code.to_string(),
                Answer::Rows { rows, .. } => {
                    let shown = |value: &Option<Vec<u8>>| {
                        value.as_deref().map(|value| String::from_utf8_lossy(value).into_owned())
                    };
                    format!(
                        "{:?}",
                        rows.iter().map(|row| row.iter().map(shown).collect::<Vec<_>>()).collect::<Vec<_>>()
                    )
                }
                Answer::Done(_) => String::new(),
            });
            assert_eq!(ours, theirs, "{set}: {}", String::from_utf8_lossy(&statement));
        }
    }
}

/// What is in two of them has a character set that has both, or none.
#[test]
fn which_of_two() {
    let theirs = Peer::start(Kind::Mysql97, "charsets-two", Duration::ZERO, &[]).unwrap();
    let ours = Server::start("charsets-two", ServerOptions::default()).unwrap();
    let clients = [ours.client(), theirs.client()];
    let table = "CREATE DATABASE d; CREATE TABLE d.t (l CHAR(9) CHARACTER SET latin1, r CHAR(9) CHARACTER SET cp1251, a CHAR(9) CHARACTER SET ascii, \
         u CHAR(9), b CHAR(9) CHARACTER SET cp1251 COLLATE cp1251_bin, g CHAR(9) CHARACTER SET cp1251 COLLATE cp1251_general_cs); \
         INSERT INTO d.t VALUES ('a', 'a', 'a', 'a', 'a', 'a'), ('é', 'я', 'z', '語', 'я', 'я')";
    clients.iter().for_each(|client| drop(client.query(table).unwrap()));
    let mut differences = String::new();
    for expression in [
        "CONCAT(l, r)",
        "l = r",
        "CASE WHEN l THEN l ELSE r END",
        "IF(1, r, l)",
        "COALESCE(l, r)",
        "CONCAT_WS(u, l, r)",
        "CONCAT(l, r, u)",
        "CONCAT(l, a)",
        "CONCAT(a, r)",
        "a = r",
        "a = l",
        "CONCAT(l, u)",
        "CONCAT(u, r)",
        "r = u",
        "b = r",
        "b = g",
        "CONCAT(b, g)",
        "CONCAT(l, r COLLATE cp1251_bin)",
        "GREATEST(l, r)",
        "REPLACE(l, r, a)",
        "CONCAT(l, BINARY r)",
        "l IN (a, r)",
        "l < r",
        "MAX(CONCAT(a, r))",
    ] {
        let query = format!("SELECT CHARSET({expression}), COLLATION({expression}), HEX({expression}) FROM d.t");
        // Of an error what the server says.
        let said =
            |client: &Client| client.query(&query).map_err(|error| error.split("ERROR").last().unwrap().to_owned());
        let [ours, theirs] = clients.each_ref().map(said);
        if ours != theirs {
            writeln!(differences, "{expression}\n  {ours:?}\n  {theirs:?}").unwrap();
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

/// Rows and statements in all character sets, over a server of ours to another kind.
fn along_a_chain(kind: Kind, other: Kind, format: &str) {
    let source = Node::Peer(Peer::start(kind, "charsets-source", Duration::ZERO, &[format]).unwrap());
    let options = ServerOptions::with_settings(["version=11.8.0-commuter"]);
    let mut middle = Node::Ours(Server::start(&format!("charsets-of-{kind:?}"), options).unwrap());
    let end = Node::Peer(Peer::start(other, "charsets-end", Duration::ZERO, &[]).unwrap());
    middle.follow(source.port()).unwrap();
    source.client().query("CREATE DATABASE d").unwrap();
    end.follow(middle.port()).unwrap();
    let collations = collations(&middle.client());
    let mut contents = String::new();
    for (name, set) in &collations {
        let bytes = characters(&middle.client(), set);
        let some: String = bytes.iter().step_by(11).map(|byte| format!("{byte:02x}")).collect();
        let statements = format!(
            "USE d; CREATE TABLE {name} (id INT AUTO_INCREMENT PRIMARY KEY, c VARCHAR(40) CHARACTER SET {set} COLLATE {name}, \
             e ENUM('a', 'b') CHARACTER SET {set}, KEY (c)); \
             INSERT INTO {name} (c, e) VALUES (_{set} x'{some}', 'a'), (_{set} x'41{some}42', 'b'); \
             SET NAMES {set}; INSERT INTO {name} (c) VALUES ('abc'), (CONCAT('x', _{set} x'{some}')); \
             UPDATE {name} SET c = CONCAT(c, 'z') WHERE c = _{set} x'{some}'; SET NAMES utf8mb4;"
        );
        source.client().query(&statements).unwrap_or_else(|error| panic!("{name}: {error}"));
        write!(contents, "SELECT '{name}', id, HEX(c), HEX(CONVERT(c USING utf8mb4)), e FROM d.{name} ORDER BY c, id;")
            .unwrap();
    }
    for replica in [&middle, &end] {
        source.wait_for_replica(replica, PATIENCE).unwrap();
    }
    let theirs = source.client().query(&contents).unwrap();
    assert!(theirs.lines().count() >= 4 * collations.len());
    for replica in [&middle, &end] {
        for (ours, theirs) in replica.client().query(&contents).unwrap().lines().zip(theirs.lines()) {
            assert_eq!(ours, theirs);
        }
    }
    middle.kill();
    middle.restart().unwrap();
    assert_eq!(middle.client().query(&contents).unwrap(), theirs);
}

#[test]
fn from_a_mysql_to_a_mariadb() {
    along_a_chain(Kind::Mysql97, Kind::Maria118, "--binlog-format=STATEMENT");
}

#[test]
fn from_a_mariadb_to_a_mysql() {
    along_a_chain(Kind::Maria118, Kind::Mysql97, "--binlog-format=ROW");
}
