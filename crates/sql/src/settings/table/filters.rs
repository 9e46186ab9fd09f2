//! What of a source's log is executed here.

use super::*;

subscribed_settings! {
    filters: FilterSettings, FilterChange;

    replicate_do_db: Text = global(TEXT, "")
        .doc("Of a source whose log is executed (not copied) only these databases, between commas. As CHANGE REPLICATION FILTER.");
    replicate_do_table: Text = global(TEXT, "").doc("Only these tables: `database.table`, between commas.");
    replicate_ignore_db: Text = global(TEXT, "").doc("Not these databases.");
    replicate_ignore_table: Text = global(TEXT, "").doc("Not these tables.");
    replicate_rewrite_db: Text = global(TEXT, "")
        .doc("The source's databases that have another name here: `theirs->ours`, between commas. Before all other rules.");
    replicate_wild_do_table: Text = global(TEXT, "").doc("Only tables of these patterns: `data%.t\\_%`, as of LIKE.");
    replicate_wild_ignore_table: Text = global(TEXT, "").doc("Not tables of these patterns.");
}
