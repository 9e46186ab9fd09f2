//! Reading while the server recovers, where that is asked for.

use interop::{Answer, Connection, Server, ServerOptions, until};

const STATEMENTS: i64 = 300;
const ROWS_EACH: i64 = 2000;
/// ER_OPTION_PREVENTS_STATEMENT
const READ_ONLY: u16 = 1290;
const COUNT: &str = "SELECT COUNT(*) FROM d.t";

fn fill(server: &Server) {
    let setup = "CREATE DATABASE d; CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, s VARCHAR(100), KEY (s)); \
                 CREATE TABLE d.digits (n INT PRIMARY KEY); INSERT INTO d.digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)";
    server.client().query(setup).unwrap();
    let mut connection = Connection::open(server.port(), "d").unwrap();
    for n in 0..STATEMENTS {
        let text = format!("CONCAT(d.n, c.n, b.n, a.n, ' of {n}, and some more of it')");
        let sql = format!(
            "INSERT INTO t (s) SELECT {text} FROM digits a, digits b, digits c, digits d WHERE d.n < {}",
            ROWS_EACH / 1000
        );
        assert!(matches!(connection.query(&sql), Ok(Answer::Done(_))));
    }
}

fn number(connection: &mut Connection, sql: &str) -> i64 {
    match connection.query(sql).unwrap() {
        Answer::Rows { rows, .. } => String::from_utf8_lossy(rows[0][0].as_ref().unwrap()).parse().unwrap(),
        other => panic!("{sql}: {other:?}"),
    }
}

fn insert(connection: &mut Connection) -> Answer {
    connection.query("INSERT INTO d.t (s) VALUES ('new')").unwrap()
}

#[test]
fn clients_read_what_recovery_has_come_to() {
    let settings = ["checkpoint_log_size=16G", "recovery_target_time=0", "memtable_size=2G", "recovery_read_only=ON"];
    let mut server = Server::start("recovery-read", ServerOptions::with_settings(settings)).unwrap();
    fill(&server);
    for shutdown in [true, false] {
        server.kill();
        server.restart_without_waiting().unwrap();
        let mut early = None;
        until("the checkpoint", || {
            early = Connection::open(server.port(), "").ok();
            early.is_some()
        });
        let mut early = early.unwrap();
        // Recovery waits for this, so that it can be looked at.
        assert!(matches!(early.query("FLUSH TABLES WITH READ LOCK").unwrap(), Answer::Done(_)));
        let mut other = Connection::open(server.port(), "").unwrap();
        // At the very beginning there was no table.
        let count = match other.query(COUNT).unwrap() {
            Answer::Failed(..) => 0,
            _ => number(&mut other, COUNT),
        };
        assert!(count < STATEMENTS * ROWS_EACH, "recovery was complete before anybody could come");
        assert_eq!(count % ROWS_EACH, 0, "half a transaction");
        if count > 0 {
            assert_eq!(number(&mut other, "SELECT COUNT(*) FROM d.t FORCE INDEX (s) WHERE s > ''"), count);
        }
        for sql in ["CREATE DATABASE e", "CREATE TABLE d.e (a INT PRIMARY KEY)", "INSERT INTO d.digits VALUES (10)"] {
            let answer = other.query(sql).unwrap();
            assert!(matches!(answer, Answer::Failed(READ_ONLY | 1049 | 1146, _)), "{sql}: {answer:?}");
        }
        assert_eq!(number(&mut other, "SELECT @@super_read_only"), 1);
        if shutdown {
            // Nobody waits for the rest.
            assert!(matches!(other.query("SHUTDOWN"), Ok(Answer::Done(_))));
            assert!(server.ends_within(std::time::Duration::from_secs(30)).unwrap());
            server.restart().unwrap();
            continue;
        }
        assert!(matches!(early.query("UNLOCK TABLES").unwrap(), Answer::Done(_)));
        let mut last = count;
        until("the end of recovery", || match insert(&mut other) {
            Answer::Done(_) => true,
            answer => {
                assert!(matches!(answer, Answer::Failed(READ_ONLY | 1146, _)), "{answer:?}");
                if let Answer::Rows { .. } = other.query(COUNT).unwrap() {
                    let now = number(&mut other, COUNT);
                    assert!(now >= last && now % ROWS_EACH == 0, "{last}, and then {now}");
                    last = now;
                }
                false
            }
        });
        assert_eq!(number(&mut other, COUNT), STATEMENTS * ROWS_EACH + 1);
        assert_eq!(number(&mut other, "SELECT @@super_read_only"), 0);
        server.client().query("CREATE DATABASE e").unwrap();
    }
    server.stop().unwrap();
}
