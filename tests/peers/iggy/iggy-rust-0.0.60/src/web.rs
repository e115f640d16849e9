//! A server on the loopback that speaks HTTP: it answers a GET with the bytes it was given, and keeps the body
//! of a POST.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

type Body = Arc<Mutex<Vec<u8>>>;

pub struct Web {
    pub address: String,
    served: Body,
    posted: Body,
}

impl Web {
    pub fn new(runtime: &Runtime) -> io::Result<Self> {
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
        let web = Web { address: format!("http://{}", listener.local_addr()?), served: Body::default(), posted: Body::default() };
        let (served, posted) = (web.served.clone(), web.posted.clone());
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (served, posted) = (served.clone(), posted.clone());
                tokio::spawn(async move { answer(stream, &served, &posted).await }); // a client that goes is no fault
            }
        });
        Ok(web)
    }

    /// Answer a GET with `body` from now on.
    pub fn serve(&self, body: &[u8]) {
        put(&self.served, body.to_vec());
    }

    /// The body of the last POST.
    pub fn posted(&self) -> Vec<u8> {
        put(&self.posted, Vec::new())
    }
}

fn put(place: &Mutex<Vec<u8>>, body: Vec<u8>) -> Vec<u8> {
    std::mem::replace(&mut *place.lock().unwrap_or_else(PoisonError::into_inner), body)
}

async fn answer(stream: TcpStream, served: &Mutex<Vec<u8>>, posted: &Mutex<Vec<u8>>) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let mut request = String::new();
        if stream.read_line(&mut request).await? == 0 {
            return Ok(());
        }
        let mut asked = vec![0; length(&mut stream).await?];
        stream.read_exact(&mut asked).await?;
        let mut body = Vec::new();
        if request.starts_with("POST") {
            put(posted, asked);
        } else {
            body = served.lock().unwrap_or_else(PoisonError::into_inner).clone();
        }
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(&[head.as_bytes(), &body].concat()).await?;
    }
}

/// What the headers say of the body; the empty line behind them is read too.
async fn length(stream: &mut BufReader<TcpStream>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        match line.split_once(':') {
            Some((name, text)) if name.eq_ignore_ascii_case("content-length") => {
                length = text.trim().parse().map_err(io::Error::other)?;
            }
            Some(_) => {}
            None => return Ok(length),
        }
    }
}
