//! What a call is: one checksum per meaning, whatever the spelling.

mod args;
mod operation;
mod spelling;

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use windlass_core::{Entropy, Error, ToolCallId, canonical, checksum, json};

use self::spelling::{Freedom, Spelling};
use crate::support::{Choices, json_value, text};

#[derive(Deserialize)]
struct Vectors {
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    name: String,
    tool: String,
    args: String,
    canonical: String,
    checksum: String,
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

#[test]
fn every_published_vector_matches() {
    let Vectors { vectors } = serde_json::from_str(include_str!("../../data/checksums.json")).unwrap();
    assert_eq!(vectors.len(), 22);
    for Vector { name, tool, args, canonical: expected, checksum: digest } in vectors {
        let args = json::read(&args).unwrap();
        assert_eq!(checksum(&tool, &args).to_string(), digest, "{name}");
        assert_eq!(canonical(&json!({ "tool": tool, "args": args })), expected, "{name}");
    }
}

#[test]
fn the_number_samples_of_rfc_8785_print_as_they_stand_there() {
    let rows = [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];
    for (bits, expected) in rows {
        let number = serde_json::Number::from_f64(f64::from_bits(bits)).unwrap();
        assert_eq!(canonical(&Value::Number(number)), expected, "{bits:016x}");
    }
}

#[test]
fn the_structure_sample_of_rfc_8785_has_its_very_bytes() {
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    let expected = "
        7b 22 6c 69 74 65 72 61 6c 73 22 3a 5b 6e 75 6c 6c 2c 74 72 75 65 2c 66 61 6c 73 65 5d 2c
        22 6e 75 6d 62 65 72 73 22 3a 5b 33 33 33 33 33 33 33 33 33 2e 33 33 33 33 33 33 33 2c 31
        65 2b 33 30 2c 34 2e 35 2c 30 2e 30 30 32 2c 31 65 2d 32 37 5d 2c 22 73 74 72 69 6e 67 22
        3a 22 e2 82 ac 24 5c 75 30 30 30 66 5c 6e 41 27 42 5c 22 5c 5c 5c 5c 5c 22 2f 22 7d";
    let bytes: Vec<u8> =
        expected.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
    assert_eq!(canonical(&json::read(text).unwrap()).into_bytes(), bytes);
}

#[test]
fn the_sorting_sample_of_rfc_8785_comes_in_its_order() {
    let text = r#"{
        "\u20ac": "Euro Sign",
        "\r": "Carriage Return",
        "\ufb33": "Hebrew Letter Dalet With Dagesh",
        "1": "One",
        "\ud83d\ude00": "Emoji: Grinning Face",
        "\u0080": "Control",
        "\u00f6": "Latin Small Letter O With Diaeresis"
    }"#;
    let expected = concat!(
        r#"{"\r":"Carriage Return","1":"One","#,
        "\"\u{80}\":\"Control\",",
        r#""ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😀":"Emoji: Grinning Face","#,
        "\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}",
    );
    assert_eq!(canonical(&json::read(text).unwrap()), expected);
}

/// A value of `depth` levels around a `null`, arrays and objects by turns, and its canonical text.
fn nested_by_hand(depth: usize) -> (Value, String) {
    let (mut value, mut text) = (Value::Null, "null".to_owned());
    for level in 0..depth {
        (value, text) = if level % 2 == 0 {
            (Value::Array(vec![value]), format!("[{text}]"))
        } else {
            (Value::Object(Map::from_iter([("k".to_owned(), value)])), format!("{{\"k\":{text}}}"))
        };
    }
    (value, text)
}

/// Takes a value apart level by level: dropping it whole would recurse once per level.
fn dismantle(mut value: Value) {
    loop {
        value = match value {
            Value::Array(mut items) => items.pop().unwrap(),
            Value::Object(mut map) => map.remove("k").unwrap(),
            _ => return,
        };
    }
}

#[test]
fn ten_thousand_levels_do_not_need_ten_thousand_frames() {
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(|| {
        let (value, text) = nested_by_hand(10_000);
        let found = (canonical(&value), *checksum("t", &value).as_bytes());
        dismantle(value);
        let hashed = sha256(format!("{{\"args\":{text},\"tool\":\"t\"}}").as_bytes());
        assert_eq!(found, (text, hashed));
    });
    thread.unwrap().join().unwrap();
}

/// Walks to the `target`-th value, counted depth first, and changes its meaning. Returns how many values
/// were passed on the way, or `None` once the change is made.
fn mutate(value: &mut Value, target: usize, choices: &mut Choices) -> Option<usize> {
    if target == 0 {
        *value = changed(value.take(), choices);
        return None;
    }
    let mut passed = 1;
    let children: &mut dyn Iterator<Item = &mut Value> = match value {
        Value::Array(items) => &mut items.iter_mut(),
        Value::Object(map) => &mut map.iter_mut().map(|(_, child)| child),
        _ => return Some(passed),
    };
    for child in children {
        passed += mutate(child, target - passed, choices)?;
        if passed > target {
            return None;
        }
    }
    Some(passed)
}

fn changed(value: Value, choices: &mut Choices) -> Value {
    match value {
        Value::Null => choices.of(&[false, true]).into(),
        Value::Bool(flag) => (!flag).into(),
        Value::Number(number) => match number.as_f64().unwrap() {
            _ if choices.flip() => number.to_string().into(),
            0.0 => 1.into(),
            float => (-float).into(),
        },
        Value::String(text) if choices.flip() => format!("{text}\u{0}").into(),
        Value::String(text) => vec![text].into(),
        Value::Array(mut items) => {
            if items.pop().is_none() || choices.flip() {
                items.extend([Value::Null, Value::Null]);
            }
            items.into()
        }
        Value::Object(mut map) => {
            let first = map.keys().next().cloned();
            match first {
                Some(key) if choices.flip() => {
                    let child = map.remove(&key).unwrap();
                    map.insert(format!("{key}\u{10ffff}~~~~~~"), child);
                }
                Some(key) if choices.flip() => drop(map.remove(&key)),
                _ => drop(map.insert("seven characters or more".to_owned(), Value::Null)),
            }
            map.into()
        }
    }
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

proptest! {
    #[test]
    fn the_order_of_keys_never_changes_a_checksum(value in json_value(), seed: u64) {
        let text = Spelling::new(seed, &[Freedom::Order]).write(&value);
        prop_assert_eq!(checksum("t", &json::read(&text).unwrap()), checksum("t", &value), "{}", text);
    }

    #[test]
    fn the_spelling_of_numbers_never_changes_a_checksum(value in json_value(), seed: u64) {
        let text = Spelling::new(seed, &[Freedom::Numbers]).write(&value);
        prop_assert_eq!(checksum("t", &json::read(&text).unwrap()), checksum("t", &value), "{}", text);
    }

    #[test]
    fn the_spelling_of_strings_never_changes_a_checksum(value in json_value(), seed: u64) {
        let text = Spelling::new(seed, &[Freedom::Strings]).write(&value);
        prop_assert_eq!(checksum("t", &json::read(&text).unwrap()), checksum("t", &value), "{}", text);
    }

    #[test]
    fn white_space_and_every_other_spelling_together_never_change_a_checksum(value in json_value(), seed: u64) {
        let text = Spelling::new(seed, &[Freedom::Order, Freedom::Numbers, Freedom::Strings, Freedom::Spaces])
            .write(&value);
        prop_assert_eq!(checksum("t", &json::read(&text).unwrap()), checksum("t", &value), "{}", text);
    }

    #[test]
    fn the_canonical_text_reads_back_as_itself(value in json_value()) {
        let text = canonical(&value);
        prop_assert_eq!(canonical(&json::read(&text).unwrap()), text);
    }

    #[test]
    fn a_trip_through_serde_never_changes_a_checksum(value in json_value()) {
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(checksum("t", &json::read(&text).unwrap()), checksum("t", &value));
    }

    #[test]
    fn keys_stand_in_the_order_of_their_utf_16_code_units(keys in proptest::collection::btree_set(text(), 0..12)) {
        let object: Value = keys.iter().map(|key| (key.clone(), Value::Null)).collect::<Map<_, _>>().into();
        let mut sorted: Vec<&String> = keys.iter().collect();
        sorted.sort_by_key(|key| key.encode_utf16().collect::<Vec<_>>());
        let entries: Vec<String> =
            sorted.iter().map(|key| format!("{}:null", serde_json::to_string(key).unwrap())).collect();
        prop_assert_eq!(canonical(&object), format!("{{{}}}", entries.join(",")));
    }

    #[test]
    fn one_changed_value_or_key_changes_the_checksum(value in json_value(), seed: u64) {
        let mut choices = Choices::new(seed);
        let target = choices.below(count(&value));
        let mut other = value.clone();
        prop_assert_eq!(mutate(&mut other, target, &mut choices), None);
        prop_assert_ne!(checksum("t", &other), checksum("t", &value), "{} became {}", value, other);
    }

    #[test]
    fn another_tool_is_another_checksum(tool in text(), value in json_value()) {
        prop_assert_ne!(checksum(&format!("{tool}x"), &value), checksum(&tool, &value));
    }

    #[test]
    fn what_is_hashed_piece_by_piece_is_the_canonical_text(tool in text(), value in json_value()) {
        let whole = canonical(&json!({ "tool": tool, "args": value }));
        prop_assert_eq!(*checksum(&tool, &value).as_bytes(), sha256(whole.as_bytes()));
    }
}

/// Hands out the same 16 bytes.
struct Given([u8; 16]);

impl Entropy for Given {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), Error> {
        bytes.copy_from_slice(&self.0);
        Ok(())
    }
}

/// The six bits in which every UUID of version 4 is the same.
fn without_fixed_bits(mut bytes: [u8; 16]) -> [u8; 16] {
    bytes[6] &= 0x0f;
    bytes[8] &= 0x3f;
    bytes
}

proptest! {
    #[test]
    fn every_random_bit_tells_minted_ids_apart(bytes: [u8; 16], bit in 0_usize..128) {
        let mut other = bytes;
        other[bit / 8] ^= 1 << (bit % 8);
        let [one, two] = [bytes, other].map(|bytes| ToolCallId::mint(&Given(bytes)).unwrap());
        prop_assert_eq!(one == two, without_fixed_bits(bytes) == without_fixed_bits(other));
        let digits = one.as_str().strip_prefix("call_").unwrap();
        prop_assert_eq!(digits.len(), 32);
        prop_assert!(digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')), "{}", digits);
    }
}

#[test]
fn a_minted_id_has_122_bits_of_its_own() {
    let ids: BTreeSet<String> = (0..128)
        .map(|bit| ToolCallId::mint(&Given((1_u128 << bit).to_be_bytes())).unwrap().to_string())
        .collect();
    // The six fixed bits leave the id of all zeros.
    assert_eq!(ids.len(), 122 + 1);
}
