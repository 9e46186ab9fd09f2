//! Golden tests of sessions on a real engine.

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
fn show() {
    crate::testing::golden("golden/session_show.txt");
}

#[test]
fn privileges() {
    crate::testing::golden("golden/session_privileges.txt");
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
