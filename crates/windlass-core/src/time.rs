//! Instants, and the clock that is handed in instead of asked for.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::error::{Code, Error};

/// An instant in whole milliseconds, the one time type of every record and event.
///
/// It is read from RFC 3339 text or from epoch milliseconds, and always written as RFC 3339 in UTC with
/// three digits. Finer digits of a text are dropped.
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
    /// 9999-12-30T22:00:00.000Z: the last second that every offset can write with four digits.
    pub const MAX: Timestamp = Timestamp(253_402_207_200_000);

    /// The instant this many milliseconds after 1970-01-01T00:00:00Z.
    pub fn from_millis(millis: i64) -> Result<Self, Error> {
        if (Self::MIN.0..=Self::MAX.0).contains(&millis) {
            Ok(Self(millis))
        } else {
            Err(Error::new(
                Code::InvalidTimestamp,
                format!("{millis} ms is outside the years 0000 to 9999; times are milliseconds since 1970"),
            ))
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

    fn to_jiff(self) -> jiff::Timestamp {
        // Both bounds lie inside jiff's own range, so the fallback is never taken.
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

impl From<jiff::Timestamp> for Timestamp {
    /// Instants before the year 0 become [`MIN`](Self::MIN).
    fn from(instant: jiff::Timestamp) -> Self {
        // `as_millisecond` truncates towards zero; an instant before 1970 must still round down.
        let millis = instant.as_nanosecond().div_euclid(1_000_000);
        Self(i64::try_from(millis).unwrap_or(i64::MIN)).clamp(Self::MIN, Self::MAX)
    }
}

impl TryFrom<std::time::SystemTime> for Timestamp {
    type Error = Error;

    fn try_from(time: std::time::SystemTime) -> Result<Self, Error> {
        jiff::Timestamp::try_from(time)
            .map(Self::from)
            .map_err(|cause| Error::new(Code::InvalidTimestamp, "the time is out of range").with_cause(cause))
    }
}

impl FromStr for Timestamp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        text.parse::<jiff::Timestamp>().map(Self::from).map_err(|cause| {
            Error::new(
                Code::InvalidTimestamp,
                format!(
                    "expected a time such as \"2026-01-02T03:04:05.678Z\", got {:?}",
                    crate::error::shorten(text.to_owned(), 40)
                ),
            )
            .with_cause(cause)
        })
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.to_jiff())
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
            Value::Number(number) if number.is_i64() || number.is_u64() => {
                Self::from_millis(number.as_i64().unwrap_or(i64::MAX))
            }
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
            r#""2026-01-01T02:00:00.123+02:00""#,
            "1767225600123",
        ] {
            assert_eq!(serde_json::from_str::<Timestamp>(text).unwrap(), expected, "{text}");
        }
        assert_eq!(serde_json::to_string(&expected).unwrap(), r#""2026-01-01T00:00:00.123Z""#);
    }

    #[test]
    fn what_is_no_instant_is_refused_with_a_hint() {
        for text in [
            r#""yesterday""#,
            r#""2026-01-01""#,
            r#""2026-01-01T00:00:00""#,
            "1e18",
            "true",
            "99999999999999999",
        ] {
            assert!(serde_json::from_str::<Timestamp>(text).is_err(), "{text}");
        }
        let error = "yesterday".parse::<Timestamp>().unwrap_err();
        assert_eq!(error.code(), Code::InvalidTimestamp);
        assert!(error.to_string().contains("2026-01-02T03:04:05.678Z"));
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
        assert_eq!(Timestamp::from(instant).to_string(), "1969-12-31T23:59:59.999Z");
    }
}
