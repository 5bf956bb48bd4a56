claims! {
    "issues";

    fn a_new_issue_is_open_and_of_medium_priority() {
        create_issue {"title": "Hose leaks"} => {
            "id": 6, "title": "Hose leaks", "body": "", "state": "open", "priority": "medium",
            "assignee": null, "labels": [], "comment_count": 0,
        };
        create_issue {"title": "Café", "body": "Why?", "priority": "high", "assignee": "luis", "labels": ["bug", "a-1", "bug"]}
            => {"id": 7, "body": "Why?", "priority": "high", "assignee": "luis", "labels": ["a-1", "bug"]};
        get_issue {"id": 7} => {"title": "Café", "labels": ["a-1", "bug"]};
    }

    fn a_refused_issue_leaves_nothing_behind() {
        create_issue {"title": "Hose leaks", "labels": ["fine", "Not Fine"]} => "`labels`: `Not Fine` is not a plain word";
        get_issue {"id": 6} => "there is no issue 6; list_issues gives the ids";
    }

    fn a_listing_is_ordered_filtered_and_paged() {
        list_issues {} => {"issues": [{"id": 1}, {"id": 4}, {"id": 5}, {"id": 2}, {"id": 3}], "next_offset": null};
        list_issues {"state": "closed"} => {"issues": [{"id": 3, "reason": "completed"}]};
        list_issues {"state": "open", "label": "repair"} => {"issues": [{"id": 1}, {"id": 5}]};
        list_issues {"assignee": "amara", "priority": null} => {"issues": [{"id": 2}]};
        list_issues {"priority": "high"} => {"issues": [{"id": 4}]};
        list_issues {"limit": 2} => {"issues": [{"id": 1}, {"id": 4}], "next_offset": 2};
        list_issues {"limit": 2, "offset": 4} => {"issues": [{"id": 3}], "next_offset": null};
    }

    fn a_search_needs_every_word_somewhere() {
        search_issues {"query": "GREENHOUSE rain"} => {"issues": [{"id": 1}]};
        search_issues {"query": "quote"} => {"issues": [{"id": 1}]};
        search_issues {"query": "gauge unsigned"} => {"issues": [{"id": 4}]};
        search_issues {"query": "august", "state": "open"} => {"issues": []};
        search_issues {"query": "100% '\"_"} => {"issues": []};
        search_issues {"query": "e", "limit": 1, "offset": 1} => {"next_offset": 2};
    }

    fn issues_are_counted_by_a_property() {
        count_issues {"by": "state"} => {"counts": [{"value": "open", "issues": 4}, {"value": "closed", "issues": 1}]};
        count_issues {"by": "assignee", "state": "open"}
            => {"counts": [{"value": "", "issues": 2}, {"value": "amara"}, {"value": "tomasz"}]};
        count_issues {"by": "label"} => {"counts": [
            {"value": "repair", "issues": 2}, {"value": "bug"}, {"value": "greenhouse"}, {"value": "office"}, {"value": "planning"}, {"value": "sensors"},
        ]};
        count_issues {"by": "mood"} => "`by`: unknown choice `mood`, expected one of `state`, `priority`";
    }

    fn an_update_changes_only_what_it_names() {
        update_issue {"id": 2, "priority": "urgent"} => {"title": "Label printer smears the ink", "priority": "urgent"};
        update_issue {"id": 2, "title": "Printer", "body": ""} => {"title": "Printer", "body": "", "priority": "urgent"};
        update_issue {"id": 99, "title": "x"} => "there is no issue 99";
        update_issue {"id": 2, "title": ""} => "`title`: must have 1 to 200 characters, has 0";
    }

    fn an_issue_can_change_hands_and_be_closed_and_reopened() {
        assign_issue {"id": 5, "assignee": "ingrid"} => {"assignee": "ingrid"};
        assign_issue {"id": 5} => {"assignee": null};
        close_issue {"id": 4, "reason": "not_planned"} => {"state": "closed", "reason": "not_planned"};
        close_issue {"id": 4} => {"state": "closed", "reason": "completed"};
        reopen_issue {"id": 4} => {"state": "open", "reason": null};
        reopen_issue {"id": 99} => "there is no issue 99";
    }

    fn a_deleted_issue_takes_its_comments_along() {
        delete_issue {"id": 1} => {"deleted": 1};
        delete_issue {"id": 1} => "there is no issue 1";
        list_comments {"issue_id": 1} => {"comments": []};
        search_issues {"query": "quote"} => {"issues": []};
    }

    fn comments_are_kept_in_order_and_counted() {
        add_comment {"issue_id": 4, "author": "amara", "body": "Fixed in the script."}
            => {"id": 4, "issue_id": 4, "author": "amara", "body": "Fixed in the script."};
        list_comments {"issue_id": 4, "limit": 1} => {"comments": [{"author": "luis"}], "next_offset": 1};
        get_issue {"id": 4} => {"comment_count": 2};
        add_comment {"issue_id": 99, "author": "amara", "body": "x"} => "there is no issue 99";
        add_comment {"issue_id": 4, "author": "amara"} => "missing field `body`; arguments: issue_id: integer, author: string, body: string";
    }

    fn labels_come_and_go() {
        add_labels {"id": 5, "labels": ["urgent-ish", "repair"]} => {"labels": ["repair", "urgent-ish"]};
        remove_labels {"id": 5, "labels": ["repair", "absent"]} => {"labels": ["urgent-ish"]};
        add_labels {"id": 5, "labels": []} => "`labels`: must have 1 to 20 items, has 0";
        add_labels {"id": 1, "labels": ["l1", "l2", "l3", "l4", "l5", "l6", "l7", "l8", "l9", "l10", "l11", "l12", "l13", "l14", "l15", "l16", "l17", "l18", "l19"]}
            => "an issue can have at most 20 labels";
        get_issue {"id": 1} => {"labels": ["greenhouse", "repair"]};
    }

    fn a_wrong_call_learns_how_to_be_right() {
        get_issue {"id": 0} => "`id`: must be from 1 to 1000000000, is 0; arguments: id: integer";
        get_issue {"id": "4"} => "`id`: expected integer, found \"4\"";
        get_issue {"number": 4} => "unknown field `number`, expected `id`; arguments: id: integer";
        list_issues {"state": "done"} => "state?: \"open\"|\"closed\", priority?: \"low\"|\"medium\"|\"high\"|\"urgent\", assignee?: string";
        create_issue {"title": "a\u{0007}b"} => "control character '\\u{7}'";
    }
}
