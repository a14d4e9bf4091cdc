//! Canonical JSON (RFC 8785), written into whatever takes bytes.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};
use sha2::Digest as _;

/// Takes the canonical text piece by piece; the hasher is one, so that no copy of the text is made.
pub(crate) trait Sink {
    fn put(&mut self, bytes: &[u8]);
}

impl Sink for sha2::Sha256 {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}

impl Sink for Vec<u8> {
    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// How numbers are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// As ECMAScript does, where every number is a double: what a checksum is made of.
    Doubles,
    /// Integers digit by digit: what a handler gets, where an account number must stay itself.
    ExactIntegers,
}

/// The canonical text of a value (RFC 8785): keys sorted by UTF-16 code unit, numbers as ECMAScript
/// writes them, the fewest escapes, no white space.
///
/// ```
/// use serde_json::json;
/// use windlass_core::canonical;
///
/// assert_eq!(canonical(&json!({ "b": 1.0, "a": "é\n" })), r#"{"a":"é\n","b":1}"#);
/// ```
pub fn canonical(value: &Value) -> String {
    text(|bytes| write(value, Numbers::Doubles, bytes))
}

/// Like [`canonical`], but integers keep every digit.
pub(crate) fn exact(value: &Value) -> String {
    text(|bytes| write(value, Numbers::ExactIntegers, bytes))
}

/// [`exact`], of an object.
pub(crate) fn exact_object(object: &Map<String, Value>) -> String {
    text(|bytes| write_object(object, Numbers::ExactIntegers, bytes))
}

fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes);
    // Pieces of `str` and ASCII only, so the bytes are UTF-8; the fallback keeps this free of panics.
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// A container that is being written: what is left of it.
enum Open<'a> {
    Array(std::slice::Iter<'a, Value>),
    Object(serde_json::map::Iter<'a>),
    Sorted(std::vec::IntoIter<(&'a String, &'a Value)>),
}

/// Writes the canonical text of `value`.
///
/// The walk keeps its own stack: a value of any depth, built by hand, cannot overflow the thread's.
pub(crate) fn write<S: Sink>(value: &Value, numbers: Numbers, sink: &mut S) {
    let mut open = Vec::new();
    begin(value, numbers, sink, &mut open);
    write_open(open, numbers, sink);
}

/// Writes the canonical text of an object.
pub(crate) fn write_object<S: Sink>(object: &Map<String, Value>, numbers: Numbers, sink: &mut S) {
    sink.put(b"{");
    write_open(vec![sorted(object)], numbers, sink);
}

fn write_open<S: Sink>(mut open: Vec<Open<'_>>, numbers: Numbers, sink: &mut S) {
    // `is_first` is true right after a container was opened, and only then.
    let mut is_first = true;
    while let Some(container) = open.last_mut() {
        let (next, close) = match container {
            Open::Array(items) => (items.next().map(|item| (None, item)), b"]"),
            Open::Object(entries) => (entries.next().map(|(key, item)| (Some(key), item)), b"}"),
            Open::Sorted(entries) => (entries.next().map(|(key, item)| (Some(key), item)), b"}"),
        };
        let Some((key, item)) = next else {
            sink.put(close);
            open.pop();
            is_first = false;
            continue;
        };
        if !is_first {
            sink.put(b",");
        }
        if let Some(key) = key {
            string(key, sink);
            sink.put(b":");
        }
        is_first = begin(item, numbers, sink, &mut open);
    }
}

/// Writes a scalar whole, or opens a container and says so.
fn begin<'a, S: Sink>(value: &'a Value, numbers: Numbers, sink: &mut S, open: &mut Vec<Open<'a>>) -> bool {
    match value {
        Value::Null => sink.put(b"null"),
        Value::Bool(true) => sink.put(b"true"),
        Value::Bool(false) => sink.put(b"false"),
        Value::Number(value) => number(value, numbers, sink),
        Value::String(value) => string(value, sink),
        Value::Array(items) => {
            sink.put(b"[");
            open.push(Open::Array(items.iter()));
            return true;
        }
        Value::Object(map) => {
            sink.put(b"{");
            open.push(sorted(map));
            return true;
        }
    }
    false
}

/// The entries in canonical order. Most maps are in that order already and are walked as they are.
fn sorted(map: &Map<String, Value>) -> Open<'_> {
    if map.keys().is_sorted_by(|a, b| utf16_order(a, b) == Ordering::Less) {
        return Open::Object(map.iter());
    }
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_unstable_by(|(a, _), (b, _)| utf16_order(a, b));
    Open::Sorted(entries.into_iter())
}

/// Compares by UTF-16 code unit without encoding anything.
///
/// UTF-8 bytes order like code points, and UTF-16 differs from that in one place only: characters past
/// U+FFFF are written with surrogates (U+D800 …) and so come before U+E000 … U+FFFF. Where two strings
/// first differ, both bytes lead a character or both continue the same one, so it is enough to move the
/// lead bytes F0 … F4 below EE and EF.
fn utf16_order(a: &str, b: &str) -> Ordering {
    fn rank(byte: u8) -> u8 {
        match byte {
            0xEE | 0xEF => byte + 0x10,
            0xF0..=0xF4 => byte - 0x02,
            _ => byte,
        }
    }
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        Some((x, y)) => rank(x).cmp(&rank(y)),
        None => a.len().cmp(&b.len()),
    }
}

/// 2^53: below it every integer is a double, and from it on a double may stand for several.
const EXACT_INTEGERS: f64 = 9_007_199_254_740_992.0;

fn number<S: Sink>(value: &Number, numbers: Numbers, sink: &mut S) {
    if let Some(integer) = value.as_i64() {
        // Up to 2^53 a double is the integer, and ECMAScript writes it digit by digit.
        if numbers == Numbers::ExactIntegers || integer.unsigned_abs() <= 1 << 53 {
            return decimal(integer.unsigned_abs(), integer < 0, sink);
        }
    } else if let (Some(integer), Numbers::ExactIntegers) = (value.as_u64(), numbers) {
        return decimal(integer, false, sink);
    }
    match value.as_f64() {
        Some(double) if double.is_finite() => {
            let mut buffer = ryu_js::Buffer::new();
            let text = buffer.format_finite(double);
            sink.put(text.as_bytes());
            // It may have been rounded, so it must not look like an integer to a handler that wants one.
            let is_past_exact = double.abs() >= EXACT_INTEGERS;
            if numbers == Numbers::ExactIntegers && is_past_exact && !text.contains(['e', '.']) {
                sink.put(b".0");
            }
        }
        // Only a number that `arbitrary_precision` let in from elsewhere has no double; it is no JSON of
        // ours, and its own text is at least a name for it.
        _ => sink.put(value.to_string().as_bytes()),
    }
}

fn decimal<S: Sink>(mut digits: u64, is_negative: bool, sink: &mut S) {
    let mut buffer = [0_u8; 21];
    let mut start = buffer.len();
    loop {
        start -= 1;
        buffer[start] = b'0' + u8::try_from(digits % 10).unwrap_or(0);
        digits /= 10;
        if digits == 0 {
            break;
        }
    }
    if is_negative {
        start -= 1;
        buffer[start] = b'-';
    }
    sink.put(&buffer[start..]);
}

/// Writes a string with the escapes of ECMAScript's `JSON.stringify`: nothing but `"`, `\` and controls.
pub(crate) fn string<S: Sink>(value: &str, sink: &mut S) {
    sink.put(b"\"");
    let bytes = value.as_bytes();
    let mut written = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        sink.put(&bytes[written..at]);
        written = at + 1;
        match byte {
            b'"' => sink.put(b"\\\""),
            b'\\' => sink.put(b"\\\\"),
            0x08 => sink.put(b"\\b"),
            0x09 => sink.put(b"\\t"),
            0x0A => sink.put(b"\\n"),
            0x0C => sink.put(b"\\f"),
            0x0D => sink.put(b"\\r"),
            control => {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                let [high, low] = [control >> 4, control & 0xF].map(|digit| HEX[usize::from(digit)]);
                sink.put(&[b'\\', b'u', b'0', b'0', high, low]);
            }
        }
    }
    sink.put(&bytes[written..]);
    sink.put(b"\"");
}
