//! What a server is started with; read then, and fixed until its end.

use super::*;

settings! {
    start: StartSettings;

    bind_address: Text = fixed(TEXT, "127.0.0.1").alias(&["bind"]).doc("The address that the server listens on.");
    binlog_row_event_max_size: usize = fixed(Kind::UInt { min: 256, max: 1 << 30, block: 256 }, "8192")
        .doc("Size in bytes at which a rows event is closed and the next begun.");
    binlog_sync_method: SyncMethod = fixed(Kind::Enum(&["FDATASYNC", "O_DSYNC"]), "FDATASYNC")
        .doc("How a group is made durable: a write and fdatasync, or one write to a file opened with O_DSYNC.");
    character_set_client_handshake: bool = fixed(BOOL, "ON")
        .doc("Whether a connection begins with the character set that the client says; OFF: with that of the server (`skip-character-set-client-handshake`).");
    character_set_system = fixed(Kind::CharacterSet, "utf8mb3").no_option().doc("The character set of names.");
    datadir: Text = fixed(TEXT, "").doc("Where the data is.");
    default_authentication_plugin: Text = fixed(Kind::Enum(&["caching_sha2_password", "mysql_native_password"]),
        "caching_sha2_password")
        .doc("How new accounts prove themselves if nothing else is said.");
    disconnect_on_expired_password: bool = fixed(BOOL, "ON")
        .doc("Clients that cannot change an expired password are refused (1862); OFF lets them in, to run nothing else (1820).");
    hostname: Text = fixed(TEXT, "localhost").no_option().doc("The machine's name.");
    innodb_buffer_pool_size: usize = global(Kind::UInt { min: 5 << 20, max: 1 << 50, block: 1 << 20 }, "134217728")
        .alias(&["page_cache_size"]).read_only()
        .doc("Size of the page cache in bytes.");
    innodb_io_method: IoMethod = fixed(Kind::Enum(&["AUTO", "IO_URING", "THREADS"]), "AUTO").alias(&["io_method"])
        .doc("How pages are read and written: io_uring, or worker threads; AUTO takes what works.");
    license = fixed(TEXT, "MIT OR Apache-2.0").no_option().doc("The program's licence.");
    log_bin = fixed(BOOL, "ON").only(&["ON"]).doc("Whether there is a binary log. Always ON: there is no other log.");
    log_bin_basename = fixed(TEXT, "").no_option().doc("Where the log files are, without their numbers.");
    log_bin_index = fixed(TEXT, "").understood().doc("Where the list of log files is.");
    log_error: Text = fixed(TEXT, "stderr")
        .doc("The file that messages go to, relative to datadir; `stderr` for the standard error output. SIGHUP and FLUSH LOGS open it anew.");
    log_replica_updates: bool = fixed(BOOL, "ON").alias(&["log_slave_updates"])
        .doc("Whether what a replica applies stays in its own log. The log is what it applies, so that it is always written there; where this is OFF, \
         files go within seconds once neither recovery nor a server that reads them needs them, as long as a replica runs.");
    pid_file: Text = fixed(TEXT, "").doc("Where the server writes its process id.");
    port: u16 = fixed(uint(0, 65535), "3306").doc("The TCP port; 0 takes a free one.");
    protocol_version = fixed(uint(10, 10), "10").no_option().doc("Version of the client/server protocol.");
    recovery_read_only: bool = fixed(BOOL, "OFF")
        .doc("Whether clients are let in as soon as the newest checkpoint is open: they read the state that recovery has come to, and cannot write (1290) before it is complete.");
    report_host: Text = fixed(TEXT, "").server_state(ServerState::ReportHost)
        .doc("The name under which this server registers with its source.");
    report_port: u16 = fixed(uint(0, 65535), "0").server_state(ServerState::ReportPort)
        .doc("The port that this server registers with its source; 0 for its own.");
    secure_file_priv: Text = fixed(TEXT, "NULL")
        .doc("The folder of which LOAD DATA may read files of the server; empty for any, NULL for none. Accounts need the privilege FILE.");
    server_id: u32 = global(uint(0, u32::MAX as u64), "1").read_only().not_for_statements()
        .doc("This server's number in the replication topology; in every event.");
    server_uuid = fixed(TEXT, "").no_option()
        .doc("This server's identity; made at first start, the first half of its GTIDs.");
    skip_networking: bool = fixed(BOOL, "OFF").doc("Whether only the socket is served.");
    skip_replica_start: bool = fixed(BOOL, "OFF").alias(&["skip_slave_start"])
        .doc("Whether replication waits for START REPLICA after a start of the server. OFF: it goes on, as it is configured.");
    socket: Text = fixed(TEXT, "").doc("The path of the Unix socket; relative to datadir.");
    ssl_ca: Text = fixed(TEXT, "").doc("Certificates that clients' certificates are checked against.");
    ssl_cert: Text = fixed(TEXT, "server-cert.pem")
        .doc("The server's certificate; made at first start if it is missing.");
    ssl_key: Text = fixed(TEXT, "server-key.pem").doc("The key of the server's certificate.");
    system_time_zone: Zone = fixed(TEXT, "UTC").doc("The zone of the machine.");
    tls_version: Text = fixed(Kind::Set(&["TLSv1.2", "TLSv1.3"]), "TLSv1.2,TLSv1.3")
        .doc("Versions of TLS that are spoken.");
    user: Text = fixed(TEXT, "").doc("The user of the operating system that the server becomes when root starts it.");
    version: Text = fixed(TEXT, "")
        .doc("The version that clients are told: MySQL's that is spoken, and this program's. May be another, as with MariaDB: its \
         replicas follow by GTIDs where it begins with 10 or more (`11.8.0-commuter`), and by position where it does not.");
    version_comment = fixed(TEXT, "commuter").no_option().doc("The program's name, by which its servers know one another.");
    version_compile_machine = fixed(TEXT, "x86_64").no_option().doc("The machine that the program was built for.");
    version_compile_os = fixed(TEXT, "Linux").no_option().doc("The system that the program was built for.");
    worker_threads: usize = fixed(uint(0, 1024), "0").doc("Threads that run sessions; 0 for one per core.");
    xa_detach_on_prepare = fixed(BOOL, "ON").only(&["ON"]).restricted(Restricted::Session)
        .doc("A session lets go of a transaction that it has prepared (XA). Always ON.");
}
