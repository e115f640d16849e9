//! A server on the loopback that answers each request with the bytes it was given.

use std::io;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

pub struct Server {
    pub runtime: Runtime,
    pub address: String,
    body: Arc<Mutex<Vec<u8>>>,
}

impl Server {
    pub fn new() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let body = Arc::new(Mutex::new(Vec::new()));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let address = listener.local_addr()?.to_string();
        let served = body.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = answer(stream, &served).await; // a client that goes is no fault
            }
        });
        Ok(Server { runtime, address, body })
    }

    /// Answer with `body` from now on.
    pub fn serve(&self, body: &[u8]) {
        if let Ok(mut served) = self.body.lock() {
            *served = body.to_vec();
        }
    }
}

/// A request is a length and as many bytes, an answer a status, a length and as many bytes.
async fn answer(mut stream: TcpStream, served: &Mutex<Vec<u8>>) -> io::Result<()> {
    loop {
        let length = stream.read_u32_le().await?;
        stream.read_exact(&mut vec![0; length as usize]).await?;
        let body = served.lock().map(|body| body.clone()).unwrap_or_default();
        let head = [[0; 4], (body.len() as u32).to_le_bytes()].concat();
        stream.write_all(&[head, body].concat()).await?;
    }
}
