//! Exact arithmetic over text. Nothing is evaluated but what is written here.

use std::fmt;

use num_bigint::{BigInt, Sign};
use num_rational::BigRational;
use num_traits::{One as _, Signed as _, ToPrimitive as _, Zero as _};

/// The most bits that a numerator or a denominator may have on the way: about 2,400 digits.
pub(crate) const MAX_BITS: u64 = 1 << 13;

/// How much one calculation may take, in bits that its operations give back.
pub(crate) const MAX_WORK_BITS: u64 = 1 << 20;

/// How deep parentheses, signs and powers may be nested.
pub(crate) const MAX_NESTING: usize = 64;

/// How many digits are shown of what has no end, from the first that is not 0.
const SHOWN_DIGITS: i64 = 20;

/// The most digits after the point that are written out of what has an end.
pub(crate) const MAX_PLACES: usize = 2_000;

/// A result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Exact(BigRational),
    /// The root of a number that is no square. It can be shown, but not be calculated with.
    Root(BigRational),
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
    let mut parser = Parser { rest: text, read: 0, depth: 0, work: 0 };
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
    work: u64,
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
            let a = self.exact(left)?;
            let b = self.product()?;
            let b = self.exact(b)?;
            left = self.bounded(if operator == '+' { a + b } else { a - b })?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Number, Wrong> {
        const KNOWN: &[(&str, char)] =
            &[("*", '*'), ("×", '*'), ("·", '*'), ("/", '/'), ("÷", '/'), ("%", '%')];
        let mut left = self.signed()?;
        // `**` is a power, which `signed` has taken already.
        while let Some(operator) = self.operator(KNOWN) {
            let a = self.exact(left)?;
            let b = self.signed()?;
            let b = self.exact(b)?;
            if operator != '*' && b.is_zero() {
                return Err(self.wrong("division by zero"));
            }
            left = self.bounded(match operator {
                '*' => a * b,
                '/' => a / b,
                _ => {
                    let times = (&a / &b).floor();
                    a - times * b
                }
            })?;
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Number, Wrong> {
        match self.operator(&[("+", '+'), ("-", '-'), ("−", '-')]) {
            None => self.power(),
            Some(sign) => Ok(match self.nested(Self::signed)? {
                number if sign == '+' => number,
                Number::Exact(value) => Number::Exact(-value),
                Number::Root(value) => Number::Root(-value),
            }),
        }
    }

    fn power(&mut self) -> Result<Number, Wrong> {
        let base = self.atom()?;
        if self.operator(&[("^", '^'), ("**", '^')]).is_none() {
            return Ok(base);
        }
        let base = self.exact(base)?;
        // To the right first: 2^3^2 is 2^9. A sign may stand before an exponent.
        let exponent = self.nested(Self::signed)?;
        let exponent = self.exact(exponent)?;
        self.raise(&base, &exponent)
    }

    fn raise(&mut self, base: &BigRational, exponent: &BigRational) -> Result<Number, Wrong> {
        let Some(power) = exponent.is_integer().then(|| exponent.to_integer().to_i32()).flatten() else {
            return Err(self
                .wrong("an exponent must be a whole number that is not too large; for roots there is sqrt"));
        };
        if power < 0 && base.is_zero() {
            return Err(self.wrong("division by zero"));
        }
        // Before anything is multiplied: the result has about this many bits.
        let bits = u64::from(power.unsigned_abs()).saturating_mul(size(base).saturating_sub(1));
        if bits > MAX_BITS {
            return Err(self.too_large());
        }
        self.bounded(base.clone().pow(power))
    }

    /// A number to calculate with.
    fn exact(&self, number: Number) -> Result<BigRational, Wrong> {
        match number {
            Number::Exact(value) => Ok(value),
            Number::Root(_) => Err(self.wrong(
                "a root that has no end can be shown, but not be calculated with exactly; ask for sqrt(…) alone",
            )),
        }
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
        if digits.bytes().all(|digit| digit == b'0') {
            self.advance(end);
            return self.bounded(BigRational::zero());
        }
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
        self.bounded(BigRational::from_integer(mantissa) * ten.pow(scale))
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
            ("max", rest) => Ok(Number::Exact(rest.iter().fold(first, |a, b| a.max(b.clone())))),
            ("min", rest) => Ok(Number::Exact(rest.iter().fold(first, |a, b| a.min(b.clone())))),
            ("abs", []) => Ok(Number::Exact(first.abs())),
            ("ceil", []) => Ok(Number::Exact(first.ceil())),
            ("floor", []) => Ok(Number::Exact(first.floor())),
            ("round", []) => Ok(Number::Exact(first.round())),
            ("round", [digits]) => self.round(&first, digits),
            ("sqrt", []) => self.root(first),
            ("round", _) => Err(self.wrong("round takes a number and, if you like, how many digits to keep")),
            _ => Err(self.wrong(format!("{name} takes one number"))),
        }
    }

    /// What stands in the parentheses after a function's name.
    fn arguments(&mut self) -> Result<(BigRational, Vec<BigRational>), Wrong> {
        self.skip_space();
        if !self.rest.starts_with('(') {
            return Err(self.wrong("expected ( after the name of a function"));
        }
        self.advance(1);
        let first = self.sum()?;
        let first = self.exact(first)?;
        let mut rest = Vec::new();
        loop {
            self.skip_space();
            if is_thousands(self.rest) {
                return Err(self.wrong(
                    "a comma parts the numbers of a function; write 1000 or 1_000 for a thousand, or a space after the comma",
                ));
            }
            if self.operator(&[(",", ','), (";", ',')]).is_none() {
                break;
            }
            let next = self.sum()?;
            rest.push(self.exact(next)?);
        }
        self.close()?;
        Ok((first, rest))
    }

    fn round(&mut self, number: &BigRational, digits: &BigRational) -> Result<Number, Wrong> {
        let wanted = digits.is_integer().then(|| digits.to_integer().to_i32()).flatten();
        let Some(digits) = wanted.filter(|digits| digits.unsigned_abs() <= 1_000) else {
            return Err(self.wrong("round keeps a whole number of digits, at most 1000"));
        };
        let scale = BigRational::from_integer(BigInt::from(10)).pow(digits);
        self.bounded((number * &scale).round() / scale)
    }

    fn root(&mut self, number: BigRational) -> Result<Number, Wrong> {
        if number.is_negative() {
            return Err(self.wrong("there is no square root of a negative number"));
        }
        let exact = BigRational::new(number.numer().sqrt(), number.denom().sqrt());
        if &exact * &exact == number {
            return self.bounded(exact);
        }
        // Scaled so that the whole part of the root has more digits than are shown.
        let places = SHOWN_DIGITS + 5 - magnitude(&number).div_euclid(2);
        let scale = power_of_ten(places);
        let scaled = (number * &scale * &scale).floor().to_integer();
        Ok(Number::Root(BigRational::from_integer(scaled.sqrt()) / scale))
    }

    fn too_large(&self) -> Wrong {
        self.wrong(format!("the number becomes too large: more than {MAX_BITS} bits"))
    }

    fn bounded(&mut self, value: BigRational) -> Result<Number, Wrong> {
        let size = size(&value);
        self.work += size;
        if size > MAX_BITS {
            return Err(self.too_large());
        }
        if self.work > MAX_WORK_BITS {
            return Err(self.wrong("this takes too long; calculate it in parts"));
        }
        Ok(Number::Exact(value))
    }
}

/// Whether a text goes on like `,000`: a comma and just three digits, as some write thousands.
fn is_thousands(rest: &str) -> bool {
    let Some(after) = rest.strip_prefix(',') else { return false };
    after.bytes().take_while(u8::is_ascii_digit).count() == 3
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

/// The power of ten of the first digit of a number that is not 0, or one less.
fn magnitude(value: &BigRational) -> i64 {
    let digits = |number: &BigInt| i64::try_from(number.magnitude().to_string().len()).unwrap_or(i64::MAX);
    digits(value.numer()) - digits(value.denom()) - 1
}

fn power_of_ten(places: i64) -> BigRational {
    let places = i32::try_from(places).unwrap_or(i32::MAX);
    BigRational::from_integer(BigInt::from(10)).pow(places)
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(value) => {
                match decimal_places(value.denom()).filter(|places| *places <= MAX_PLACES) {
                    Some(places) => write_decimal(f, value, places),
                    None => {
                        write!(f, "{}/{} ≈ ", value.numer(), value.denom())?;
                        write_digits(f, value)
                    }
                }
            }
            Self::Root(value) => {
                f.write_str("≈ ")?;
                write_digits(f, value)
            }
        }
    }
}

/// Writes the first [`SHOWN_DIGITS`] digits of a number that is not 0, with an exponent if they are far from
/// the point.
fn write_digits(f: &mut fmt::Formatter<'_>, value: &BigRational) -> fmt::Result {
    const NEAR: i64 = 6;
    let first = magnitude(value) + i64::from(value.abs() >= power_of_ten(magnitude(value) + 1));
    if (-NEAR..SHOWN_DIGITS).contains(&first) {
        let places = usize::try_from(SHOWN_DIGITS - 1 - first).unwrap_or(0);
        return write_decimal(f, value, places);
    }
    let places = usize::try_from(SHOWN_DIGITS - 1).unwrap_or(0);
    // Rounded to these digits it may have become the next power of ten.
    let shown = value / power_of_ten(first - SHOWN_DIGITS + 1);
    let first = first + i64::from(shown.round().abs() >= power_of_ten(SHOWN_DIGITS));
    write_decimal(f, &(value / power_of_ten(first)), places)?;
    write!(f, "e{first}")
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
            ("-100/7", "-100/7 ≈ -14.285714285714285714"),
            ("1e-30/3", "1/3000000000000000000000000000000 ≈ 3.3333333333333333333e-31"),
            ("10^25/3", "10000000000000000000000000/3 ≈ 3.3333333333333333333e24"),
            ("(3*10^30-1)/3", "2999999999999999999999999999999/3 ≈ 1e30"),
            ("0e99999 + 0.0", "0"),
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
            ("-SQRT(2)", "≈ -1.4142135623730950488"),
            ("sqrt(2e-100)", "≈ 1.4142135623730950488e-50"),
            ("sqrt(2e100)", "≈ 1.4142135623730950488e50"),
            ("sqrt(0.5)", "≈ 0.7071067811865475244"),
            ("sqrt(99)", "≈ 9.9498743710661995473"),
            ("sqrt(0)", "0"),
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
                "floor(sqrt(2))",
                "a root that has no end can be shown, but not be calculated with exactly; ask for sqrt(…) alone at character 14",
            ),
            (
                "sin(1)",
                "there is no \"sin\"; the functions are abs, ceil, floor, max, min, round and sqrt at character 1",
            ),
            ("abs(1, 2)", "abs takes one number at character 10"),
            (
                "max(1,000, 2)",
                "a comma parts the numbers of a function; write 1000 or 1_000 for a thousand, or a space after the comma at character 6",
            ),
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
    fn the_work_is_bounded() {
        let times = |count: usize| format!("2^{}{}", MAX_BITS - 1, "*1".repeat(count));
        let fit = usize::try_from(MAX_WORK_BITS / MAX_BITS).unwrap() - 1;
        assert!(evaluate(&times(fit - 1)).is_ok());
        let past = shown(&times(fit + 1));
        assert!(past.contains("this takes too long; calculate it in parts"), "{past}");
    }

    #[test]
    fn a_result_with_too_many_places_is_shown_in_its_first_digits() {
        assert_eq!(shown("1 / 2^2000").len(), 2002);
        assert!(shown("1 / 2^2001").contains(" ≈ 4.3549"), "{}", shown("1 / 2^2001"));
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
