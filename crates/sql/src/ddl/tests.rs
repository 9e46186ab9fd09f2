//! Golden tests of definitions, in a session on a real engine.

#[test]
fn tables() {
    crate::testing::golden("golden/ddl_tables.txt");
}

#[test]
fn errors() {
    crate::testing::golden("golden/ddl_errors.txt");
}

#[test]
fn alter() {
    crate::testing::golden("golden/ddl_alter.txt");
}

#[test]
fn compression() {
    crate::testing::golden("golden/ddl_compression.txt");
}

#[test]
fn accounts() {
    crate::testing::golden("golden/ddl_accounts.txt");
}

#[test]
fn numbers() {
    crate::testing::golden("golden/ddl_numbers.txt");
}
