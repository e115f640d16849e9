//! What the drivers of Rust libraries share: the loop over requests and the words of an answer.
//!
//! A frame is a u32 big-endian header length, a JSON header and the raw bytes that its "blob" announces,
//! on stdin and stdout. A panic of the library is caught and answered as a crash: it would have ended any
//! other caller.

mod frames;
pub mod heap;
pub mod values;

use std::io;
use std::panic::{catch_unwind, set_hook, AssertUnwindSafe};
use std::sync::Mutex;

use serde_json::{json, Value};

const LONGEST: usize = 300;

/// Where and why the library panicked last.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// What is asked; `value` is null for a decode, `blob` is empty for an encode.
pub struct Request {
    pub op: String,
    pub format: String,
    pub revision: String,
    pub options: Value,
    pub value: Value,
    pub blob: Vec<u8>,
}

impl Request {
    /// Offsets and aborted transactions are left out of a log by a consumer, not by a codec.
    pub fn asks_the_consumer(&self) -> bool {
        ["fetch_offset", "isolation"].iter().any(|name| self.options.get(name).is_some())
    }
}

/// What the library did.
pub enum Answer {
    /// A value, and the bytes that it took where the library says so.
    Value(Value, Option<usize>),
    Bytes(Vec<u8>),
    Unsupported,
}

/// What the library said no with.
#[derive(Debug, Default)]
pub struct Refusal {
    text: String,
    before: Value,
    class: Option<&'static str>,
    path: String,
    unasked: bool,
}

impl Refusal {
    /// An error by which the library documents that it refuses.
    pub fn of(text: impl ToString) -> Self {
        Refusal { text: text.to_string(), ..Refusal::default() }
    }

    /// A field that is beyond the type that the library has for it.
    pub fn beyond(path: &str) -> Self {
        let text = format!("the library's type does not hold this {path}");
        Refusal { text, class: Some("invalid-value"), path: path.to_string(), ..Refusal::default() }
    }

    /// A field over which the library's writer has no say: it cannot be asked for this value.
    pub fn unasked(path: &str) -> Self {
        Refusal { text: format!("no say over {path}"), unasked: true, ..Refusal::default() }
    }

    /// The same, after the library delivered `before`; without it nothing is said of that.
    pub fn after(self, before: Value) -> Self {
        Refusal { before, ..self }
    }

    fn json(self, id: &Value, classes: &[(&str, &'static str)]) -> Value {
        if self.unasked {
            return json!({"id": id, "outcome": "unsupported", "text": self.text});
        }
        let found = classes.iter().find(|(part, _)| self.text.contains(part)).map(|(_, class)| *class);
        let text: String = self.text.trim_end().chars().take(LONGEST).collect();
        json!({"id": id, "outcome": "refused", "class": self.class.or(found).unwrap_or("other"), "path": self.path,
               "text": text, "before": self.before})
    }
}

/// Answers requests until stdin ends.
///
/// `classes`: parts of an error's text that leave no doubt about the class; the first that matches counts.
pub fn serve(
    hello: Value,
    classes: &[(&str, &'static str)],
    answer: impl Fn(&Request) -> Result<Answer, Refusal>,
) -> io::Result<()> {
    std::env::set_var("RUST_BACKTRACE", "0"); // an abort would spend seconds on names that `strip` took away
    set_hook(Box::new(|info| {
        if let Ok(mut text) = PANIC.lock() {
            *text = info.to_string().replace('\n', " ");
        }
    }));
    let mut stream = frames::Stream::new();
    while let Some((mut head, blob)) = stream.receive()? {
        if head.get("hello").is_some() {
            stream.send(json!({ "hello": hello }), None)?;
            continue;
        }
        let id = head["id"].take();
        let request = asked(head, blob);
        let Ok(done) = catch_unwind(AssertUnwindSafe(|| heap::limited(|| answer(&request)))) else {
            stream.send(json!({"id": id, "outcome": "crashed", "text": panic_text()}), None)?;
            continue;
        };
        match done {
            Ok(Answer::Value(value, consumed)) => {
                let reply = json!({"id": id, "outcome": "accepted", "value": value, "consumed": consumed});
                stream.send(reply, None)?;
            }
            Ok(Answer::Bytes(data)) => stream.send(json!({"id": id, "outcome": "accepted"}), Some(&data))?,
            Ok(Answer::Unsupported) => stream.send(json!({"id": id, "outcome": "unsupported"}), None)?,
            Err(refusal) => stream.send(refusal.json(&id, classes), None)?,
        }
    }
    Ok(())
}

fn panic_text() -> String {
    let text = PANIC.lock().map(|text| text.clone()).unwrap_or_default();
    text.chars().take(LONGEST).collect()
}

fn asked(mut head: Value, blob: Vec<u8>) -> Request {
    let text = |name: &str| head[name].as_str().unwrap_or_default().to_string();
    let (op, format, revision) = (text("op"), text("format"), text("revision"));
    Request { op, format, revision, options: head["options"].take(), value: head["value"].take(), blob }
}

/// The version of `package` in the driver's lock file: the one that was built.
pub fn locked_version(lock: &str, package: &str) -> String {
    let start = format!("name = \"{package}\"\nversion = \"");
    let found = lock.split(&start).nth(1).and_then(|rest| rest.split('"').next());
    found.unwrap_or("unknown").to_string()
}
