claims! {
    "contacts";

    fn a_contact_needs_only_a_name() {
        create_contact {"name": "Noor Haddad"} => {"id": 7, "name": "Noor Haddad", "email": "", "phone": "", "groups": []};
        create_contact {"name": "Jo", "email": "jo@x.example", "phone": "+1 (555) 01-23", "organisation": "X", "notes": "n"}
            => {"id": 8, "email": "jo@x.example", "phone": "+1 (555) 01-23", "organisation": "X", "notes": "n"};
        get_contact {"id": 8} => {"name": "Jo"};
        create_contact {"email": "jo@x.example"} => "missing field `name`";
        create_contact {"name": "Jo", "email": "jo"} => "`email` must be an address such as `mei@seedbank.example`";
        create_contact {"name": "Jo", "phone": "call me"} => "`phone` must be a number";
        get_contact {"id": 9} => "there is no contact 9; list_contacts gives the ids";
    }

    fn contacts_are_listed_and_searched_by_name() {
        list_contacts {"limit": 2} => {"contacts": [{"name": "Amara Okafor"}, {"name": "Ingrid Solberg"}], "next_offset": 2};
        list_contacts {"group": "suppliers"} => {"contacts": [{"id": 4}, {"id": 6}], "next_offset": null};
        search_contacts {"query": "key solberg"} => {"contacts": [{"id": 1}]};
        search_contacts {"query": "FERREIRA"} => {"contacts": [{"id": 5}, {"id": 4}]};
        search_contacts {"query": "key tanaka"} => {"contacts": []};
    }

    fn an_update_changes_only_what_it_names() {
        update_contact {"id": 3, "phone": "", "notes": "Away in May."}
            => {"name": "Amara Okafor", "email": "amara@marketday.example", "phone": "", "notes": "Away in May."};
        update_contact {"id": 99, "name": "x"} => "there is no contact 99";
    }

    fn a_group_lives_with_its_members() {
        add_to_group {"id": 2, "group": "roofers"} => {"groups": ["committee", "roofers"]};
        add_to_group {"id": 2, "group": "roofers"} => {"groups": ["committee", "roofers"]};
        list_groups {} => {"groups": [{"name": "committee", "members": 4}, {"name": "roofers", "members": 1}, {"name": "suppliers"}]};
        remove_from_group {"id": 2, "group": "roofers"} => {"groups": ["committee"]};
        delete_contact {"id": 6} => {"deleted": 6};
        delete_contact {"id": 6} => "there is no contact 6";
        list_groups {} => {"groups": [{"name": "committee", "members": 4}, {"name": "suppliers", "members": 1}]};
    }
}
