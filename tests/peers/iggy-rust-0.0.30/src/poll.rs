//! The TCP client, polling from a server on the loopback that answers with the bytes it was given.

use std::io;
use std::sync::{Arc, Mutex};

use iggy::client::{Client, MessageClient};
use iggy::messages::poll_messages::PollMessages;
use iggy::models::message::Message;
use iggy::tcp::client::TcpClient;
use shared_rust::Refusal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

pub struct Poll {
    runtime: Runtime,
    client: TcpClient,
    body: Arc<Mutex<Vec<u8>>>,
}

impl Poll {
    pub fn new() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let body = Arc::new(Mutex::new(Vec::new()));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let mut client = TcpClient::new(&listener.local_addr()?.to_string()).map_err(io::Error::other)?;
        let served = body.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = answer(stream, &served).await; // a client that goes is no fault
            }
        });
        runtime.block_on(client.connect()).map_err(io::Error::other)?;
        Ok(Poll { runtime, client, body })
    }

    /// The messages that the client makes of `body`.
    pub fn answered(&mut self, body: &[u8]) -> Result<Vec<Message>, Refusal> {
        if let Ok(mut served) = self.body.lock() {
            *served = body.to_vec();
        }
        self.runtime.block_on(self.client.poll_messages(&PollMessages::default())).map_err(Refusal::of)
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
