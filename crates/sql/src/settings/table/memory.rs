//! The memory of all connections together: what counts it subscribes to them.

use super::*;

subscribed_settings! {
    memory: MemorySettings, MemoryChange;

    connection_memory_chunk_size: u64 = global(uint(0, 512 << 20), "8192").restricted(Restricted::Session)
        .doc("Bytes that a connection may take before the limits are looked at again.");
    global_connection_memory_limit: u64 = global(uint(16 << 20, u64::MAX), "18446744073709551615")
        .doc("Bytes of memory that all connections may take together (4081), but for accounts with CONNECTION_ADMIN.");
}
