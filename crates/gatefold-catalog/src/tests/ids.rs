//! Who owns a name, whatever sources list: no source takes over another's ids, and none inherits
//! the calls of one that is denied or gone.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proptest::prelude::*;

use super::*;

/// Domains and the names that their sources list.
type Catalogue = BTreeMap<String, BTreeSet<String>>;

fn snapshot(catalogue: &Catalogue) -> Arc<Snapshot> {
    let entries = catalogue.iter().map(|(domain, names)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let prompts: Vec<_> = names.iter().map(|name| format!(r#"{{"name":"{name}"}}"#)).collect();
        let tools: Vec<_> = names.iter().map(|name| tool(name, "")).collect();
        let listing = Listing {
            tools: &[page("tools", &tools.join(","))],
            prompts: &[page("prompts", &prompts.join(","))],
            ..Listing::default()
        };
        let manifest = Manifest::from_listing(server(), listing, Timestamp::from_millis(7));
        SourceEntry { manifest: Some(Arc::new(manifest)), ..named(domain, &[]) }
    });
    Arc::new(Snapshot::build(entries.collect(), 1))
}

fn id(view: &View, name: &str) -> Option<String> {
    view.find(name).map(|tool| tool.id().to_string())
}

#[track_caller]
fn check(catalogue: &[(&str, &[&str])], hidden: &[&str], name: &str, expected: Option<&str>) {
    let entries = catalogue.iter().map(|(domain, names)| named(domain, names)).collect();
    let snapshot = Arc::new(Snapshot::build(entries, 1));
    let view = View::new(snapshot, |target| !hidden.contains(&target.id.as_str()));
    assert_eq!(id(&view, name).as_deref(), expected, "{name}");
}

#[test]
fn a_source_takes_no_id_of_a_longer_domain() {
    let both: [(&str, &[&str]); 2] =
        [("git", &["git_hub__create_issue", "git_hub_list"]), ("git_hub", &["create_issue"])];
    check(&both, &[], "git_hub__create_issue", Some("git_hub__create_issue"));
    check(&both, &["git_hub__create_issue"], "git_hub__create_issue", None);
    check(&both, &[], "git__git_hub__create_issue", Some("git__git_hub__create_issue"));
    check(&both, &[], "git_hub_list", None);
    check(&both, &[], "git__git_hub_list", Some("git__git_hub_list"));
    let times: [(&str, &[&str]); 2] = [("time", &["time_2_now"]), ("time_2", &["now"])];
    check(&times, &[], "time_2_now", None);
    check(&times, &[], "time__time_2_now", Some("time__time_2_now"));
    check(&times, &[], "time_2__now", Some("time_2__now"));
    check(&times[..1], &[], "time_2_now", Some("time_2_now"));
}

#[test]
fn a_denied_or_unreachable_tool_falls_through_to_nobody() {
    let own: (&str, &[&str]) = ("evil", &["bank__pay", "bank_pay", "pay"]);
    let all: [(&str, &[&str]); 2] = [("bank", &["pay"]), own];
    for name in ["bank__pay", "bank_pay"] {
        check(&[("bank", &[]), own], &[], name, None);
    }
    check(&[own], &[], "bank__pay", None);
    check(&all, &["bank__pay"], "bank__pay", None);
    check(&all, &[], "pay", None);
    check(&all, &["bank__pay"], "pay", Some("evil__pay"));
    check(&all, &[], "bank__pay", Some("bank__pay"));
    check(&all, &["bank__pay"], "evil__bank__pay", Some("evil__bank__pay"));
    check(&[("bank", &["bank_pay"]), own], &["bank_pay"], "bank_pay", None);
}

#[test]
fn a_sources_own_name_is_found_within_the_domain_it_names() {
    let odd: [(&str, &[&str]); 2] = [("a", &["a__x", "b__x"]), ("b", &["y"])];
    check(&odd, &[], "a__x", Some("a__a__x"));
    check(&odd, &[], "b__x", None);
    check(&odd, &[], "a__b__x", Some("a__b__x"));
    check(&[("a", &["A__x"])], &[], "A__x", Some("a__A__x"));
}

#[test]
fn a_bare_name_means_the_one_tool_that_is_seen_to_have_it() {
    let both: [(&str, &[&str]); 2] = [("a", &["list"]), ("b", &["list"])];
    check(&both, &[], "list", None);
    check(&both, &["b__list"], "list", Some("a__list"));
    check(&both[..1], &[], "list", Some("a__list"));
}

#[test]
fn what_is_hidden_reads_like_what_never_was() {
    let nearest = |entries: Vec<SourceEntry>, name: &str| {
        let snapshot = Arc::new(Snapshot::build(entries, 1));
        let view = View::new(snapshot, |target| target.domain.as_str() != "bank");
        view.resolve(&ToolName::parse(name).unwrap()).unwrap_err()
    };
    let own = || named("evil", &["bank__pay", "bank_pay", "list"]);
    for name in ["bank__pay", "bank_pay", "pay", "bank__nothing"] {
        let hidden = nearest(vec![named("bank", &["pay", "bank_pay"]), own()], name);
        let gone = nearest(vec![named("bank", &[]), own()], name);
        assert_eq!(hidden, gone, "{name}");
    }
}

fn domain() -> impl Strategy<Value = String> {
    "_?[ab](_?[ab2]){0,3}"
}

/// Names that are made to look like ids of any of the domains.
fn own_name(domains: &[String]) -> impl Strategy<Value = String> + use<> {
    let prefix = prop::sample::select(domains.to_vec());
    let rest = || "[ab_2]{0,3}(\\.| )?[ab_2]{1,2}";
    prop_oneof![
        rest(),
        (prefix.clone(), "_{1,3}", rest()).prop_map(|(domain, gap, rest)| domain + &gap + &rest),
        (prefix.clone(), prefix, rest()).prop_map(|(a, b, rest)| format!("{a}__{b}_{rest}")),
    ]
}

fn catalogue() -> impl Strategy<Value = Catalogue> {
    let domains = prop::collection::btree_set(domain(), 1..5);
    domains.prop_flat_map(|domains| {
        let all: Vec<_> = domains.iter().cloned().collect();
        let names = || prop::collection::btree_set(own_name(&all), 0..6);
        let lists: Vec<_> = domains.iter().map(|_| names()).collect();
        lists.prop_map(move |lists| domains.iter().cloned().zip(lists).collect())
    })
}

/// Everything that anybody may ask for: ids, aliases, long forms and own names.
fn names(snapshot: &Snapshot) -> HashSet<String> {
    let of_tool = |tool: &Tool| {
        let own = &tool.target().name;
        let long = format!("{}__{own}", tool.domain());
        [tool.id().to_string(), tool.alias().to_owned(), long, own.to_string()]
    };
    snapshot.tools().iter().flat_map(of_tool).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_two_tools_share_a_name_that_is_given_out(catalogue in catalogue()) {
        let snapshot = snapshot(&catalogue);
        let view = View::whole(Arc::clone(&snapshot));
        let mut given = HashSet::new();
        for tool in snapshot.tools() {
            let own = &tool.target().name;
            let long = format!("{}__{own}", tool.domain());
            let names: HashSet<&str> = [tool.id().as_str(), tool.alias(), &long].into();
            for name in names {
                prop_assert!(given.insert(name.to_owned()), "{name} is given twice");
                prop_assert_eq!(view.find(name).map(Tool::id), Some(tool.id()));
            }
        }
        prop_assert_eq!(snapshot.tools().len(), catalogue.values().map(BTreeSet::len).sum::<usize>());
    }

    #[test]
    fn hiding_and_losing_tools_turns_no_id_to_another_domain(
        catalogue in catalogue(),
        hidden in any::<u64>(),
    ) {
        let snapshot = snapshot(&catalogue);
        let mut at = 0_u32;
        let view = View::new(Arc::clone(&snapshot), |_| {
            at += 1;
            hidden.rotate_left(at) & 1 == 0
        });
        // The same domains, without what a source has that was never reached or no longer lists
        // anything.
        let silent: Catalogue = (0_u32..)
            .zip(&catalogue)
            .map(|(at, (domain, names))| {
                let is_silent = hidden.rotate_right(at) & 1 == 0;
                (domain.clone(), if is_silent { BTreeSet::new() } else { names.clone() })
            })
            .collect();
        let silent = View::whole(self::snapshot(&silent));
        for name in names(&snapshot) {
            // A bare name may switch to the entry that is left; an id never leaves its domain.
            let names_domain = snapshot.tools().iter().find(|tool| {
                name == tool.id().as_str() || name == tool.alias()
                    || name == format!("{}__{}", tool.domain(), tool.target().name)
            });
            let Some(tool) = names_domain else { continue };
            for left in [&view, &silent] {
                let found = left.find(&name).map(Tool::domain);
                prop_assert!(found.is_none_or(|found| found == tool.domain()), "{}", name);
                let found = left.find_prompt(&name).map(Entry::domain);
                prop_assert!(found.is_none_or(|found| found == tool.domain()), "{}", name);
            }
        }
    }

    #[test]
    fn another_source_takes_no_id_but_short_ones_that_begin_with_its_longer_domain(
        catalogue in catalogue(),
        more in catalogue(),
    ) {
        let before = View::whole(snapshot(&catalogue));
        let mut both = more.clone();
        both.extend(catalogue.clone());
        let after = View::whole(snapshot(&both));
        for tool in before.snapshot().tools() {
            for name in [tool.id().as_str(), tool.alias()] {
                let found = after.find(name).map(|tool| (tool.domain(), &tool.target().name));
                let is_same = found == Some((tool.domain(), &tool.target().name));
                let is_claimed = |domain: &String| {
                    domain.len() > tool.domain().as_str().len()
                        && !name.contains("__")
                        && name.starts_with(&format!("{domain}_"))
                };
                prop_assert!(is_same || more.keys().any(is_claimed), "{name}: {found:?}");
                if !is_same {
                    let claimant = found.map(|(domain, _)| domain.to_string());
                    prop_assert!(claimant.is_none_or(|domain| is_claimed(&domain)), "{name}");
                    let long = format!("{}__{}", tool.domain(), tool.target().name);
                    let found = after.find(&long).map(|tool| &tool.target().name);
                    prop_assert_eq!(found, Some(&tool.target().name));
                }
            }
        }
    }
}
