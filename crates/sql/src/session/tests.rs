//! Golden tests of sessions on a real engine, and what they tell of their changes.

use super::Change;

#[test]
fn transactions() {
    crate::testing::golden("golden/session_transactions.txt");
}

#[test]
fn distributed_transactions() {
    crate::testing::golden("golden/session_xa.txt");
}

#[test]
fn temporary_tables() {
    crate::testing::golden("golden/session_temporary.txt");
}

#[test]
fn chosen_gtids() {
    crate::testing::golden("golden/session_gtid_next.txt");
}

#[test]
fn events_of_logs() {
    crate::testing::golden("golden/session_binlog.txt");
}

#[test]
fn settings() {
    crate::testing::golden("golden/session_set.txt");
}

#[test]
fn prepared() {
    crate::testing::golden("golden/session_prepared.txt");
}

#[test]
fn explain() {
    crate::testing::golden("golden/session_explain.txt");
}

#[test]
fn hints() {
    crate::testing::golden("golden/session_hints.txt");
}

#[test]
fn show() {
    crate::testing::golden("golden/session_show.txt");
}

#[test]
fn statistics() {
    crate::testing::golden("golden/session_statistics.txt");
}

#[test]
fn privileges() {
    crate::testing::golden("golden/session_privileges.txt");
}

#[test]
fn roles() {
    crate::testing::golden("golden/session_roles.txt");
}

#[test]
fn rights() {
    crate::testing::golden("golden/session_rights.txt");
}

#[test]
fn locked_tables() {
    crate::testing::golden("golden/session_lock_tables.txt");
}

#[test]
fn counters() {
    crate::testing::golden("golden/session_counters.txt");
}

#[test]
fn user_locks() {
    crate::testing::golden("golden/session_user_locks.txt");
}

#[test]
fn limits() {
    crate::testing::golden("golden/session_limits.txt");
}

#[test]
fn load_data() {
    crate::testing::golden("golden/session_load_data.txt");
}

#[test]
fn json() {
    crate::testing::golden("golden/session_json.txt");
}

#[test]
fn changes() {
    crate::testing::golden("golden/session_changes.txt");
}

#[test]
fn comparisons() {
    crate::testing::golden("golden/session_comparisons.txt");
}

#[test]
fn create_select() {
    crate::testing::golden("golden/session_create_select.txt");
}

#[test]
fn insert_id() {
    crate::testing::golden("golden/session_insert_id.txt");
}

/// What OK packets say of each statement's changes.
#[test]
fn tracked_changes() {
    let path = "golden/session_track.txt";
    let mut inputs = Vec::new();
    crate::golden::read(path, |input| inputs.push(input.to_string()));
    let outputs = crate::testing::with_server(|shared| async move {
        let mut session = crate::testing::session(&shared, "root");
        let mut outputs = std::collections::VecDeque::new();
        for input in inputs {
            session.query(input.as_bytes(), &mut crate::result::Collected::default()).await.unwrap();
            outputs.push_back(session.take_changes().iter().map(line).collect::<String>());
        }
        outputs
    });
    let mut outputs = outputs;
    crate::golden::check(path, |_| outputs.pop_front().unwrap_or_default());
}

fn line(change: &Change) -> String {
    match change {
        Change::Variable(name, value) => format!("{name} = {value}\n"),
        Change::Schema(name) => format!("default database: '{name}'\n"),
        Change::State => "the session's state\n".into(),
        Change::Gtids(set) => format!("GTIDs: {set}\n"),
    }
}
