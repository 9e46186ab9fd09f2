//! What bounds statements of all sessions together, and the server's alone.

use super::*;

settings! {
    statements: StatementSettings;

    local_infile: bool = global(BOOL, "OFF").doc("Whether clients may send files (LOAD DATA LOCAL).");
    max_prepared_stmt_count: u64 = global(uint(0, 4194304), "16382")
        .doc("Most prepared statements of all sessions together.");
    regexp_stack_limit: u64 = global(uint(0, i32::MAX as u64), "8000000")
        .doc("Bytes that a compiled regular expression takes at most (3698); 0 for a gigabyte. There is no stack of states to go back to, which MySQL bounds with it.");
    regexp_time_limit: u64 = global(uint(0, i32::MAX as u64), "32")
        .doc("Seconds that all searches of one call of REGEXP_LIKE and its kin take at most (3699); 0 for any time. It is looked at between two searches, and one search takes time that grows with the text only. (MySQL counts steps.)");
}
