//! Instants, and the clock that is handed in instead of asked for.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use jiff::civil::DateTime;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::error::{Code, Error};

/// An instant in whole milliseconds, the one time type of every record and event.
///
/// It is read from RFC 3339 text or from epoch milliseconds, and always written as RFC 3339 in UTC with
/// three digits. Finer digits of a text are dropped, and a leap second (`:60`) is read as the second before
/// it.
///
/// ```
/// use windlass_core::Timestamp;
///
/// let noon: Timestamp = "2026-01-02T13:00:00.5+01:00".parse()?;
/// assert_eq!(noon.to_string(), "2026-01-02T12:00:00.500Z");
/// assert_eq!(noon, Timestamp::from_millis(1_767_355_200_500)?);
/// # Ok::<(), windlass_core::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 0000-01-01T00:00:00.000Z: before it RFC 3339 has no way to write a year.
    pub const MIN: Timestamp = Timestamp(-62_167_219_200_000);
    /// 9999-12-31T23:59:59.999Z: after it RFC 3339 has none either.
    pub const MAX: Timestamp = Timestamp(253_402_300_799_999);

    /// The instant this many milliseconds after 1970-01-01T00:00:00Z.
    pub fn from_millis(millis: i64) -> Result<Self, Error> {
        if (Self::MIN.0..=Self::MAX.0).contains(&millis) {
            Ok(Self(millis))
        } else {
            Err(out_of_range(millis))
        }
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// This instant plus a number of milliseconds, held inside [`MIN`](Self::MIN) and [`MAX`](Self::MAX).
    #[must_use]
    pub fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis)).clamp(Self::MIN, Self::MAX)
    }

    /// Milliseconds from `earlier` to here, 0 if the clock went backwards between the two.
    pub fn millis_since(self, earlier: Timestamp) -> u64 {
        u64::try_from(self.0 - earlier.0).unwrap_or(0)
    }
}

fn out_of_range(what: impl fmt::Display) -> Error {
    Error::new(
        Code::InvalidTimestamp,
        format!(
            "{what} is outside the years 0000 to 9999 (UTC); times are RFC 3339 texts or milliseconds since 1970"
        ),
    )
}

/// 1970-01-01T00:00:00 on the civil calendar. Reckoning from it reaches every instant of [`Timestamp`],
/// which `jiff::Timestamp` does not.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

impl TryFrom<jiff::Timestamp> for Timestamp {
    type Error = Error;

    fn try_from(instant: jiff::Timestamp) -> Result<Self, Error> {
        // `as_millisecond` truncates towards zero; an instant before 1970 must still round down.
        let millis = instant.as_nanosecond().div_euclid(1_000_000);
        i64::try_from(millis).map_or_else(|_| Err(out_of_range(instant)), Self::from_millis)
    }
}

impl TryFrom<std::time::SystemTime> for Timestamp {
    type Error = Error;

    fn try_from(time: std::time::SystemTime) -> Result<Self, Error> {
        let instant = jiff::Timestamp::try_from(time).map_err(|cause| {
            Error::new(Code::InvalidTimestamp, "the time is out of range").with_cause(cause)
        })?;
        Self::try_from(instant)
    }
}

impl FromStr for Timestamp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let Some((civil, offset_minutes)) = split_rfc3339(text) else {
            let shown = crate::error::shorten(text.to_owned(), 40);
            let message = format!("expected a time such as \"2026-01-02T03:04:05.678Z\", got {shown:?}");
            return Err(Error::new(Code::InvalidTimestamp, message));
        };
        let since_epoch = civil.duration_since(EPOCH).as_nanos().div_euclid(1_000_000);
        let millis = i64::try_from(since_epoch).unwrap_or(i64::MAX).saturating_sub(offset_minutes * 60_000);
        Self::from_millis(millis).map_err(|_| out_of_range(text))
    }
}

/// The parts of an RFC 3339 text: date and time on the civil calendar, and the offset in minutes.
///
/// The shape is checked here, because the parser of the date takes many more shapes. Digits of the
/// fraction past the ninth are dropped.
fn split_rfc3339(text: &str) -> Option<(DateTime, i64)> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let fits = |shape: &u8, byte: &u8| match shape {
        b'0' => byte.is_ascii_digit(),
        b'T' => matches!(byte, b'T' | b't' | b' '),
        mark => byte == mark,
    };
    let (start, rest) = text.as_bytes().split_at_checked(SHAPE.len())?;
    if !SHAPE.iter().zip(start).all(|(shape, byte)| fits(shape, byte)) {
        return None;
    }
    let (fraction, offset) = match rest.strip_prefix(b".") {
        None => (&[][..], rest),
        Some(rest) => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return None;
            }
            rest.split_at(digits)
        }
    };
    let offset_minutes = match offset {
        b"Z" | b"z" => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let number = |tens: &u8, ones: &u8| {
                let is_number = tens.is_ascii_digit() && ones.is_ascii_digit();
                is_number.then(|| i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
            };
            let (hours, minutes) = (number(h1, h2)?, number(m1, m2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            (hours * 60 + minutes) * if *sign == b'-' { -1 } else { 1 }
        }
        _ => return None,
    };
    let mut civil = std::str::from_utf8(start).ok()?.to_ascii_uppercase();
    if !fraction.is_empty() {
        civil.push('.');
        civil.push_str(std::str::from_utf8(&fraction[..fraction.len().min(9)]).ok()?);
    }
    Some((civil.parse().ok()?, offset_minutes))
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Every instant lies on the civil calendar, so nothing saturates.
        let civil = EPOCH.saturating_add(jiff::SignedDuration::from_millis(self.0));
        write!(f, "{civil:.3}Z")
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = crate::json::deserialize(deserializer)?;
        Self::try_from(&value).map_err(de::Error::custom)
    }
}

impl TryFrom<&Value> for Timestamp {
    type Error = Error;

    fn try_from(value: &Value) -> Result<Self, Error> {
        match value {
            Value::String(text) => text.parse(),
            // `1e3` and `1000.0` are integers too, as JSON Schema sees it.
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(millis), _) => Self::from_millis(millis),
                (None, Some(millis)) if millis.fract() == 0.0 => {
                    let is_close = millis.abs() < 9_007_199_254_740_992.0;
                    #[expect(clippy::cast_possible_truncation, reason = "whole and smaller than 2^53")]
                    let whole = is_close.then_some(millis as i64);
                    whole.map_or_else(|| Err(out_of_range(number)), Self::from_millis)
                }
                _ => Err(Error::new(
                    Code::InvalidTimestamp,
                    format!("expected whole milliseconds, got {number}"),
                )),
            },
            _ => Err(Error::new(
                Code::InvalidTimestamp,
                "expected an RFC 3339 text or whole milliseconds since 1970",
            )),
        }
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "RFC 3339 text, or milliseconds since 1970-01-01T00:00:00Z",
            "anyOf": [{ "type": "string", "format": "date-time" }, { "type": "integer" }],
        })
    }
}

/// A future that is ready when a span of time has passed.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send + 'static>>;

/// Where time comes from.
///
/// # Contract
///
/// Nothing in the kit reads a clock by itself. `now` may jump in both directions, as the clocks of
/// machines do; the kit never subtracts without guarding against it. A `sleep` is cancelled by dropping it.
pub trait Clock: Send + Sync + 'static {
    /// The present instant.
    fn now(&self) -> Timestamp;

    /// Becomes ready once `duration` has passed.
    fn sleep(&self, duration: Duration) -> Sleep;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        (**self).sleep(duration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accepted_forms_are_one_instant() {
        let expected = Timestamp(1_767_225_600_123);
        for text in [
            r#""2026-01-01T00:00:00.123Z""#,
            r#""2026-01-01T00:00:00.123999Z""#,
            r#""2026-01-01T00:00:00.1239999999999Z""#,
            r#""2026-01-01t00:00:00.123z""#,
            r#""2026-01-01 00:00:00.123Z""#,
            r#""2026-01-01T02:00:00.123+02:00""#,
            r#""2025-12-31T23:30:00.123-00:30""#,
            "1767225600123",
            "1767225600123.0",
        ] {
            assert_eq!(serde_json::from_str::<Timestamp>(text).unwrap(), expected, "{text}");
        }
        assert_eq!(serde_json::to_string(&expected).unwrap(), r#""2026-01-01T00:00:00.123Z""#);
    }

    #[test]
    fn what_is_no_instant_is_refused_with_a_hint() {
        for text in [
            r#""""#,
            r#""yesterday""#,
            r#""2026-01-01""#,
            r#""2026-01-01T00:00:00""#,
            r#""20260101T000000Z""#,
            r#""2026-01-01T00:00Z""#,
            r#""2026-01-01T00:00:00.Z""#,
            r#""2026-01-01T00:00:00,5Z""#,
            r#""2026-01-01T00:00:00+01""#,
            r#""2026-01-01T00:00:00+24:00""#,
            r#""2026-01-01T00:00:00Z[Europe/Oslo]""#,
            r#""2026-02-30T00:00:00Z""#,
            r#""2026-01-01T24:00:00Z""#,
            r#""+002026-01-01T00:00:00Z""#,
            "1e18",
            "0.5",
            "true",
            "99999999999999999",
            "18446744073709551615",
        ] {
            assert!(serde_json::from_str::<Timestamp>(text).is_err(), "{text}");
        }
        let error = "yesterday".parse::<Timestamp>().unwrap_err();
        assert_eq!(error.code(), Code::InvalidTimestamp);
        assert!(error.to_string().contains("2026-01-02T03:04:05.678Z"));
    }

    #[test]
    fn an_instant_outside_the_range_is_refused_and_never_moved() {
        for text in ["0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59.999-00:01"] {
            let error = text.parse::<Timestamp>().unwrap_err();
            assert!(error.to_string().contains("outside the years 0000 to 9999"), "{error}");
        }
        assert!(Timestamp::try_from(jiff::Timestamp::MIN).is_err());
    }

    #[test]
    fn the_bounds_print_with_four_digit_years_and_read_back() {
        for bound in [Timestamp::MIN, Timestamp::MAX] {
            assert_eq!(bound.to_string().parse::<Timestamp>().unwrap(), bound);
            assert_eq!(bound.to_string().len(), "2026-01-01T00:00:00.000Z".len());
        }
        assert!(Timestamp::from_millis(Timestamp::MAX.0 + 1).is_err());
        assert!(Timestamp::from_millis(Timestamp::MIN.0 - 1).is_err());
        assert_eq!(Timestamp::MAX.plus_millis(1), Timestamp::MAX);
    }

    #[test]
    fn instants_before_1970_round_down() {
        let instant: jiff::Timestamp = "1969-12-31T23:59:59.9995Z".parse().unwrap();
        assert_eq!(Timestamp::try_from(instant).unwrap().to_string(), "1969-12-31T23:59:59.999Z");
    }
}
