use serde_json::json;

use crate::claims::fresh;

claims! {
    "calendar";

    fn an_event_keeps_its_own_time_zone() {
        create_event {"title": "Pruning", "start": "2026-11-02T09:00", "duration_minutes": 90, "time_zone": "europe/oslo", "location": "Orchard"}
            => {
                "id": 6, "start": "2026-11-02T09:00:00+01:00", "end": "2026-11-02T10:30:00+01:00",
                "time_zone": "Europe/Oslo", "duration_minutes": 90, "location": "Orchard", "notes": "",
            };
        create_event {"title": "Call", "start": "2026-11-02T09:00:00-05:00", "duration_minutes": 5}
            => {"id": 7, "start": "2026-11-02T14:00:00+00:00", "time_zone": "UTC"};
        get_event {"id": 6} => {"title": "Pruning"};
        get_event {"id": 99} => "there is no event 99; list_events and search_events give the ids";
        create_event {"title": "x", "start": "tomorrow", "duration_minutes": 5} => "`start`: `tomorrow` is no date and time: write `2026-10-05T09:00`";
        create_event {"title": "x", "start": "2026-11-02T09:00[Europe/Oslo]", "duration_minutes": 5} => "is no date and time";
        create_event {"title": "x", "start": "2026-11-02", "duration_minutes": 5, "time_zone": "Oslo"} => "`time_zone`: `Oslo` is no time zone; list_time_zones";
        create_event {"title": "x", "start": "2026-11-02", "duration_minutes": 20161} => "must be from 5 to 20160";
    }

    fn a_reading_that_the_clocks_skip_is_later() {
        create_event {"title": "Early", "start": "2026-03-29T02:30", "duration_minutes": 60, "time_zone": "Europe/Oslo"}
            => {"start": "2026-03-29T03:30:00+02:00"};
        create_event {"title": "Twice", "start": "2026-10-25T02:30", "duration_minutes": 60, "time_zone": "Europe/Oslo"}
            => {"start": "2026-10-25T02:30:00+02:00", "end": "2026-10-25T02:30:00+01:00"};
    }

    fn a_listing_takes_what_overlaps_the_span() {
        list_events {} => {"events": [{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}, {"id": 5}]};
        list_events {"from": "2026-10-14", "to": "2026-10-15"} => {"events": [
            {"id": 2, "start": "2026-10-14T09:00:00+02:00"},
            {"id": 3, "start": "2026-10-14T16:30:00+09:00"},
        ]};
        list_events {"from": "2026-10-14T10:00", "to": "2026-10-14T11:00", "time_zone": "Europe/Oslo"} => {"events": [{"id": 3}]};
        list_events {"from": "2026-10-20", "limit": 1} => {"events": [{"id": 4}], "next_offset": 1};
    }

    fn a_search_needs_every_word_somewhere() {
        search_events {"query": "greenhouse GUTTER"} => {"events": [{"id": 2}]};
        search_events {"query": "planning", "limit": 1} => {"events": [{"id": 5}], "next_offset": null};
        search_events {"query": "gutter library"} => {"events": []};
    }

    fn an_update_leaves_the_time_alone() {
        update_event {"id": 4, "location": "", "notes": "Stall 18."} => {
            "title": "Autumn market", "location": "", "notes": "Stall 18.", "start": "2026-10-24T08:00:00+02:00",
        };
        get_event {"id": 4} => {"notes": "Stall 18."};
        update_event {"id": 99, "title": "x"} => "there is no event 99";
    }

    fn a_moved_event_keeps_its_length_and_zone() {
        move_event {"id": 1, "start": "2026-10-26T18:00"} => {
            "start": "2026-10-26T18:00:00+01:00", "end": "2026-10-26T19:30:00+01:00", "time_zone": "Europe/Oslo",
        };
        move_event {"id": 1, "start": "2026-10-26T12:00:00Z", "duration_minutes": 30} => {
            "start": "2026-10-26T13:00:00+01:00", "duration_minutes": 30,
        };
        get_event {"id": 1} => {"duration_minutes": 30};
        move_event {"id": 99, "start": "2026-10-26"} => "there is no event 99";
    }

    fn a_deleted_event_is_gone() {
        delete_event {"id": 2} => {"deleted": 2};
        delete_event {"id": 2} => "there is no event 2";
        list_events {} => {"events": [{"id": 1}, {"id": 3}, {"id": 4}, {"id": 5}]};
    }

    fn free_time_is_what_events_leave_of_the_working_day() {
        // Busy from 09:00 to 10:15, two events that overlap.
        find_free_time {"from": "2026-10-14", "to": "2026-10-15", "duration_minutes": 60, "time_zone": "Europe/Oslo"}
            => {"gaps": [
                {"start": "2026-10-14T10:15:00+02:00", "end": "2026-10-14T17:00:00+02:00", "minutes": 405},
                {"start": "2026-10-15T09:00:00+02:00", "end": "2026-10-15T17:00:00+02:00", "minutes": 480},
            ]};
        find_free_time {"from": "2026-10-14", "to": "2026-10-14", "duration_minutes": 60, "time_zone": "Europe/Oslo", "first_hour": 8, "last_hour": 11}
            => {"gaps": [{"start": "2026-10-14T08:00:00+02:00", "minutes": 60}]};
        // The day on which the clocks go back has 25 hours.
        find_free_time {"from": "2026-10-25", "to": "2026-10-25", "duration_minutes": 60, "time_zone": "Europe/Oslo", "first_hour": 0, "last_hour": 24}
            => {"gaps": [{"minutes": 1500}]};
        find_free_time {"from": "2026-10-24", "to": "2026-10-24", "duration_minutes": 480, "time_zone": "Europe/Oslo"} => {"gaps": []};
        find_free_time {"from": "2026-10-02", "to": "2026-10-01", "duration_minutes": 60} => "`to` is before `from`; swap them";
        find_free_time {"from": "2026-10-01", "to": "2026-11-01", "duration_minutes": 60} => "are 32 days; look at no more than 31";
        find_free_time {"from": "2026-10-01", "to": "2026-10-01", "duration_minutes": 60, "first_hour": 17} => "choose a `last_hour` after";
    }

    fn a_month_names_the_days_with_events() {
        render_month {"year": 2026, "month": 10, "time_zone": "Europe/Oslo"}
            => {"month": "2026-10", "days_with_events": [12, 14, 24], "events": 4};
        create_event {"title": "Camp", "start": "2026-10-30T12:00", "duration_minutes": 7200} => {};
        render_month {"year": 2026, "month": 11} => {"days_with_events": [1, 2, 3, 4, 9], "events": 2};
        render_month {"year": 2026, "month": 13} => "`month`: must be from 1 to 12, is 13";
    }

    fn a_moment_is_read_in_many_zones() {
        convert_time {"time": "2026-07-01T09:00", "from_zone": "Europe/Oslo", "to_zones": ["Asia/Tokyo", "America/New_York"]}
            => {"readings": [
                {"time_zone": "Asia/Tokyo", "time": "2026-07-01T16:00:00+09:00", "weekday": "Wednesday"},
                {"time_zone": "America/New_York", "time": "2026-07-01T03:00:00-04:00"},
            ]};
        convert_time {"time": "2026-01-01T00:00:00Z", "from_zone": "Asia/Tokyo", "to_zones": ["America/New_York"]}
            => {"readings": [{"time": "2025-12-31T19:00:00-05:00", "weekday": "Wednesday"}]};
    }

    fn adding_keeps_to_the_calendar() {
        add_to_date {"start": "2027-01-31", "months": 1} => {"time": "2027-02-28T00:00:00+00:00", "weekday": "Sunday"};
        add_to_date {"start": "2028-02-29", "years": 1} => {"time": "2029-02-28T00:00:00+00:00"};
        add_to_date {"start": "2026-10-24T12:00", "time_zone": "Europe/Oslo", "days": 1} => {"time": "2026-10-25T12:00:00+01:00"};
        add_to_date {"start": "2026-10-24T12:00", "time_zone": "Europe/Oslo", "hours": 24} => {"time": "2026-10-25T11:00:00+01:00"};
        add_to_date {"start": "2026-10-05", "weeks": -1, "minutes": -1} => {"time": "2026-09-27T23:59:00+00:00"};
        add_to_date {"start": "9999-01-01", "years": 1} => "outside the years -9999 to 9999";
        add_to_date {"start": "2026-10-05", "years": 1001} => "must be from -1000 to 1000";
    }

    fn the_time_between_counts_seconds_and_calendar_units() {
        time_between {"start": "2026-10-05", "end": "2027-12-08T04:00"}
            => {"total_seconds": 37_080_000, "calendar_days": 429, "duration": "P1Y2M3DT4H"};
        time_between {"start": "2026-10-25", "end": "2026-10-26", "time_zone": "Europe/Oslo"} => {"total_seconds": 90_000, "calendar_days": 1};
        time_between {"start": "2026-10-06", "end": "2026-10-05"} => {"total_seconds": -86_400, "calendar_days": -1};
    }

    fn a_date_knows_its_week() {
        describe_date {"date": "2027-01-01"} => {
            "weekday": "Friday", "iso_week": "2026-W53", "day_of_year": 1, "days_in_month": 31, "leap_year": false,
        };
        describe_date {"date": "2028-02-29"} => {"day_of_year": 60, "days_in_month": 29, "leap_year": true};
        describe_date {"date": "2027-02-29"} => "`2027-02-29` is no date";
    }

    fn time_zones_are_listed_by_name() {
        list_time_zones {"filter": "EUROPE/OS"} => {"time_zones": ["Europe/Oslo"], "next_offset": null};
        list_time_zones {"filter": "america/", "limit": 1} => {"time_zones": ["America/Adak"], "next_offset": 1};
    }

    fn the_current_time_has_a_zone() {
        get_current_time {"time_zone": "Asia/Tokyo"} => {"time_zone": "Asia/Tokyo"};
        get_current_time {} => {"time_zone": "UTC"};
    }
}

#[tokio::test]
async fn the_current_time_is_the_present() {
    let (server, _scratch) = fresh(SERVER).await;
    let before = jiff::Timestamp::now().as_second();
    let result = server.call("get_current_time", json!({ "time_zone": "Asia/Tokyo" })).await;
    let after = jiff::Timestamp::now().as_second();
    let time = result.unwrap()["structuredContent"]["time"].as_str().unwrap().to_owned();
    let told: jiff::Timestamp = time.parse().unwrap();
    assert!(time.ends_with("+09:00"), "{time}");
    assert!((before..=after).contains(&told.as_second()), "{time}");
}

#[tokio::test]
async fn a_month_comes_with_a_picture() {
    use base64::{Engine, engine::general_purpose::STANDARD};

    let (server, _scratch) = fresh(SERVER).await;
    let arguments = json!({ "year": 2026, "month": 10 });
    let result = server.call("render_month", arguments.clone()).await.unwrap();
    let image = &result["content"][1];
    assert_eq!(image["type"], "image");
    assert_eq!(image["mimeType"], "image/png");
    let data = STANDARD.decode(image["data"].as_str().unwrap()).unwrap();
    assert_eq!(data[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(data[12..16], *b"IHDR");
    assert_eq!(data[16..24], [0, 0, 0, 169, 0, 0, 0, 141], "width and height in pixels");
    assert!(data.len() < 8_192, "{} bytes", data.len());

    let again = server.call("render_month", arguments).await.unwrap();
    assert_eq!(result, again, "the same month is the same picture");
    server.call("delete_event", json!({ "id": 1 })).await.unwrap();
    let changed = server.call("render_month", json!({ "year": 2026, "month": 10 })).await.unwrap();
    assert_ne!(changed["content"][1], result["content"][1], "events show in the picture");
}
