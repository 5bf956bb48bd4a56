use std::collections::HashSet;

use gatefold_catalog::{Tool, View};

use crate::suggestions::{Claim, view};

pub(crate) const ALL: [Claim; 1] =
    [("every_name_that_is_given_out_leads_to_its_own_tool", |directory| {
        check(&view(directory, |_| true));
    })];

fn check(view: &View) {
    let mut given = HashSet::new();
    for tool in view.tools() {
        let long = format!("{}__{}", tool.domain(), tool.target().name);
        let names: HashSet<&str> = [tool.id().as_str(), tool.alias(), &long].into();
        for name in names {
            assert!(given.insert(name.to_owned()), "{name} is given twice");
            assert_eq!(view.find(name).map(Tool::id), Some(tool.id()), "{name}");
        }
    }
    assert!(given.len() > 2_000, "{}", given.len());
}
