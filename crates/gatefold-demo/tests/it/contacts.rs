claims! {
    "contacts";

    fn a_contact_needs_only_a_name() {
        create_contact {"name": "Noor Haddad"} => {"id": 7, "name": "Noor Haddad", "email": "", "phone": "", "groups": []};
        create_contact {"name": "Jo", "email": "jo@x.example", "phone": "+1 (555) 01-23", "organisation": "X", "notes": "n"}
            => {"id": 8, "email": "jo@x.example", "phone": "+1 (555) 01-23", "organisation": "X", "notes": "n"};
        get_contact {"id": 8} => {"name": "Jo"};
        create_contact {"email": "jo@x.example"} => "missing field `name`";
        create_contact {"name": "Jo", "email": "jo"} => "`email`: is not an e-mail address such as `mei@seedbank.example`";
        create_contact {"name": "Jo", "email": "jo@a@b"} => "is not an e-mail address";
        create_contact {"name": "Jo", "phone": "call me"} => "`phone`: is not a phone number";
        get_contact {"id": 9} => "there is no contact 9; list_contacts and search_contacts give the ids";
    }

    fn a_listing_is_by_name() {
        list_contacts {"limit": 2} => {"contacts": [{"name": "Amara Okafor"}, {"name": "Ingrid Solberg"}], "next_offset": 2};
        list_contacts {"group": "suppliers"} => {"contacts": [{"id": 4}, {"id": 6}], "next_offset": null};
        list_contacts {"organisation": "Fjord Garden Society", "group": "committee"} => {"contacts": [{"id": 1}, {"id": 2}]};
    }

    fn a_search_needs_every_word_somewhere() {
        search_contacts {"query": "key solberg"} => {"contacts": [{"id": 1}]};
        search_contacts {"query": "+81"} => {"contacts": [{"id": 6}]};
        search_contacts {"query": "FERREIRA"} => {"contacts": [{"id": 5}, {"id": 4}]};
        search_contacts {"query": "key tanaka"} => {"contacts": []};
    }

    fn an_update_changes_only_what_it_names() {
        update_contact {"id": 3, "phone": "", "notes": "Away in May."}
            => {"name": "Amara Okafor", "email": "amara@marketday.example", "phone": "", "notes": "Away in May."};
        get_contact {"id": 3} => {"notes": "Away in May."};
        update_contact {"id": 99, "name": "x"} => "there is no contact 99";
    }

    fn a_deleted_contact_leaves_its_groups() {
        delete_contact {"id": 6} => {"deleted": 6};
        delete_contact {"id": 6} => "there is no contact 6";
        list_groups {} => {"groups": [{"name": "committee", "members": 4}, {"name": "suppliers", "members": 1}]};
    }

    fn duplicates_are_found_and_merged() {
        find_duplicate_contacts {} => {"pairs": [{"first_id": 4, "second_id": 5, "same": "email"}]};
        add_to_group {"id": 5, "group": "volunteers"} => {};
        add_to_group {"id": 5, "group": "suppliers"} => {};
        merge_contacts {"keep_id": 5, "remove_id": 4} => {
            "id": 5, "name": "L. Ferreira", "phone": "+351 555 0198", "organisation": "Raingauge Labs",
            "notes": "From the sign-up sheet.\nBuilt the rain sensor.",
            "groups": ["committee", "suppliers", "volunteers"],
        };
        get_contact {"id": 4} => "there is no contact 4";
        find_duplicate_contacts {"limit": 5} => {"pairs": []};
        create_contact {"name": "MEI TANAKA"} => {"id": 7};
        find_duplicate_contacts {} => {"pairs": [{"first_id": 6, "second_id": 7, "same": "name"}]};
        merge_contacts {"keep_id": 6, "remove_id": 6} => "are the same contact";
        merge_contacts {"keep_id": 6, "remove_id": 99} => "there is no contact 99";
        get_contact {"id": 6} => {"name": "Mei Tanaka"};
    }

    fn a_group_lives_with_its_members() {
        add_to_group {"id": 2, "group": "roofers"} => {"groups": ["committee", "roofers"]};
        add_to_group {"id": 2, "group": "roofers"} => {"groups": ["committee", "roofers"]};
        list_groups {"limit": 2} => {"groups": [{"name": "committee"}, {"name": "roofers", "members": 1}], "next_offset": 2};
        remove_from_group {"id": 2, "group": "roofers"} => {"groups": ["committee"]};
        remove_from_group {"id": 2, "group": "roofers"} => "is not in the group `roofers`; it is in: committee";
        list_groups {} => {"groups": [{"name": "committee"}, {"name": "suppliers"}]};
        add_to_group {"id": 99, "group": "roofers"} => "there is no contact 99";
    }

    fn a_vcard_escapes_what_it_must() {
        update_contact {"id": 6, "notes": "Seeds, bulbs; trees\nand more"} => {};
        export_vcard {"id": 6} => {"vcard": "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Mei Tanaka\r\nEMAIL:mei@seedbank.example\r\nTEL:+81 555 0121\r\nORG:Seed Bank\r\nNOTE:Seeds\\, bulbs\\; trees\\nand more\r\nCATEGORIES:suppliers\r\nEND:VCARD\r\n"};
        export_vcard {"id": 99} => "there is no contact 99";
    }
}
