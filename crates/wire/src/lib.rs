//! MySQL's client/server protocol 4.1 as bytes in and bytes out: no sockets, no tasks, no clock.
//!
//! Both ends are here: what a server reads and writes, and what a client (a follower, a tool) does. Whoever owns the
//! stream feeds bytes to a [`PacketReader`], gets whole packets, decodes them with the functions of the module
//! that is named after the packet, and writes answers through a [`PacketWriter`].
//!
//! | module | what |
//! |---|---|
//! | [`frame`] | packets out of a stream and into it: headers, sequence numbers, splits at 16 MiB |
//! | [`compress`] | frames in which packets are compressed |
//! | [`codec`] | the integers and strings that packets are made of |
//! | [`flags`] | capability, status and column flags, type bytes, command bytes |
//! | [`handshake`] | greeting, its answer, TLS request, change of the authentication method |
//! | [`auth`] | the maths of `mysql_native_password` and `caching_sha2_password` |
//! | [`reply`] | OK, ERR, EOF |
//! | [`column`], [`row`] | result sets, text and binary |
//! | [`command`], [`params`] | what clients ask, and the parameters of prepared statements |
//! | [`replication`] | registering as a replica, asking for a log |
//! | [`client`] | the client's side of a connection, as a state machine |
//!
//! # Invariants
//! - Decoders take any bytes: they answer with a value or a [`WireError`], never with a panic, and what they
//!   allocate is bounded by the bytes that were really received (never by a length that was only announced).
//! - A packet that was begun in a [`PacketWriter`] is whole when it is handed out.

pub mod auth;
pub mod client;
pub mod codec;
pub mod column;
pub mod command;
pub mod compress;
mod error;
pub mod flags;
pub mod frame;
pub mod handshake;
pub mod params;
pub mod replication;
pub mod reply;
pub mod row;

pub use error::WireError;
pub use frame::{PacketReader, PacketWriter};
