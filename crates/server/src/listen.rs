//! Listeners: TCP addresses and the Unix socket, one task each, one task per connection.

use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use session::{Peer, Shared};
use tokio::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};
use tokio_rustls::TlsAcceptor;

use crate::datadir::own_user;
use crate::error::{Context, ServerError};
use crate::socket::Socket;

/// The longest path of a Unix socket that the operating system takes.
const SOCKET_PATH_BYTES_MAX: usize = 107;
/// Connections that wait to be accepted.
const BACKLOG: u32 = 1024;
/// After an error of accept (no file descriptors left), before the next try.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Takes the addresses, so that one that cannot be had is known before anything else is done. Nobody can connect before
/// [`listen`].
pub(crate) async fn bind_tcp(addresses: &str, port: u16) -> Result<Vec<(String, TcpSocket)>, ServerError> {
    let mut sockets = Vec::new();
    for address in addresses.split(',').map(str::trim).filter(|address| !address.is_empty()) {
        let host = match address {
            "*" | "::" => "[::]",
            other => other,
        };
        let is_bare_ipv6 = host.contains(':') && !host.starts_with('[');
        let text = if is_bare_ipv6 { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let found = tokio::net::lookup_host(&text).await.context(|| format!("cannot listen on {text}"))?.next();
        let Some(found) = found else { continue };
        let socket = socket_at(found).map_err(|error| cannot_listen(&text, error))?;
        sockets.push((text, socket));
    }
    Ok(sockets)
}

fn socket_at(address: SocketAddr) -> std::io::Result<TcpSocket> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Else the connections of a server that was here before would keep us out for a while.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// Lets clients connect to the addresses that were taken.
pub(crate) fn listen(sockets: Vec<(String, TcpSocket)>) -> Result<Vec<TcpListener>, ServerError> {
    let listening =
        sockets.into_iter().map(|(text, socket)| socket.listen(BACKLOG).map_err(|e| cannot_listen(&text, e)));
    listening.collect()
}

fn cannot_listen(address: &str, error: std::io::Error) -> ServerError {
    let what = match error.kind() {
        ErrorKind::AddrInUse => return ServerError::AddressInUse(address.to_owned()),
        ErrorKind::AddrNotAvailable => {
            format!("cannot listen on {address}, which is no address of this machine (--bind)")
        }
        _ => format!("cannot listen on {address}"),
    };
    ServerError::Io { what, error }
}

/// Binds the Unix socket. A file that a dead server left is removed; a live server's is not.
pub(crate) async fn bind_unix(path: &Path) -> Result<UnixListener, ServerError> {
    let what = || format!("cannot listen on {}", path.display());
    if path.as_os_str().len() > SOCKET_PATH_BYTES_MAX {
        let error = std::io::Error::new(ErrorKind::InvalidInput, "the path of a Unix socket has at most 107 bytes");
        return Err(error).context(what);
    }
    if path.exists() {
        if UnixStream::connect(path).await.is_ok() {
            return Err(ServerError::AddressInUse(path.display().to_string()));
        }
        fs::remove_file(path).context(what)?;
    }
    let listener = UnixListener::bind(path).context(what)?;
    // Anybody may connect; who gets in is the accounts' matter.
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).context(what)?;
    Ok(listener)
}

/// Accepts TCP connections for ever.
pub(crate) async fn serve_tcp(listener: TcpListener, shared: Arc<Shared>, tls: Option<TlsAcceptor>) {
    accept_each(listener, tls, |socket| start(&shared, socket)).await;
}

/// The same, for whoever makes something of them.
pub(crate) async fn accept_each(listener: TcpListener, tls: Option<TlsAcceptor>, start: impl Fn(Socket)) {
    loop {
        match listener.accept().await {
            Ok((stream, address)) => start(of_tcp(stream, address, tls.clone())),
            Err(error) => pause_after(&error).await,
        }
    }
}

fn of_tcp(stream: TcpStream, address: SocketAddr, tls: Option<TlsAcceptor>) -> Socket {
    // Answers are written whole, so there is nothing to wait for; a socket that refuses this works all the same.
    let _ = stream.set_nodelay(true);
    let peer = Peer {
        host: address.ip().to_canonical().to_string(),
        port: address.port(),
        can_start_tls: tls.is_some(),
        ..Peer::default()
    };
    Socket::tcp(stream, peer, tls)
}

/// Accepts connections of the Unix socket for ever.
pub(crate) async fn serve_unix(listener: UnixListener, shared: Arc<Shared>) {
    let own_user = own_user();
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let user = stream.peer_cred().map(|credentials| credentials.uid()).ok();
                let peer = Peer {
                    host: session::auth::LOCALHOST.to_owned(),
                    is_owner: user.is_some() && (user == Some(0) || user == own_user),
                    protected: true,
                    ..Peer::default()
                };
                start(&shared, Socket::unix(stream, peer));
            }
            Err(error) => pause_after(&error).await,
        }
    }
}

async fn pause_after(error: &std::io::Error) {
    tracing::warn!("cannot accept a connection: {error}");
    tokio::time::sleep(ACCEPT_PAUSE).await;
}

/// One task for the connection, if there is room for it.
fn start(shared: &Arc<Shared>, socket: Socket) {
    let max = shared.sql.globals.now().connections.max_connections;
    match shared.registry.connect(session::Transport::peer(&socket).address(), max) {
        Ok(entry) => drop(tokio::spawn(session::serve(shared.clone(), entry, Box::new(socket)))),
        Err(error) => drop(tokio::spawn(async move { session::refuse(Box::new(socket), &error).await })),
    }
}

/// A socket file is removed when its server ends.
pub(crate) struct SocketFile(pub(crate) PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
