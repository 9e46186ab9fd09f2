//! What the server is in its topology, and which transactions it has: changing them is work of the server.

use super::*;

subscribed_settings! {
    role: RoleSettings, RoleChange;

    gtid_purged: Text = global(TEXT, "").no_option().server_state(ServerState::GtidPurged)
        .doc("Transactions of gtid_executed that are in no log file, or not any more. '+…' adds to it: what a dump that is loaded \
         says that it holds.");
    gtid_slave_pos: Text = global(TEXT, "").no_option().server_state(ServerState::GtidSlavePos)
        .doc("The last transaction of each domain of MariaDB sources that is executed here. Set to what a dump that is loaded says that it holds.");
    read_only: bool = global(BOOL, "OFF").doc("Whether accounts without CONNECTION_ADMIN may change data (1290).");
    sql_replica_skip_counter: u64 = global(U32, "0").alias(&["sql_slave_skip_counter"])
        .doc("Events of a MySQL or MariaDB source to leave out from the next START REPLICA on; a transaction is left out as a whole, and counts as executed. \
         Goes down to 0 while that is done.");
    super_read_only: bool = global(BOOL, "OFF").doc("Whether nobody may change data (1290). ON while following.");
}
