use jiff::Zoned;
use jiff::tz::TimeZone;
use windlass::serde::Serialize;
use windlass::{ToolError, tool};

/// A moment as people and programs write it.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(crate = "windlass::serde", rename_all = "camelCase")]
pub(crate) struct Moment {
    /// With its offset, in the form of RFC 3339.
    time: String,
    zone: String,
    weekday: &'static str,
    unix_millis: i64,
}

/// The time now, with date, weekday and offset from UTC.
#[tool(pure, trusted)]
pub(crate) fn current_time(
    /// A time zone of the IANA database, for example "Europe/Oslo" or "UTC"; the zone of this machine if it is
    /// left out.
    #[schemars(length(min = 1, max = 100))]
    zone: Option<String>,
) -> Result<Moment, ToolError> {
    let zone = match zone {
        // A machine that does not know its zone keeps UTC.
        None => TimeZone::try_system().unwrap_or(TimeZone::UTC),
        Some(name) => TimeZone::get(&name).map_err(|_| {
            ToolError::retry(format!(
                "there is no time zone {name:?}; send a name of the IANA database such as \"Europe/Oslo\""
            ))
        })?,
    };
    Ok(moment(&Zoned::now().with_time_zone(zone)))
}

fn moment(now: &Zoned) -> Moment {
    use jiff::civil::Weekday;
    let weekday = match now.weekday() {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    };
    let zone = now.time_zone().iana_name().map_or_else(|| now.offset().to_string(), str::to_owned);
    Moment {
        time: now.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        zone,
        weekday,
        unix_millis: now.timestamp().as_millisecond(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_its_offset_and_its_weekday() {
        let at = |zone: &str| {
            let zone = TimeZone::get(zone).unwrap();
            moment(&jiff::Timestamp::from_millisecond(1_793_790_000_123).unwrap().to_zoned(zone))
        };
        let oslo = at("Europe/Oslo");
        let expected = Moment {
            time: "2026-11-04T12:00:00+01:00".to_owned(),
            zone: "Europe/Oslo".to_owned(),
            weekday: "Wednesday",
            unix_millis: 1_793_790_000_123,
        };
        assert_eq!(oslo, expected);
        assert_eq!(at("UTC").time, "2026-11-04T11:00:00+00:00");
        assert_eq!(at("Asia/Kathmandu").time, "2026-11-04T16:45:00+05:45");
    }
}
