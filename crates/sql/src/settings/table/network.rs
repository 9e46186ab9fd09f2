//! Who may connect, how, and how long.

use super::*;

/// Ways to say that the first factor of an account is what it asks for, and caching_sha2_password if it does not.
const DEFAULT_POLICIES: [&str; 6] = [
    "*,,",
    "*",
    "caching_sha2_password",
    "caching_sha2_password,,",
    "*:caching_sha2_password",
    "*:caching_sha2_password,,",
];

pub(super) const ALL: &[Setting] = &[
    fixed("bind_address", TEXT, "127.0.0.1").alias(&["bind"]).doc("The address that the server listens on."),
    both("connection_memory_limit", uint(2 << 20, u64::MAX), "268435456").doc(
        "Bytes of memory that a connection may take beyond what goes to temporary files; its statement ends (4082), and the connection with it. \
         Accounts with CONNECTION_ADMIN have no such limit. (In MySQL no account has one by default.)",
    ),
    global("connection_memory_chunk_size", uint(0, 512 << 20), "8192")
        .doc("Bytes that a connection may take before the limits are looked at again."),
    global("connect_timeout", uint(2, 31_536_000), "10").doc("Seconds that a client may take to log in."),
    fixed(
        "default_authentication_plugin",
        Kind::Enum(&["caching_sha2_password", "mysql_native_password"]),
        "caching_sha2_password",
    )
    .doc("How new accounts prove themselves if nothing else is said."),
    global("authentication_policy", TEXT, "*,,")
        .understood()
        .only(&DEFAULT_POLICIES)
        .doc("See default_authentication_plugin."),
    global("default_password_lifetime", uint(0, 65535), "0").doc(
        "Days after which passwords expire, of accounts that say nothing themselves (PASSWORD EXPIRE DEFAULT); 0 for never.",
    ),
    fixed("disconnect_on_expired_password", BOOL, "ON").doc(
        "Clients that cannot change an expired password are refused (1862); OFF lets them in, to run nothing else (1820).",
    ),
    fixed("have_ssl", TEXT, "YES").alias(&["have_openssl"]).understood().no_option().doc("Whether TLS is there."),
    both("generated_random_password_length", uint(5, 255), "20").doc("Signs of a password that RANDOM PASSWORD makes."),
    global("global_connection_memory_limit", uint(16 << 20, u64::MAX), "18446744073709551615").doc(
        "Bytes of memory that all connections may take together (4081), but for accounts with CONNECTION_ADMIN.",
    ),
    fixed("global_connection_memory_tracking", BOOL, "ON")
        .understood()
        .doc("Connections' memory is always counted; their sum is Global_connection_memory."),
    both("interactive_timeout", uint(1, 31_536_000), "28800")
        .doc("As wait_timeout, for clients that say they are interactive."),
    both("max_allowed_packet", Kind::UInt { min: 1024, max: 1 << 30, block: 1024 }, "67108864")
        .doc("Largest packet in bytes."),
    global("max_connect_errors", uint(1, u64::MAX), "100")
        .understood()
        .doc("Hosts are not blocked for failed connections."),
    global("max_connections", uint(1, 100_000), "10000").doc("Most clients at one time (1040)."),
    global("activate_all_roles_on_login", BOOL, "OFF")
        .doc("A login activates all roles of its account, not its default ones."),
    global("partial_revokes", BOOL, "OFF").doc("REVOKE on a database takes there what an account has on everything."),
    global("mandatory_roles", TEXT, "").doc("Roles that every account has, with commas between."),
    both("max_user_connections", U32, "0").doc("Most clients of one account; 0 for no limit."),
    both("net_buffer_length", Kind::UInt { min: 1024, max: 1 << 20, block: 1024 }, "16384")
        .doc("Bytes gathered before they are sent."),
    both("net_read_timeout", uint(1, 31_536_000), "30").doc("Seconds that the rest of a packet may take to come."),
    both("net_retry_count", uint(1, u64::MAX), "10").understood().doc("Interrupted reads are always continued."),
    both("net_write_timeout", uint(1, 31_536_000), "60").doc("Seconds that a client may take to read what was sent."),
    global("password_history", U32, "0")
        .doc("How many of its last passwords an account may not use again, if it says nothing itself (PASSWORD HISTORY DEFAULT)."),
    global("password_require_current", BOOL, "OFF").doc(
        "Who changes the own password has to say the current one (REPLACE), if the account says nothing itself (PASSWORD REQUIRE CURRENT DEFAULT).",
    ),
    global("password_reuse_interval", U32, "0").doc(
        "For how many days an account may not use a password again, if it says nothing itself (PASSWORD REUSE INTERVAL DEFAULT).",
    ),
    fixed("pid_file", TEXT, "").doc("Where the server writes its process id."),
    fixed("port", uint(0, 65535), "3306").doc("The TCP port; 0 takes a free one."),
    global("protocol_compression_algorithms", Kind::Set(&["zlib", "zstd", "uncompressed"]), "zlib,zstd,uncompressed")
        .doc("How clients may have their connections compressed; without `uncompressed` they have to."),
    fixed("protocol_version", uint(10, 10), "10").no_option().doc("Version of the client/server protocol."),
    global("require_secure_transport", BOOL, "OFF")
        .doc("Whether clients without TLS are refused, unless they come over the socket."),
    fixed("report_host", TEXT, "").doc("The name under which this server registers with its source."),
    fixed("report_port", uint(0, 65535), "0")
        .doc("The port that this server registers with its source; 0 for its own."),
    fixed("skip_name_resolve", BOOL, "ON").only(&["ON"]).doc("Names of hosts are not looked up; accounts are matched by address."),
    fixed("skip_networking", BOOL, "OFF").doc("Whether only the socket is served."),
    fixed("socket", TEXT, "").doc("The path of the Unix socket; relative to datadir."),
    fixed("ssl_ca", TEXT, "").doc("Certificates that clients' certificates are checked against."),
    fixed("ssl_cert", TEXT, "server-cert.pem").doc("The server's certificate; made at first start if it is missing."),
    fixed("ssl_key", TEXT, "server-key.pem").doc("The key of the server's certificate."),
    fixed("tls_version", Kind::Set(&["TLSv1.2", "TLSv1.3"]), "TLSv1.2,TLSv1.3").doc("Versions of TLS that are spoken."),
    fixed("user", TEXT, "").doc("The user of the operating system that the server becomes when root starts it."),
    both("wait_timeout", uint(1, 31_536_000), "28800").doc("Seconds after which an idle connection is closed."),
    fixed("worker_threads", uint(0, 1024), "0").doc("Threads that run sessions; 0 for one per core."),
];
