//! Exact arithmetic over text. Nothing is evaluated but what is written here.

use std::fmt;

use num_bigint::{BigInt, Sign};
use num_rational::BigRational;
use num_traits::{One as _, Signed as _, ToPrimitive as _, Zero as _};

/// The most bits that a numerator or a denominator may have on the way.
pub(crate) const MAX_BITS: u64 = 1 << 15;

/// How deep parentheses, signs and powers may be nested.
pub(crate) const MAX_NESTING: usize = 64;

/// How many digits after the point are shown of what has no end.
const SHOWN_DIGITS: usize = 20;

/// The most digits of a result that are written out.
pub(crate) const MAX_SHOWN_DIGITS: usize = 2_000;

/// A result: exact, or as near as its digits say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    value: BigRational,
    is_exact: bool,
}

/// Why a text is no calculation, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The place in the text, in characters from 1.
    at: usize,
    message: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {}", self.message, self.at)
    }
}

/// Calculates.
pub(crate) fn evaluate(text: &str) -> Result<Number, Wrong> {
    let mut parser = Parser { rest: text, read: 0, depth: 0 };
    let value = parser.sum()?;
    parser.skip_space();
    match parser.rest.chars().next() {
        None => Ok(value),
        Some(')') => Err(parser.wrong("there is no ( for this )")),
        Some(found) => Err(parser.wrong(format!("expected an operator or the end, found {found:?}"))),
    }
}

struct Parser<'a> {
    rest: &'a str,
    /// How many characters were read.
    read: usize,
    depth: usize,
}

impl Parser<'_> {
    fn wrong(&self, message: impl Into<String>) -> Wrong {
        Wrong { at: self.read + 1, message: message.into() }
    }

    fn advance(&mut self, bytes: usize) {
        let (read, rest) = self.rest.split_at(bytes);
        self.read += read.chars().count();
        self.rest = rest;
    }

    fn skip_space(&mut self) {
        self.advance(self.rest.len() - self.rest.trim_start().len());
    }

    /// Takes one of these operators, if it comes next.
    fn operator(&mut self, known: &[(&str, char)]) -> Option<char> {
        self.skip_space();
        let found = known.iter().find(|(text, _)| self.rest.starts_with(text)).copied();
        let (text, operator) = found?;
        self.advance(text.len());
        Some(operator)
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, Wrong>) -> Result<T, Wrong> {
        if self.depth == MAX_NESTING {
            return Err(self.wrong(format!("nested deeper than {MAX_NESTING} levels")));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn sum(&mut self) -> Result<Number, Wrong> {
        let mut left = self.product()?;
        while let Some(operator) = self.operator(&[("+", '+'), ("-", '-'), ("−", '-')]) {
            let right = self.product()?;
            let value = if operator == '+' { left.value + right.value } else { left.value - right.value };
            left = self.bounded(value, left.is_exact && right.is_exact)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Number, Wrong> {
        const KNOWN: &[(&str, char)] =
            &[("*", '*'), ("×", '*'), ("·", '*'), ("/", '/'), ("÷", '/'), ("%", '%')];
        let mut left = self.signed()?;
        // `**` is a power, which `signed` has taken already.
        while let Some(operator) = self.operator(KNOWN) {
            let right = self.signed()?;
            let is_exact = left.is_exact && right.is_exact;
            if operator != '*' && right.value.is_zero() {
                return Err(self.wrong("division by zero"));
            }
            let value = match operator {
                '*' => left.value * right.value,
                '/' => left.value / right.value,
                _ => {
                    let times = (&left.value / &right.value).floor();
                    left.value - times * right.value
                }
            };
            left = self.bounded(value, is_exact)?;
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Number, Wrong> {
        match self.operator(&[("+", '+'), ("-", '-'), ("−", '-')]) {
            None => self.power(),
            Some(sign) => {
                let Number { value, is_exact } = self.nested(Self::signed)?;
                Ok(Number { value: if sign == '-' { -value } else { value }, is_exact })
            }
        }
    }

    fn power(&mut self) -> Result<Number, Wrong> {
        let base = self.atom()?;
        if self.operator(&[("^", '^'), ("**", '^')]).is_none() {
            return Ok(base);
        }
        // To the right first: 2^3^2 is 2^9. A sign may stand before an exponent.
        let exponent = self.nested(Self::signed)?;
        self.raise(&base, &exponent)
    }

    fn raise(&self, base: &Number, exponent: &Number) -> Result<Number, Wrong> {
        let whole = exponent.value.is_integer().then(|| exponent.value.to_integer().to_i32()).flatten();
        let Some(power) = whole else {
            return Err(self
                .wrong("an exponent must be a whole number that is not too large; for roots there is sqrt"));
        };
        if power < 0 && base.value.is_zero() {
            return Err(self.wrong("division by zero"));
        }
        // Before anything is multiplied: the result has about this many bits.
        let bits = u64::from(power.unsigned_abs()).saturating_mul(size(&base.value).saturating_sub(1));
        if bits > MAX_BITS {
            return Err(self.too_large());
        }
        self.bounded(base.value.clone().pow(power), base.is_exact && exponent.is_exact)
    }

    fn atom(&mut self) -> Result<Number, Wrong> {
        self.skip_space();
        match self.rest.chars().next() {
            Some('(') => self.nested(|parser| {
                parser.advance(1);
                let value = parser.sum()?;
                parser.close()?;
                Ok(value)
            }),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => self.function(),
            Some(found) => Err(self.wrong(format!("expected a number, found {found:?}"))),
            None => Err(self.wrong("expected a number, found the end")),
        }
    }

    fn close(&mut self) -> Result<(), Wrong> {
        self.skip_space();
        if !self.rest.starts_with(')') {
            return Err(self.wrong("expected )"));
        }
        self.advance(1);
        Ok(())
    }

    /// Digits, a point, an exponent; `_` and `'` may part the digits.
    fn number(&mut self) -> Result<Number, Wrong> {
        let is_digit = |c: char| c.is_ascii_digit() || c == '_' || c == '\'';
        let length = |text: &str| text.find(|c| !is_digit(c)).unwrap_or(text.len());
        let whole = length(self.rest);
        let mut end = whole;
        let fraction = match self.rest[end..].strip_prefix('.') {
            Some(after) => {
                let digits = length(after);
                end += 1 + digits;
                &after[..digits]
            }
            None => "",
        };
        let digits: String =
            [&self.rest[..whole], fraction].concat().chars().filter(char::is_ascii_digit).collect();
        if digits.is_empty() {
            return Err(self.wrong("expected a digit"));
        }
        let places = fraction.chars().filter(char::is_ascii_digit).count();
        let (exponent, end) = exponent(self.rest, end);
        let scale = exponent.checked_sub(i64::try_from(places).unwrap_or(i64::MAX));
        let scale =
            scale.filter(|scale| scale.unsigned_abs() <= MAX_BITS / 3).ok_or_else(|| self.too_large())?;
        if digits.len() as u64 > MAX_BITS / 3 {
            return Err(self.too_large());
        }
        let mantissa: BigInt = digits.parse().map_err(|_| self.wrong("expected a number"))?;
        let ten = BigRational::from_integer(BigInt::from(10));
        let scale = i32::try_from(scale).map_err(|_| self.too_large())?;
        self.advance(end);
        self.bounded(BigRational::from_integer(mantissa) * ten.pow(scale), true)
    }

    fn function(&mut self) -> Result<Number, Wrong> {
        let length = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let name = self.rest[..length].to_ascii_lowercase();
        if !["abs", "ceil", "floor", "max", "min", "round", "sqrt"].contains(&name.as_str()) {
            let known = "abs, ceil, floor, max, min, round and sqrt";
            return Err(self.wrong(format!("there is no {name:?}; the functions are {known}")));
        }
        self.advance(length);
        let (first, rest) = self.nested(Self::arguments)?;
        match (name.as_str(), rest.as_slice()) {
            ("max", rest) => {
                Ok(rest.iter().fold(first, |a, b| if b.value > a.value { b.clone() } else { a }))
            }
            ("min", rest) => {
                Ok(rest.iter().fold(first, |a, b| if b.value < a.value { b.clone() } else { a }))
            }
            ("abs", []) => Ok(Number { value: first.value.abs(), ..first }),
            ("ceil", []) => Ok(Number { value: first.value.ceil(), ..first }),
            ("floor", []) => Ok(Number { value: first.value.floor(), ..first }),
            ("round", []) => Ok(Number { value: first.value.round(), ..first }),
            ("round", [digits]) => self.round(first, digits),
            ("sqrt", []) => self.root(&first),
            ("round", _) => Err(self.wrong("round takes a number and, if you like, how many digits to keep")),
            _ => Err(self.wrong(format!("{name} takes one number"))),
        }
    }

    /// What stands in the parentheses after a function's name.
    fn arguments(&mut self) -> Result<(Number, Vec<Number>), Wrong> {
        self.skip_space();
        if !self.rest.starts_with('(') {
            return Err(self.wrong("expected ( after the name of a function"));
        }
        self.advance(1);
        let first = self.sum()?;
        let mut rest = Vec::new();
        while self.operator(&[(",", ','), (";", ',')]).is_some() {
            rest.push(self.sum()?);
        }
        self.close()?;
        Ok((first, rest))
    }

    fn round(&self, number: Number, digits: &Number) -> Result<Number, Wrong> {
        let wanted = digits.value.is_integer().then(|| digits.value.to_integer().to_i32()).flatten();
        let Some(digits) = wanted.filter(|digits| digits.unsigned_abs() <= 1_000) else {
            return Err(self.wrong("round keeps a whole number of digits, at most 1000"));
        };
        let scale = BigRational::from_integer(BigInt::from(10)).pow(digits);
        self.bounded((number.value * &scale).round() / scale, number.is_exact)
    }

    fn root(&self, number: &Number) -> Result<Number, Wrong> {
        if number.value.is_negative() {
            return Err(self.wrong("there is no square root of a negative number"));
        }
        let (numerator, denominator) = (number.value.numer().sqrt(), number.value.denom().sqrt());
        let exact = BigRational::new(numerator, denominator);
        if &exact * &exact == number.value {
            return Ok(Number { value: exact, is_exact: number.is_exact });
        }
        // Whole numbers scaled up by this many digits on each side of the root.
        let scale = BigInt::from(10).pow(u32::try_from(2 * (SHOWN_DIGITS + 1)).unwrap_or(u32::MAX));
        let scaled = (&number.value * &scale * &scale).floor().to_integer();
        self.bounded(BigRational::new(scaled.sqrt(), scale), false)
    }

    fn too_large(&self) -> Wrong {
        self.wrong(format!(
            "the number becomes too large: at most {} digits are calculated with",
            MAX_BITS / 4
        ))
    }

    fn bounded(&self, value: BigRational, is_exact: bool) -> Result<Number, Wrong> {
        if size(&value) > MAX_BITS { Err(self.too_large()) } else { Ok(Number { value, is_exact }) }
    }
}

/// The exponent that follows a mantissa, and where it ends. A letter that no digit follows is none.
fn exponent(text: &str, end: usize) -> (i64, usize) {
    let after = &text[end..];
    let Some(rest) = after.strip_prefix(['e', 'E']) else { return (0, end) };
    let sign = usize::from(rest.starts_with(['+', '-']));
    let digits = rest[sign..].bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return (0, end);
    }
    let length = sign + digits;
    (rest[..length].parse().unwrap_or(i64::MAX), end + 1 + length)
}

/// The bits of the larger part of a fraction.
fn size(value: &BigRational) -> u64 {
    value.numer().bits().max(value.denom().bits())
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = &self.value;
        match decimal_places(value.denom()).filter(|places| self.is_exact && *places <= MAX_SHOWN_DIGITS) {
            Some(places) => write_decimal(f, value, places),
            None if self.is_exact => {
                let fraction = format!("{}/{}", value.numer(), value.denom());
                if fraction.len() <= MAX_SHOWN_DIGITS {
                    write!(f, "{fraction} ")?;
                }
                f.write_str("≈ ")?;
                write_decimal(f, value, SHOWN_DIGITS)
            }
            None => {
                f.write_str("≈ ")?;
                write_decimal(f, value, SHOWN_DIGITS)
            }
        }
    }
}

/// How many digits after the point a fraction with this denominator has, if they come to an end.
fn decimal_places(denominator: &BigInt) -> Option<usize> {
    let count = |rest: &mut BigInt, prime: u32| {
        let mut times = 0;
        while (&*rest % prime).is_zero() {
            *rest /= prime;
            times += 1;
        }
        times
    };
    let mut rest = denominator.clone();
    let places = count(&mut rest, 2).max(count(&mut rest, 5));
    rest.is_one().then_some(places)
}

/// Writes a number with this many digits after the point, rounded, without zeros at the end.
fn write_decimal(f: &mut fmt::Formatter<'_>, value: &BigRational, places: usize) -> fmt::Result {
    let scale = BigInt::from(10).pow(u32::try_from(places).unwrap_or(u32::MAX));
    let scaled = (value * &scale).round().to_integer();
    let digits = scaled.magnitude().to_string();
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    if scaled.sign() == Sign::Minus {
        f.write_str("-")?;
    }
    f.write_str(whole)?;
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { Ok(()) } else { write!(f, ".{fraction}") }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        evaluate(text).map_or_else(|wrong| format!("error: {wrong}"), |number| number.to_string())
    }

    #[test]
    fn numbers_are_exact() {
        let rows = [
            ("1 + 2 * 3", "7"),
            ("(1 + 2) * 3", "9"),
            ("0.1 + 0.2", "0.3"),
            ("1 - 0.9 - 0.1", "0"),
            ("10 / 4", "2.5"),
            ("2 ^ 100", "1267650600228229401496703205376"),
            ("2^3^2", "512"),
            ("2 ** 10", "1024"),
            ("-2 ^ 2", "-4"),
            ("(-2) ^ 2", "4"),
            ("2 ^ -2", "0.25"),
            ("2 * -3", "-6"),
            ("- - 3", "3"),
            ("7 % 3", "1"),
            ("-7 % 3", "2"),
            ("5.5 % 2", "1.5"),
            ("1_000_000 * 1'000", "1000000000"),
            ("1.5e3", "1500"),
            ("1E-3", "0.001"),
            (".5 + 1.", "1.5"),
            ("1/3", "1/3 ≈ 0.33333333333333333333"),
            ("2/3", "2/3 ≈ 0.66666666666666666667"),
            ("1/3 * 3", "1"),
            ("12345678901234567890 * 98765432109876543210", "1219326311370217952237463801111263526900"),
            ("6 × 7 − 2 ÷ 4", "41.5"),
            ("1 + 1\n", "2"),
        ];
        for (text, expected) in rows {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn functions_are_exact_where_they_can_be() {
        let rows = [
            ("sqrt(16)", "4"),
            ("sqrt(2.25)", "1.5"),
            ("sqrt(1/9)", "1/3 ≈ 0.33333333333333333333"),
            ("sqrt(2)", "≈ 1.4142135623730950488"),
            ("SQRT(2) * 0", "≈ 0"),
            ("abs(-3) + floor(2.7) + ceil(2.1)", "8"),
            ("floor(-2.5)", "-3"),
            ("round(2.5)", "3"),
            ("round(-2.5)", "-3"),
            ("round(3.14159, 2)", "3.14"),
            ("round(1234, -2)", "1200"),
            ("max(1, 3, 2) - min(4; 2)", "1"),
        ];
        for (text, expected) in rows {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let rows = [
            ("", "expected a number, found the end at character 1"),
            ("1 +", "expected a number, found the end at character 4"),
            ("1 / (2 - 2)", "division by zero at character 12"),
            ("0 ^ -1", "division by zero at character 7"),
            ("(1 + 2", "expected ) at character 7"),
            ("1 + 2)", "there is no ( for this ) at character 6"),
            ("2 $ 3", "expected an operator or the end, found '$' at character 3"),
            ("§", "expected a number, found '§' at character 1"),
            (
                "2 ^ 0.5",
                "an exponent must be a whole number that is not too large; for roots there is sqrt at character 8",
            ),
            ("sqrt(-1)", "there is no square root of a negative number at character 9"),
            (
                "sin(1)",
                "there is no \"sin\"; the functions are abs, ceil, floor, max, min, round and sqrt at character 1",
            ),
            ("abs(1, 2)", "abs takes one number at character 10"),
            ("abs 1", "expected ( after the name of a function at character 5"),
            ("1 2", "expected an operator or the end, found '2' at character 3"),
            ("1e", "expected an operator or the end, found 'e' at character 2"),
            (
                "import os",
                "there is no \"import\"; the functions are abs, ceil, floor, max, min, round and sqrt at character 1",
            ),
        ];
        for (text, expected) in rows {
            assert_eq!(shown(text), format!("error: {expected}"), "{text}");
        }
    }

    #[test]
    fn numbers_and_nesting_are_bounded() {
        let bits = MAX_BITS - 1;
        assert!(evaluate(&format!("2 ^ {bits}")).is_ok());
        for huge in
            ["2 ^ 40000", "9^9^9", "1e99999", "1e-99999", "10^9999 * 10^9999", "(1/3)^99999", "2^99999999999"]
        {
            let wrong = shown(huge);
            assert!(wrong.contains("too large"), "{huge}: {wrong}");
        }
        assert!(shown("1e99999999999999999999").contains("too large"));
        let nested = |levels: usize| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
        assert_eq!(shown(&nested(MAX_NESTING)), "1");
        assert!(shown(&nested(MAX_NESTING + 1)).contains("nested deeper than 64 levels"));
        assert!(shown(&"-".repeat(100_000)).contains("nested deeper"));
        assert!(shown(&"2^".repeat(100_000)).contains("nested deeper"));
    }

    #[test]
    fn a_long_result_is_written_in_few_digits() {
        assert_eq!(shown("1 / 2^2000").len(), 2002);
        assert!(shown("1 / 2^2001").len() < 2_100);
        assert!(shown("1 / 3^9000").len() < 100);
    }

    proptest! {
        /// Whole numbers give what the machine's own arithmetic gives.
        #[test]
        fn whole_numbers_agree_with_i128(a in -1_000_000_i128..1_000_000, b in -1_000_000_i128..1_000_000, c in 1_i128..1000) {
            let text = format!("({a}) * ({b}) - ({a}) % {c} + ({b}) * {c}");
            prop_assert_eq!(shown(&text), (a * b - a.rem_euclid(c) + b * c).to_string());
        }

        /// Whatever is asked, there is an answer.
        #[test]
        fn no_text_panics(text in "[0-9a-z+*/%^().,eE '_-]{0,40}|\\PC{0,20}") {
            let _ = shown(&text);
        }

        /// A quotient times its divisor is the dividend again.
        #[test]
        fn division_loses_nothing(a in -10_000_i64..10_000, b in 1_i64..10_000) {
            prop_assert_eq!(shown(&format!("({a}) / {b} * {b}")), a.to_string());
        }
    }
}
