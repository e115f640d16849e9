//! The framing of `exec:` on stdin and stdout.

use std::io::{self, BufReader, BufWriter, ErrorKind, Read, StdinLock, StdoutLock, Write};

use serde_json::Value;

pub struct Stream {
    input: BufReader<StdinLock<'static>>,
    output: BufWriter<StdoutLock<'static>>,
}

impl Stream {
    pub fn new() -> Self {
        Stream { input: BufReader::new(io::stdin().lock()), output: BufWriter::new(io::stdout().lock()) }
    }

    /// The next message and its bytes; none where stdin ended between messages.
    pub fn receive(&mut self) -> io::Result<Option<(Value, Vec<u8>)>> {
        if self.input.buffer().is_empty() {
            self.output.flush()?; // nothing more is waiting: the suite waits for us
        }
        let mut length = [0; 4];
        match self.input.read_exact(&mut length) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let head: Value = serde_json::from_slice(&self.take(u32::from_be_bytes(length) as usize)?)?;
        let blob = self.take(head["blob"].as_u64().unwrap_or(0) as usize)?;
        Ok(Some((head, blob)))
    }

    fn take(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub fn send(&mut self, mut head: Value, blob: Option<&[u8]>) -> io::Result<()> {
        if let Some(blob) = blob {
            head["blob"] = blob.len().into();
        }
        let bytes = serde_json::to_vec(&head)?;
        self.output.write_all(&(bytes.len() as u32).to_be_bytes())?;
        self.output.write_all(&bytes)?;
        self.output.write_all(blob.unwrap_or_default())
    }
}
