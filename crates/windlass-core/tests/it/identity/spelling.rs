use serde_json::{Number, Value};

use crate::support::Choices;

/// What may be written in more than one way.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Freedom {
    Order,
    Numbers,
    Strings,
    Spaces,
}

/// Writes a value as JSON text in one of the many ways that mean the same.
pub(super) struct Spelling {
    choices: Choices,
    freedoms: &'static [Freedom],
}

impl Spelling {
    pub(super) fn new(seed: u64, freedoms: &'static [Freedom]) -> Self {
        Self { choices: Choices::new(seed), freedoms }
    }

    fn may_choose(&self, freedom: Freedom) -> bool {
        self.freedoms.contains(&freedom)
    }

    pub(super) fn write(mut self, value: &Value) -> String {
        let mut text = String::new();
        self.value(value, &mut text);
        text
    }

    fn value(&mut self, value: &Value, text: &mut String) {
        self.space(text);
        match value {
            Value::Number(number) if self.may_choose(Freedom::Numbers) => text.push_str(&self.number(number)),
            Value::String(string) if self.may_choose(Freedom::Strings) => self.string(string, text),
            Value::Array(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    self.value(item, text);
                }
                text.push(']');
            }
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                if self.may_choose(Freedom::Order) {
                    self.choices.shuffle(&mut entries);
                }
                text.push('{');
                for (index, (key, item)) in entries.into_iter().enumerate() {
                    if index > 0 {
                        text.push(',');
                    }
                    self.space(text);
                    if self.may_choose(Freedom::Strings) {
                        self.string(key, text);
                    } else {
                        text.push_str(&serde_json::to_string(key).unwrap());
                    }
                    self.space(text);
                    text.push(':');
                    self.value(item, text);
                }
                text.push('}');
            }
            scalar => text.push_str(&scalar.to_string()),
        }
        self.space(text);
    }

    fn space(&mut self, text: &mut String) {
        if self.may_choose(Freedom::Spaces) {
            text.push_str(self.choices.of(&["", " ", "\n", "\r\n\t"]));
        }
    }

    /// Other digits, another place of the point, another exponent: the same number.
    fn number(&mut self, number: &Number) -> String {
        let (is_negative, mut digits, mut exponent) = decimal(number);
        if digits.bytes().all(|digit| digit == b'0') {
            return self.choices.of(&["0", "-0", "0.0", "-0.00", "0e5", "0E-7", "0.0e+300"]).to_owned();
        }
        let zeros = self.choices.below(4);
        digits.push_str(&"0".repeat(zeros));
        exponent -= i64::try_from(zeros).unwrap();
        let mut spelled = if is_negative { "-".to_owned() } else { String::new() };
        if self.choices.flip() && digits.len() > 1 {
            let point = 1 + self.choices.below(digits.len() - 1);
            exponent += i64::try_from(digits.len() - point).unwrap();
            digits.insert(point, '.');
        }
        spelled.push_str(&digits);
        if exponent != 0 || self.choices.flip() {
            spelled.push_str(self.choices.of(&["e", "E"]));
            spelled.push_str(match exponent {
                ..0 => "-",
                _ => self.choices.of(&["", "+"]),
            });
            spelled.push_str(self.choices.of(&["", "0", "00"]));
            spelled.push_str(&exponent.unsigned_abs().to_string());
        }
        spelled
    }

    fn string(&mut self, string: &str, text: &mut String) {
        text.push('"');
        for character in string.chars() {
            let short = match character {
                '"' => Some("\\\""),
                '\\' => Some("\\\\"),
                '/' => Some("\\/"),
                '\u{8}' => Some("\\b"),
                '\u{c}' => Some("\\f"),
                '\n' => Some("\\n"),
                '\r' => Some("\\r"),
                '\t' => Some("\\t"),
                _ => None,
            };
            let may_stand_bare = character >= ' ' && character != '"' && character != '\\';
            match (self.choices.below(3), short) {
                (0, Some(short)) => text.push_str(short),
                (1, _) if may_stand_bare => text.push(character),
                _ => {
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        let lower = format!("\\u{unit:04x}");
                        let upper = format!("\\u{unit:04X}");
                        text.push_str(if self.choices.flip() { &lower } else { &upper });
                    }
                }
            }
        }
        text.push('"');
    }
}

/// Sign, digits and exponent of ten: what a number is, without any spelling.
fn decimal(number: &Number) -> (bool, String, i64) {
    if let Some(integer) = number.as_u64() {
        return (false, integer.to_string(), 0);
    }
    if let Some(integer) = number.as_i64() {
        return (integer < 0, integer.unsigned_abs().to_string(), 0);
    }
    let float = number.as_f64().unwrap();
    let scientific = format!("{:e}", float.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap();
    let fraction = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let exponent = exponent.parse::<i64>().unwrap() - i64::try_from(fraction).unwrap();
    (float.is_sign_negative(), mantissa.replace('.', ""), exponent)
}
