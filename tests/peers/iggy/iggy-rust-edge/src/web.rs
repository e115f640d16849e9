//! A server on the loopback that speaks HTTP: it answers a deferred poll with the bytes it was given, and knows no
//! other path.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

const POLL: &str = "GET /streams/1/topics/1/messages/deferred?";

type Body = Arc<Mutex<Vec<u8>>>;

pub struct Web {
    pub address: String,
    served: Body,
}

impl Web {
    pub fn new(runtime: &Runtime) -> io::Result<Self> {
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let web = Web { address: format!("http://{}", listener.local_addr()?), served: Body::default() };
        let served = web.served.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let served = served.clone();
                tokio::spawn(async move { answer(stream, &served).await }); // a client that goes is no fault
            }
        });
        Ok(web)
    }

    /// Answer a poll with `body` from now on.
    pub fn serve(&self, body: &[u8]) {
        *self.served.lock().unwrap_or_else(PoisonError::into_inner) = body.to_vec();
    }
}

/// A GET has no body: a request ends with its headers.
async fn answer(stream: TcpStream, served: &Mutex<Vec<u8>>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut request, mut header) = (String::new(), String::from("-"));
        stream.read_line(&mut request).await?;
        while !header.trim().is_empty() {
            header.clear();
            stream.read_line(&mut header).await?;
        }
        if request.is_empty() {
            return Ok(());
        }
        let found = request.starts_with(POLL);
        let body = if found { served.lock().unwrap_or_else(PoisonError::into_inner).clone() } else { Vec::new() };
        let status = if found { "200 OK" } else { "404 Not Found" };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(&[head.as_bytes(), &body].concat()).await?;
    }
}
