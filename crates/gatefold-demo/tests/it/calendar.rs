claims! {
    "calendar";

    fn an_event_has_a_begin_and_a_later_end() {
        create_event {"title": "Pruning", "start": "2026-11-02T09:00", "end": "2026-11-02T10:30", "location": "Orchard"}
            => {"id": 6, "start": "2026-11-02T09:00", "end": "2026-11-02T10:30", "location": "Orchard", "notes": ""};
        get_event {"id": 6} => {"title": "Pruning"};
        get_event {"id": 99} => "there is no event 99; list_events gives the ids";
        create_event {"title": "x", "start": "tomorrow", "end": "2026-11-02T10:30"} => "`start` must be a time in UTC such as `2026-10-05T09:00`";
        create_event {"title": "x", "start": "2026-02-30T09:00", "end": "2026-11-02T10:30"} => "`start` must be a time in UTC";
        create_event {"title": "x", "start": "2026-11-02T09:00", "end": "2026-11-02T09:00"} => "an event must end after its start";
    }

    fn a_listing_takes_what_overlaps_the_span() {
        list_events {} => {"events": [{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}, {"id": 5}]};
        list_events {"from": "2026-10-14T07:45", "to": "2026-10-15T00:00"} => {"events": [{"id": 2}, {"id": 3}]};
        list_events {"from": "2026-10-14T08:00", "to": "2026-10-14T09:00"} => {"events": [{"id": 3}]};
        list_events {"from": "2026-10-20T00:00", "limit": 1} => {"events": [{"id": 4}], "next_offset": 1};
    }

    fn an_event_changes_moves_and_goes() {
        update_event {"id": 4, "location": "", "notes": "Stall 18."}
            => {"title": "Autumn market", "location": "", "notes": "Stall 18.", "start": "2026-10-24T06:00"};
        move_event {"id": 1, "start": "2026-10-26T18:00", "end": "2026-10-26T19:30"} => {"start": "2026-10-26T18:00"};
        delete_event {"id": 2} => {"deleted": 2};
        delete_event {"id": 2} => "there is no event 2";
    }

    fn free_time_is_what_events_leave() {
        // Busy from 07:00 to 08:15, two events that overlap.
        find_free_time {"from": "2026-10-14T06:00", "to": "2026-10-14T12:00", "minutes": 60} => {"gaps": [
            {"start": "2026-10-14T06:00", "end": "2026-10-14T07:00", "minutes": 60},
            {"start": "2026-10-14T08:15", "end": "2026-10-14T12:00", "minutes": 225},
        ]};
        find_free_time {"from": "2026-10-24T07:00", "to": "2026-10-24T13:00", "minutes": 5} => {"gaps": []};
    }

    fn the_current_time_has_a_weekday() {
        get_current_time {} => {};
    }

    fn nothing_is_cleared_without_a_yes() {
        clear_events {"from": "2026-10-01T00:00", "to": "2026-11-01T00:00"} => "needs the user's confirmation";
        list_events {} => {"events": [{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}, {"id": 5}]};
    }
}
