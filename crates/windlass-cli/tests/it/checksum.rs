use std::process::Command;

use crate::support::{printed, refused};

const HELLO: &str = "e0b6feaa14a993179f474568e2c0a63075752fe3a8bc629bc0cd1442a002448e\n";

#[test]
fn the_checksum_of_a_call() {
    assert_eq!(printed(&["checksum", "search", r#"{"query":"hello"}"#], b""), HELLO);
    assert_eq!(printed(&["checksum", "search", " { \"query\" : \"\\u0068ello\" } "], b""), HELLO);
}

#[test]
fn a_dash_reads_standard_input() {
    assert_eq!(printed(&["checksum", "search", "-"], b"{\"query\":\"hello\"}\n"), HELLO);
}

#[test]
fn the_canonical_text_is_what_is_hashed() {
    let text =
        printed(&["checksum", "--canonical", "t\"", r#"{"b":1.0,"a":[1e21,-0],"\u00e9":"\u2028"}"#], b"");
    assert_eq!(text, "{\"args\":{\"a\":[1e+21,0],\"b\":1,\"é\":\"\u{2028}\"},\"tool\":\"t\\\"\"}\n");
}

#[test]
fn any_json_value_is_hashed_as_it_is() {
    for args in ["[1,2,3]", "null", "\"raw string\"", "-1"] {
        let text = printed(&["checksum", "--canonical", "t", args], b"");
        assert_eq!(text, format!("{{\"args\":{args},\"tool\":\"t\"}}\n"));
    }
}

#[test]
fn bad_json_is_refused_with_the_byte() {
    let rows = [
        (r#"{"a":1,}"#, "byte 7"),
        (r#"{"a":"#, "byte 5"),
        (r#"{"a":1,"a":2}"#, "\"a\" occurs twice"),
        ("NaN", "byte 0"),
        ("1e999", "out of range"),
        ("", "byte 0"),
    ];
    for (args, expected) in rows {
        let message = refused(&["checksum", "t", args], b"");
        assert!(message.starts_with("windlass: the arguments are not JSON: "), "{message}");
        assert!(message.contains(expected), "{args}: {message}");
    }
    assert!(refused(&["checksum", "t", "-"], b"{\"a\":\"\xff\"}").contains("invalid UTF-8 at byte 6"));
}

#[test]
fn input_is_bounded_in_depth_and_size() {
    let deep = "[".repeat(10_000);
    assert!(
        refused(&["checksum", "t", "-"], deep.as_bytes())
            .contains("nested deeper than 128 levels at byte 128")
    );
    let mut long = vec![b'"'];
    long.resize((16 << 20) - 1, b'x');
    long.push(b'"');
    assert_eq!(printed(&["checksum", "t", "-"], &long).len(), 65);
    long.push(b'\n');
    assert!(refused(&["checksum", "t", "-"], &long).contains("more than 16777216 bytes"));
}

#[test]
fn what_the_terminal_would_obey_is_shown() {
    let message = refused(&["checksum", "t", "{\"\u{1b}[31m\":1}"], b"");
    assert!(!message.contains('\u{1b}'), "{message:?}");
    let message = refused(&["\u{1b}[31mx\u{202e}", "t", "{}"], b"");
    assert!(!message.contains(['\u{1b}', '\u{202e}']), "{message:?}");
}

#[test]
fn output_that_cannot_be_written_is_a_failure() {
    for args in [&["checksum", "t", "{}"][..], &["--help"], &["--version"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_windlass")).args(args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(String::from_utf8(output.stderr).unwrap().contains("cannot write the output"));
    }
}

#[test]
fn usage_errors_exit_with_2() {
    assert!(refused(&["checksum", "t"], b"").contains("Usage"));
    assert!(refused(&["chekcsum", "t", "{}"], b"").contains("checksum"));
    assert!(refused(&[], b"").contains("An agent development kit"));
}

#[test]
fn help_shows_an_example() {
    assert!(printed(&["checksum", "--help"], b"").contains("windlass checksum search"));
    assert!(printed(&["--version"], b"").starts_with("windlass "));
}
