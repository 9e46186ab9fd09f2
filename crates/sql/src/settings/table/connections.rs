//! Who may connect, and how: read when somebody does.

use super::*;

settings! {
    connections: ConnectionSettings;

    connect_timeout: Seconds = global(uint(2, 31_536_000), "10").doc("Seconds that a client may take to log in.");
    max_connections: u32 = global(uint(1, 100_000), "10000").doc("Most clients at one time (1040).");
    protocol_compression_algorithms: Text = global(Kind::Set(&["zlib", "zstd", "uncompressed"]), "zlib,zstd,uncompressed")
        .doc("How clients may have their connections compressed; without `uncompressed` they have to.");
    require_secure_transport: bool = global(BOOL, "OFF")
        .doc("Whether clients without TLS are refused, unless they come over the socket.");
    skip_name_resolve = fixed(BOOL, "ON").only(&["ON"])
        .doc("Names of hosts are not looked up; accounts are matched by address.");
}
