//! TCP through tokio.

use std::future::poll_fn;
use std::io::Result;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

use crate::{BoxFuture, Listener, Network, ReadHalf, Stream, WriteHalf};

pub(crate) struct OsNetwork {
    pub(crate) runtime: Handle,
}

impl Network for OsNetwork {
    fn connect<'a>(&'a self, address: &'a str) -> BoxFuture<'a, Result<Box<dyn Stream>>> {
        let address = address.to_owned();
        Box::pin(async move {
            // On the runtime, wherever the caller polls: sockets register with the reactor of their thread.
            let connecting = self.runtime.spawn(TcpStream::connect(address));
            let stream = connecting.await.map_err(std::io::Error::other)??;
            stream.set_nodelay(true)?;
            Ok(Box::new(TcpConnection(stream)) as Box<dyn Stream>)
        })
    }

    fn listen<'a>(&'a self, address: &'a str) -> BoxFuture<'a, Result<Box<dyn Listener>>> {
        let address = address.to_owned();
        Box::pin(async move {
            let listener = self.runtime.spawn(TcpListener::bind(address)).await.map_err(std::io::Error::other)??;
            let address = listener.local_addr()?.to_string();
            Ok(Box::new(TcpAcceptor { listener, address, runtime: self.runtime.clone() }) as Box<dyn Listener>)
        })
    }
}

struct TcpAcceptor {
    listener: TcpListener,
    address: String,
    runtime: Handle,
}

impl Listener for TcpAcceptor {
    fn accept<'a>(&'a self) -> BoxFuture<'a, Result<(Box<dyn Stream>, String)>> {
        Box::pin(async move {
            let accepted = poll_fn(|context| {
                // An accepted socket registers with the reactor of the thread that polls.
                let _entered = self.runtime.enter();
                self.listener.poll_accept(context)
            });
            let (stream, peer) = accepted.await?;
            stream.set_nodelay(true)?;
            Ok((Box::new(TcpConnection(stream)) as Box<dyn Stream>, peer.to_string()))
        })
    }

    fn address(&self) -> String {
        self.address.clone()
    }
}

struct TcpConnection(TcpStream);

struct Reading(OwnedReadHalf);

struct Writing(OwnedWriteHalf);

async fn read(from: &mut (impl AsyncReadExt + Unpin), into: &mut Vec<u8>, max: usize) -> Result<usize> {
    // What the buffer has room for is what is read: a nearly full one would make many small reads of a fast stream.
    if into.capacity() - into.len() < max / 2 {
        into.reserve(max);
    }
    from.take(max as u64).read_buf(into).await
}

impl Stream for TcpConnection {
    fn read<'a>(&'a mut self, into: &'a mut Vec<u8>, max: usize) -> BoxFuture<'a, Result<usize>> {
        Box::pin(read(&mut self.0, into, max))
    }

    fn write_all<'a>(&'a mut self, data: &'a [u8]) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.write_all(data))
    }

    fn split(self: Box<Self>) -> (Box<dyn ReadHalf>, Box<dyn WriteHalf>) {
        let (read, write) = self.0.into_split();
        (Box::new(Reading(read)), Box::new(Writing(write)))
    }
}

impl ReadHalf for Reading {
    fn read<'a>(&'a mut self, into: &'a mut Vec<u8>, max: usize) -> BoxFuture<'a, Result<usize>> {
        Box::pin(read(&mut self.0, into, max))
    }
}

impl WriteHalf for Writing {
    fn write_all<'a>(&'a mut self, data: &'a [u8]) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.0.write_all(data))
    }
}
