use serde_json::{Value, json};

use crate::fixture::{answer, said, toolbox};

async fn check(arguments: Value, text: &str) {
    assert_eq!(said(&toolbox(), "datetime", &arguments).await, text, "{arguments}");
}

/// One member of a moment.
async fn member(arguments: Value, name: &str) -> Value {
    let answer = answer(&toolbox(), "datetime", &arguments).await.unwrap();
    answer.structured[name].clone()
}

#[tokio::test]
async fn the_time_is_that_of_the_clock_in_any_zone() {
    let arguments = json!({ "action": "now", "zone": "Asia/Kolkata" });
    let answer = answer(&toolbox(), "datetime", &arguments).await.unwrap();
    assert_eq!(
        answer.structured,
        json!({
          "time": "2026-03-01T17:30:00+05:30[Asia/Kolkata]",
          "utc": "2026-03-01T12:00:00Z",
          "unix_seconds": 1_772_366_400,
          "zone": "Asia/Kolkata",
          "weekday": "Sunday",
          "iso_week": "2026-W09",
          "day_of_year": 60,
          "days_in_month": 31,
          "leap_year": false,
          "quarter": 1
        })
    );
    check(
        json!({ "action": "now" }),
        "2026-03-01T12:00:00+00:00[UTC], Sunday, 2026-W09, day 60 of the year, 31 days in the month, no \
         leap year; UTC 2026-03-01T12:00:00Z",
    )
    .await;
}

#[tokio::test]
async fn times_are_read_as_people_and_programs_write_them() {
    for (time, zone, read) in [
        ("now", None, "2026-03-01T12:00:00+00:00[UTC]"),
        ("@0", None, "1970-01-01T00:00:00+00:00[UTC]"),
        ("@-86400", Some("UTC"), "1969-12-31T00:00:00+00:00[UTC]"),
        ("2024-02-29", None, "2024-02-29T00:00:00+00:00[UTC]"),
        ("2024-02-29", Some("Asia/Tokyo"), "2024-02-29T00:00:00+09:00[Asia/Tokyo]"),
        (
            "2024-02-29 08:30",
            Some("america/new_york"),
            "2024-02-29T08:30:00-05:00[America/New_York]",
        ),
        ("2024-07-01T08:30:00Z", None, "2024-07-01T08:30:00+00:00[UTC]"),
        ("2024-07-01T08:30:00Z", Some("Europe/Berlin"), "2024-07-01T10:30:00+02:00[Europe/Berlin]"),
        ("2024-07-01T08:30:00+05:30", None, "2024-07-01T08:30:00+05:30[+05:30]"),
        ("2024-07-01T08:30[Europe/Berlin]", None, "2024-07-01T08:30:00+02:00[Europe/Berlin]"),
    ] {
        let arguments = json!({ "action": "facts", "time": time, "zone": zone });
        assert_eq!(member(arguments, "time").await, read, "{time} {zone:?}");
    }
}

#[tokio::test]
async fn a_time_that_clocks_skip_or_show_twice_says_so() {
    let at = |time| json!({ "action": "facts", "time": time, "zone": "Europe/Berlin" });
    let skipped = at("2026-03-29T02:30");
    assert_eq!(member(skipped.clone(), "time").await, "2026-03-29T03:30:00+02:00[Europe/Berlin]");
    assert_eq!(
        member(skipped, "note").await,
        "clocks skip this time there, so the later one is used"
    );
    let twice = at("2026-10-25T02:30");
    assert_eq!(member(twice.clone(), "time").await, "2026-10-25T02:30:00+02:00[Europe/Berlin]");
    assert_eq!(
        member(twice, "note").await,
        "clocks show this time twice there, so the earlier one is used"
    );
}

#[tokio::test]
async fn zones_are_converted() {
    let arguments = json!({
        "action": "convert",
        "time": "2026-06-01 09:00",
        "zone": "America/Los_Angeles",
        "to_zone": "Europe/Paris",
    });
    assert_eq!(member(arguments, "time").await, "2026-06-01T18:00:00+02:00[Europe/Paris]");
}

#[tokio::test]
async fn differences_are_of_the_calendar_and_exact() {
    let between = |time: &str, until: &str, zone: &str| json!({ "action": "difference", "time": time, "until": until, "zone": zone });
    check(between("2024-01-31", "2024-03-01", "UTC"), "1 month 1 day (exactly 30 d 00:00:00)")
        .await;
    // The day on which clocks go forward has 23 hours.
    check(
        between("2026-03-28T12:00", "2026-03-29T12:00", "Europe/Berlin"),
        "1 day (exactly 0 d 23:00:00)",
    )
    .await;
    check(
        between("2026-03-01", "2025-12-25T18:00", "UTC"),
        "2 months 6 days 6 hours ago (exactly -65 d 06:00:00)",
    )
    .await;
    check(between("@0", "@0", "UTC"), "0 seconds (exactly 0 d 00:00:00)").await;
}

#[tokio::test]
async fn durations_are_added_by_the_calendar() {
    let add = |time: &str, duration: &str| json!({ "action": "add", "time": time, "duration": duration, "zone": "Europe/Berlin" });
    for (time, duration, result) in [
        ("2024-01-31", "1 month", "2024-02-29T00:00:00+01:00[Europe/Berlin]"),
        ("2024-02-29", "1 year", "2025-02-28T00:00:00+01:00[Europe/Berlin]"),
        ("2026-03-28T12:00", "1 day", "2026-03-29T12:00:00+02:00[Europe/Berlin]"),
        ("2026-03-28T12:00", "24h", "2026-03-29T13:00:00+02:00[Europe/Berlin]"),
        ("2026-03-28", "-90 minutes", "2026-03-27T22:30:00+01:00[Europe/Berlin]"),
        ("2026-03-28", "P1Y2W", "2027-04-11T00:00:00+02:00[Europe/Berlin]"),
    ] {
        assert_eq!(member(add(time, duration), "time").await, result, "{time} {duration}");
    }
}

#[tokio::test]
async fn the_calendar_is_known() {
    let facts = |time: &str| json!({ "action": "facts", "time": time });
    assert_eq!(member(facts("2000-02-01"), "leap_year").await, true);
    assert_eq!(member(facts("1900-02-01"), "leap_year").await, false);
    assert_eq!(member(facts("2000-02-01"), "days_in_month").await, 29);
    assert_eq!(member(facts("2026-12-31"), "iso_week").await, "2026-W53");
    assert_eq!(member(facts("2027-01-01"), "iso_week").await, "2026-W53");
    assert_eq!(member(facts("2027-01-01"), "quarter").await, 1);
}

#[tokio::test]
async fn hostile_and_wrong_arguments_are_named() {
    check(
        json!({ "action": "now", "zone": "berlin" }),
        "error: there is no time zone `berlin`; did you mean `Europe/Berlin`?",
    )
    .await;
    for zone in ["../../../etc/passwd", "/etc/localtime", "", "Europe/\u{0}", "x"] {
        let text = said(&toolbox(), "datetime", &json!({ "action": "now", "zone": zone })).await;
        assert!(text.starts_with("error: there is no time zone"), "{zone}: {text}");
    }
    for time in ["2023-02-29", "25:00", "2024-13-01", "@9999999999999999999", "@x", "", "tomorrow"]
    {
        let text = said(&toolbox(), "datetime", &json!({ "action": "facts", "time": time })).await;
        assert!(text.starts_with(&format!("error: `{time}` is no time; write")), "{time}: {text}");
    }
    for duration in ["9999999 years", "P99999Y", "1e9", "", "x", "-20000 years"] {
        let arguments = json!({ "action": "add", "duration": duration });
        let text = said(&toolbox(), "datetime", &arguments).await;
        assert!(text.starts_with("error: "), "{duration}: {text}");
    }
    check(json!({ "action": "convert", "time": "now" }), "error: `convert` needs `to_zone`").await;
    check(json!({ "action": "add" }), "error: `add` needs `duration`").await;
    check(
        json!({ "action": "facts", "time": "x".repeat(101) }),
        "error: `time` has 101 bytes, more than the limit: 100",
    )
    .await;
    check(
        json!({ "action": "guess" }),
        "error: unknown variant `guess`, expected one of `now`, `convert`, `difference`, `add`, `facts`",
    )
    .await;
}
