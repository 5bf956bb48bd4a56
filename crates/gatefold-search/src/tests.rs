use std::sync::Arc;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::{Analysis, Document, Entry, Index, Mode, NameMatch};

const TOOLS: [(&str, &str, &str); 7] = [
    ("mail", "send_message", "Sends an email to somebody"),
    ("mail", "list_messages", "Lists the emails of a mailbox"),
    ("tracker", "createIssue", "Opens a ticket"),
    ("tracker", "create_issue_comment", "Comments on a ticket"),
    ("weather", "forecast", "获取天气 for a city: temperature, wind and rain"),
    ("weather", "المناخ", "درجة حرارة المدينة"),
    ("db", "run_query", "SELECT statements against a database 🚀"),
];

fn index() -> Index {
    let analyses: Vec<_> = TOOLS
        .iter()
        .map(|(domain, name, description)| {
            Analysis::of(&Document {
                name,
                domain: &[domain],
                description: &[description],
                ..Document::default()
            })
        })
        .collect();
    let entries = TOOLS.iter().zip(&analyses);
    let entries: Vec<_> = entries
        .map(|((domain, name, _), analysis)| Entry {
            id: name,
            domain,
            analysis: Arc::clone(analysis),
            service: None,
        })
        .collect();
    Index::build(&entries)
}

fn names(query: &str, mode: Mode, shows: impl Fn(usize) -> bool) -> Vec<&'static str> {
    let found = index().search(query, mode, shows, 10).matches;
    found.iter().map(|found| TOOLS[found.place].1).collect()
}

#[track_caller]
fn first(query: &str, expected: &str) {
    for mode in [Mode::Keyword, Mode::Hybrid] {
        assert_eq!(names(query, mode, |_| true).first(), Some(&expected), "{query}, {mode:?}");
    }
}

#[test]
fn a_request_finds_the_tool_it_means() {
    first("open a ticket", "createIssue");
    first("mail somebody", "send_message");
    first("天气", "forecast");
    first("حرارة المدينة", "المناخ");
    first("select from a database -- where a = 'b'", "run_query");
}

#[test]
fn a_synonym_is_enough_for_keywords() {
    assert_eq!(names("show me my inbox", Mode::Keyword, |_| true)[0], "list_messages");
}

#[test]
fn a_name_comes_first_and_then_those_it_begins() {
    let found = index().search("create issue", Mode::Hybrid, |_| true, 10).matches;
    let named: Vec<_> = found.iter().map(|found| (TOOLS[found.place].1, found.naming)).collect();
    assert_eq!(
        named[..2],
        [("createIssue", NameMatch::Exact), ("create_issue_comment", NameMatch::Begins)]
    );
    first("creat", "createIssue");
}

#[test]
fn hidden_tools_are_not_found_and_raise_nothing() {
    let shows = |place: usize| TOOLS[place].0 != "mail";
    for query in ["send_message", "email", "messages"] {
        assert!(!names(query, Mode::Hybrid, shows).contains(&"send_message"), "{query}");
    }
    let only = |place: usize| TOOLS[place].1 == "list_messages";
    let alone = index().search("emails messages", Mode::Keyword, only, 10).matches;
    let among = index().search("emails messages", Mode::Keyword, |_| true, 10).matches;
    let at = among.iter().find(|found| found.place == 1).unwrap();
    assert!(alone[0].score < at.score, "a hidden sibling affected the score");
}

#[test]
fn nothing_fits_what_no_tool_is_about() {
    for query in ["", "   ", "qqqq zzzz", "\u{0}\u{7}\u{1b}[2J", "()[]{}|\\^$.*+?"] {
        assert_eq!(names(query, Mode::Keyword, |_| true), [""; 0], "{query:?}");
    }
}

#[test]
fn a_score_says_how_much_of_a_request_a_tool_has() {
    let best = |query| index().search(query, Mode::Keyword, |_| true, 1).matches[0].score;
    assert!(best("list emails") > 2.0 * best("emails about gardening, pottery and astronomy"));
}

#[test]
fn ties_go_to_the_lower_id() {
    let analysis = Analysis::of(&Document { name: "ping", ..Document::default() });
    let entry = |id| Entry { id, domain: "a", analysis: Arc::clone(&analysis), service: None };
    let index = Index::build(&[entry("c"), entry("a"), entry("b")]);
    let found = index.search("ping it", Mode::Keyword, |_| true, 2).matches;
    assert_eq!(found.iter().map(|found| found.place).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn an_empty_index_finds_nothing() {
    let index = Index::build(&[]);
    assert_eq!(index.search("anything", Mode::Hybrid, |_| true, 10), crate::Findings::default());
    assert_eq!(index.search("", Mode::Semantic, |_| true, 0), crate::Findings::default());
}

fn modes() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Keyword), Just(Mode::Semantic), Just(Mode::Hybrid)]
}

/// Texts of many kinds: any characters, many languages, markup, code and very long ones.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[一-龥ぁ-んァ-ヶ가-힣]{0,30}",
        "[\u{621}-\u{652} ]{0,30}",
        "[😀-🙏🚀-🛼 ]{0,10}",
        "[\u{0}-\u{1f}\u{7f}-\u{9f}\u{200b}-\u{200f}\u{202a}-\u{202e}]{0,10}",
        Just("SELECT a.* FROM \"t\" WHERE x LIKE '%;DROP TABLE--' ".to_owned()),
        Just(r"^(?:[a-z]+|\d{2,})*$ (?i)\bfoo\b ".to_owned()),
        "[a-zA-Z_.-]{0,40}",
    ];
    (proptest::collection::vec(piece, 0..8), 1..60_usize)
        .prop_map(|(pieces, times)| pieces.concat().repeat(times))
}

#[test]
fn the_words_of_hidden_tools_complete_nothing() {
    let words = "invader invalid invasion inventory inverse invest invisible invite invoice";
    let analyses: Vec<_> = words
        .split(' ')
        .map(|word| Analysis::of(&Document { description: &[word], ..Document::default() }))
        .collect();
    let entries = analyses.iter().zip(words.split(' '));
    let entry =
        |(analysis, id)| Entry { id, domain: "d", analysis: Arc::clone(analysis), service: None };
    let index = Index::build(&entries.map(entry).collect::<Vec<_>>());
    let found = |shows: fn(usize) -> bool| {
        let found = index.search("inv", Mode::Keyword, shows, 9).matches;
        found.iter().map(|found| found.place).collect::<Vec<_>>()
    };
    assert_eq!(found(|_| true).len(), 8, "so many words are completed");
    assert_eq!(found(|place| place == 8), [8]);
}

/// More than any request takes without optimisation on a busy machine.
const SOON: Duration = Duration::from_secs(5);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_request_is_answered_within_its_bounds(query in texts(), mode in modes(), limit in 0..9_usize) {
        let begun = Instant::now();
        let found = index().search(&query, mode, |place| place != 2, limit).matches;
        prop_assert!(begun.elapsed() < SOON, "{:?} for {} bytes", begun.elapsed(), query.len());
        prop_assert!(found.len() <= limit);
        for pair in found.windows(2) {
            prop_assert!(pair[0].naming > pair[1].naming || pair[0].score >= pair[1].score);
            prop_assert!(pair[0].place != pair[1].place);
        }
        prop_assert!(found.iter().all(|found| found.place != 2 && found.score.is_finite()));
        prop_assert!(found.iter().all(|found| (0.0..=1.5).contains(&found.score)));
    }

    #[test]
    fn any_tool_is_read_and_searched(name in texts(), description in texts()) {
        let document =
            Document { name: &name, description: &[&description], ..Document::default() };
        let analysis = Analysis::of(&document);
        let entry = Entry { id: "a", domain: "b", analysis: Arc::clone(&analysis), service: None };
        let index = Index::build(&[entry]);
        let own: Vec<_> = analysis.terms().map(|(term, _)| term.to_owned()).collect();
        prop_assert!(own.is_sorted());
        if let Some(term) = own.first() {
            prop_assert!(!term.is_empty());
        }
        let found = index.search(&description, Mode::Hybrid, |_| true, 10).matches;
        prop_assert!(found.iter().all(|found| found.place == 0 && found.score.is_finite()));
    }
}

mod judged {
    use std::cell::RefCell;

    use super::*;
    use crate::{Fit, SearchEvidence, SimilarityFn, Tuning};

    /// The first tools for a request, with an encoder that likes one best and has read some.
    fn first(mode: Mode, judge: &SimilarityFn<'_>) -> Vec<&'static str> {
        let aids = SearchEvidence { judge: Some(judge), ..SearchEvidence::default() };
        let found = index().search_with("ticket", mode, |place| place != 2, &aids, 9).matches;
        found.iter().map(|found| TOOLS[found.place].1).collect()
    }

    #[test]
    fn an_encoder_moves_what_it_likes_and_leaves_what_it_has_not_read() {
        let plain = first(Mode::Hybrid, &|_, places| vec![None; places.len()]);
        assert_eq!(plain, names("ticket", Mode::Hybrid, |place| place != 2));
        let last = *plain.last().unwrap();
        let likes = |liked: &'static str| {
            move |_: &str, places: &[usize]| -> Vec<Option<f32>> {
                places
                    .iter()
                    .map(|at| Some(if TOOLS[*at].1 == liked { 1.0 } else { -1.0 }))
                    .collect()
            }
        };
        assert_eq!(first(Mode::Hybrid, &likes(last))[0], last);
        assert_eq!(
            first(Mode::Keyword, &likes(last)),
            names("ticket", Mode::Keyword, |place| place != 2)
        );
    }

    #[test]
    fn an_encoder_is_asked_once_and_never_for_what_is_hidden() {
        let asked = RefCell::new(Vec::new());
        let judge = |_: &str, places: &[usize]| {
            asked.borrow_mut().push(places.to_vec());
            vec![Some(0.5); places.len()]
        };
        first(Mode::Hybrid, &judge);
        let asked = asked.into_inner();
        assert_eq!(asked.len(), 1);
        assert!(!asked[0].is_empty() && !asked[0].contains(&2), "{asked:?}");
    }

    /// An encoder may read English alone.
    #[test]
    fn an_encoder_is_given_a_request_in_english() {
        let given = |request: &str| {
            let read = RefCell::new(String::new());
            let judge = |text: &str, places: &[usize]| {
                text.clone_into(&mut read.borrow_mut());
                vec![None; places.len()]
            };
            let aids = SearchEvidence { judge: Some(&judge), ..SearchEvidence::default() };
            index().search_with(request, Mode::Hybrid, |_| true, &aids, 9);
            read.into_inner()
        };
        assert_eq!(given("Create a ticket"), "Create a ticket");
        let translated = given("lösche die Datei");
        assert!(translated.contains("delete") && translated.contains("file"), "{translated}");
    }

    #[test]
    fn whether_anything_fits_is_told_by_an_encoder_that_has_read_most() {
        let fits_in = |mode, judge: &SimilarityFn<'_>| {
            let aids = SearchEvidence { judge: Some(judge), ..SearchEvidence::default() };
            index().search_with("ticket", mode, |_| true, &aids, 9).fits
        };
        let fits = |judge: &SimilarityFn<'_>| fits_in(Mode::Hybrid, judge);
        let all =
            |similarity: f32| move |_: &str, places: &[usize]| vec![Some(similarity); places.len()];
        assert!(fits(&all(0.5)));
        assert!(!fits(&all(-0.9)));
        let first_alone = |_: &str, places: &[usize]| {
            let mut similarities = vec![None; places.len()];
            similarities[0] = Some(-0.9);
            similarities
        };
        assert!(fits(&first_alone), "as without it");
        let all_but_the_first = |_: &str, places: &[usize]| {
            let mut similarities = vec![Some(-0.2); places.len()];
            similarities[0] = None;
            similarities
        };
        assert!(fits(&all_but_the_first), "an unread tool counts like the others");
        let plain = index().search("ticket", Mode::Semantic, |_| true, 9).fits;
        assert_eq!(fits_in(Mode::Semantic, &all(-0.9)), plain);
    }

    #[test]
    fn what_an_encoder_judges_moves_the_grade() {
        let fit = |request: &str, similarity: Option<f32>| {
            let judge = move |_: &str, places: &[usize]| vec![similarity; places.len()];
            let aids = SearchEvidence { judge: Some(&judge), ..SearchEvidence::default() };
            index().search_with(request, Mode::Hybrid, |_| true, &aids, 9).fit
        };
        let doubtful = [None, Some(0.4), Some(-0.4)].map(|one| fit("a ticket for the horse", one));
        assert_eq!(doubtful, [Fit::Weak, Fit::Likely, Fit::None]);
    }

    #[test]
    fn the_bar_is_that_of_the_encoder() {
        let judge = |_: &str, places: &[usize]| vec![Some(-0.2); places.len()];
        let fits = |bar: Option<f32>| {
            let aids = SearchEvidence { judge: Some(&judge), bar, ..SearchEvidence::default() };
            index().search_with("ticket", Mode::Hybrid, |_| true, &aids, 9).fits
        };
        assert!(fits(Some(-1.0)) && !fits(Some(9.0)));
        assert_eq!(fits(None), fits(Some(Tuning::default().least_judged.1)));
    }

    #[test]
    fn an_encoder_that_says_too_little_does_no_harm() {
        let plain = names("ticket", Mode::Hybrid, |place| place != 2);
        assert_eq!(first(Mode::Hybrid, &|_, _| Vec::new()), plain);
    }
}

mod services {
    use super::*;
    use crate::{Service, SourceNames};

    const SOURCES: [&str; 3] = ["github", "gitlab", "kitchen"];

    /// Three sources with the same tools.
    fn index(aliases: &[String]) -> Index {
        let tools = ["create_issue", "list_branches"];
        let analysis = |source: &str, name: &str| {
            let domain = [source];
            Analysis::of(&Document { name, domain: &domain, ..Document::default() })
        };
        let entry = |(source, name): (&'static str, &'static str)| Entry {
            id: source,
            domain: source,
            analysis: analysis(source, name),
            service: Service::of(&SourceNames {
                names: &[source],
                aliases: if source == "kitchen" { aliases } else { &[] },
                is_described: false,
            })
            .map(Arc::new),
        };
        let all = SOURCES.iter().flat_map(|source| tools.map(|tool| (*source, tool)));
        Index::build(&all.map(entry).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(request: &str, aliases: &[String], expected: usize) {
        for mode in [Mode::Keyword, Mode::Hybrid] {
            let found = index(aliases).search(request, mode, |_| true, 1).matches;
            assert_eq!(
                found.first().map(|first| first.place),
                Some(expected),
                "{request}, {mode:?}"
            );
        }
    }

    #[test]
    fn a_nickname_finds_the_tools_of_its_service() {
        check("file an issue on gh", &[], 0);
        check("show the glab branches", &[], 3);
        check("branches of github", &[], 1);
    }

    #[test]
    fn the_tools_of_the_service_that_is_named_come_first() {
        for (request, source) in [("create an issue at GitLab", 2), ("create a github issue", 0)] {
            check(request, &[], source);
        }
    }

    #[test]
    fn a_source_goes_by_the_names_that_its_configuration_gives_it() {
        check("create issue in the forge", &["the forge".to_owned()], 4);
    }

    #[test]
    fn an_abbreviation_finds_what_it_stands_for() {
        let tool = |name: &'static str| Entry {
            id: name,
            domain: "code",
            analysis: Analysis::of(&Document { name, ..Document::default() }),
            service: None,
        };
        let index = Index::build(&[tool("open_file"), tool("create_pull_request")]);
        let found = index.search("open a PR", Mode::Keyword, |_| true, 1).matches;
        assert_eq!(found[0].place, 1);
    }

    /// The first tool found among those of two sources that the list of services does not know.
    fn first_of_others(request: &str, shows: impl Fn(usize) -> bool) -> usize {
        let tool = |(id, description): (&'static str, &'static str)| Entry {
            id,
            domain: id,
            analysis: Analysis::of(&Document {
                name: "post",
                description: &[description],
                ..Document::default()
            }),
            service: Service::of(&SourceNames { names: &[id], ..SourceNames::default() })
                .map(Arc::new),
        };
        let tools = [
            ("bulletin", "Posts an article on the company's site"),
            ("parlour", "Posts a message to a chat channel"),
            ("slack", "Posts to Slack"),
        ];
        let index = Index::build(&tools.map(tool));
        index.search(request, Mode::Hybrid, shows, 1).matches[0].place
    }

    #[test]
    fn a_service_that_nobody_has_finds_tools_of_its_kind() {
        assert_eq!(first_of_others("post hello on Mattermost", |place| place < 2), 1);
        assert_eq!(first_of_others("post hello on Substack", |place| place < 2), 0);
    }

    #[test]
    fn a_service_that_is_hidden_is_one_that_nobody_has() {
        assert_eq!(first_of_others("post hello on Slack", |_| true), 2);
        assert_eq!(first_of_others("post hello on Slack", |place| place < 2), 1);
    }

    #[test]
    fn what_hidden_sources_are_called_finds_nothing() {
        let aliases = ["the larder".to_owned()];
        let found = index(&aliases).search("larder", Mode::Keyword, |place| place < 4, 9).matches;
        assert!(found.is_empty(), "{found:?}");
    }
}

mod fit {
    use super::*;
    use crate::Fit;

    #[track_caller]
    fn check(request: &str, least: Fit, most: Fit) {
        let fit = index().search(request, Mode::Hybrid, |_| true, 9).fit;
        assert!((least..=most).contains(&fit), "{request}: {fit:?}");
    }

    #[test]
    fn a_request_is_told_how_well_it_is_served() {
        check("createIssue", Fit::Exact, Fit::Exact);
        check("create_iss", Fit::Likely, Fit::Exact);
        check("send a message by mail", Fit::Likely, Fit::Exact);
        check("list the messages of my mailbox", Fit::Likely, Fit::Exact);
        check("brush the neighbour's horse", Fit::None, Fit::Weak);
        check("", Fit::None, Fit::None);
        check("天", Fit::None, Fit::Exact);
    }

    #[test]
    fn a_service_that_nobody_has_is_not_served_by_another() {
        let plain = index().search("list messages", Mode::Hybrid, |_| true, 9).fit;
        let other = index().search("list whatsapp messages", Mode::Hybrid, |_| true, 9).fit;
        assert!(other < plain, "{other:?}, {plain:?}");
    }

    #[test]
    fn the_grade_says_nothing_of_what_is_hidden() {
        let shows = |place: usize| TOOLS[place].0 != "weather";
        let alone: Vec<_> = TOOLS.iter().filter(|(domain, ..)| *domain != "weather").collect();
        assert!(alone.len() < TOOLS.len());
        let fit = index().search("wind and rain", Mode::Hybrid, shows, 9).fit;
        assert!(fit <= Fit::Weak, "{fit:?}");
    }

    #[test]
    fn the_grade_does_not_depend_on_how_many_are_shown() {
        for request in ["send a message by mail", "createIssue", "open a ticket", "horses"] {
            let fit = |limit| index().search(request, Mode::Hybrid, |_| true, limit).fit;
            assert_eq!(fit(1), fit(9), "{request}");
        }
    }

    #[test]
    fn grades_are_ordered_and_named() {
        let grades = [Fit::None, Fit::Weak, Fit::Likely, Fit::Exact];
        assert!(grades.is_sorted());
        assert_eq!(grades.map(Fit::name), ["none", "weak", "likely", "exact"]);
    }
}
