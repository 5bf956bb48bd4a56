//! What a search finds, and in which order.

use gatefold_knowledge::ranking::FITS;
use gatefold_knowledge::{KnowledgeBase, MAX_QUERY, Query};

use crate::scratch::{Scratch, names, put, search};

#[test]
fn an_empty_base_finds_nothing() {
    let scratch = Scratch::new();
    let base = scratch.open();
    for query in ["", "anything", "…"] {
        let found = search(&base, query);
        assert!(found.passages.is_empty() && found.nearest_titles.is_empty());
    }
}

#[test]
fn a_word_is_found_in_its_other_forms_and_its_own_form_first() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(
        &base,
        &[
            ("a.txt", "The invoice was reversed by accounting."),
            ("b.txt", "The invoices were reversed by accounting."),
            ("c.txt", "Nothing of the kind."),
        ],
    );
    assert_eq!(names(&base, "invoice"), ["a.txt", "b.txt"]);
    assert_eq!(names(&base, "invoices"), ["b.txt", "a.txt"]);
}

#[test]
fn titles_and_file_names_are_found() {
    let scratch = Scratch::new();
    let base = scratch.open();
    let filler = "Some words that all of these documents have. ";
    put(
        &base,
        &[
            ("travel.md", &format!("# Expenses\n\n{filler}")),
            ("b.md", &format!("# Security\n\n{filler}")),
        ],
    );
    assert_eq!(names(&base, "expenses")[0], "travel.md");
    assert_eq!(names(&base, "travel")[0], "travel.md");
    assert_eq!(names(&base, "security")[0], "b.md");
}

#[test]
fn a_query_that_names_a_file_finds_it_first() {
    let scratch = Scratch::new();
    let base = scratch.open();
    let text = "Capital expenditure was 1,577 million, mostly for buildings and machines.";
    put(
        &base,
        &[
            ("AMERICANEXPRESS_2017_10K.txt", text),
            ("AMERICANEXPRESS_2018_10K.txt", text),
            ("BOEING_2018_10K.txt", text),
            ("BOEING_2017_10K.txt", text),
        ],
    );
    for (query, expected) in [
        ("capital expenditure of Boeing in 2017", "BOEING_2017_10K.txt"),
        ("capital expenditure of Boeing in FY2018", "BOEING_2018_10K.txt"),
        ("capital expenditure of American Express in FY2018", "AMERICANEXPRESS_2018_10K.txt"),
        ("FY2017 capital expenditure: American Express", "AMERICANEXPRESS_2017_10K.txt"),
    ] {
        assert_eq!(names(&base, query)[0], expected, "{query}");
    }
}

#[test]
fn what_is_beside_a_passage_counts_for_it() {
    let scratch = Scratch::new();
    let base = scratch.open();
    let filler = "It was agreed upon by all members of the committee in the spring. ".repeat(8);
    let text = |topic: &str| {
        format!("# Rules\n\n## A\n\n{topic} {filler}\n\n## B\n\nThe fine was doubled. {filler}\n")
    };
    put(&base, &[("a.md", &text("Weather.")), ("b.md", &text("Parking."))]);
    for (query, expected) in [("parking fine doubled", "b.md"), ("weather fine doubled", "a.md")] {
        let found = search(&base, query).passages;
        let fines = found.iter().filter(|passage| passage.excerpt().contains("fine"));
        let fines: Vec<_> = fines.map(|passage| &*passage.document).collect();
        assert_eq!((fines.len(), fines[0]), (2, expected), "{query}");
    }
}

#[test]
fn one_document_gives_at_most_three_passages_and_neighbours_are_one() {
    let scratch = Scratch::new();
    let base = scratch.open();
    let section = |number: usize| format!("## Part {number}\n\nThe heron waits.\n\n");
    let many: Vec<_> = (0..20).map(section).collect();
    let long = "The heron waits at the river for a fish that is small enough to eat. ".repeat(25);
    put(&base, &[("many.md", &many.concat()), ("long.md", &long)]);
    let found = search(&base, "heron");
    let of = |name: &str| found.passages.iter().filter(|one| &*one.document == name).count();
    assert_eq!(of("many.md"), 3);
    assert_eq!(of("long.md"), 1);
    let long = found.passages.iter().find(|one| &*one.document == "long.md").unwrap();
    assert!(long.span.len() > 1500, "{}", long.span.len());
    let few = base.search(&Query { text: "heron", top: 2, per_document: 1 }).unwrap();
    assert_eq!(few.passages.len(), 2);
    assert_ne!(few.passages[0].document, few.passages[1].document);
}

#[test]
fn a_document_that_is_far_better_than_all_others_gives_all_passages() {
    let scratch = Scratch::new();
    let base = scratch.open();
    let section = |number: usize| format!("## Part {number}\n\nThe heron waits.\n\n");
    let many: Vec<_> = (0..20).map(section).collect();
    put(&base, &[("many.md", &many.concat()), ("other.md", "The crane waits at the river.")]);
    let query = |text| Query { text, top: 10, per_document: 3 };
    assert_eq!(base.search(&query("heron")).unwrap().passages.len(), 10);
    let of_both = base.search(&query("waits")).unwrap().passages;
    assert_eq!(of_both.iter().filter(|one| &*one.document == "many.md").count(), 3);
}

#[test]
fn what_does_not_fit_is_known_and_near_titles_are_named() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(
        &base,
        &[
            ("a.md", "# Reimbursement\n\nExpenses are paid within a month."),
            ("b.md", "# Parking\n\nThe garage opens at six."),
        ],
    );
    let fits = search(&base, "when are expenses paid");
    assert!(fits.passages[0].score >= FITS, "{}", fits.passages[0].score);
    assert!(fits.nearest_titles.is_empty());
    let nothing = search(&base, "reimbursment of quantum telescopes");
    assert!(nothing.passages.iter().all(|passage| passage.score < FITS));
    assert_eq!(nothing.nearest_titles, ["Reimbursement"]);
}

#[test]
fn bases_share_no_statistics() {
    let (one, two) = (Scratch::new(), Scratch::new());
    let (alone, beside) = (one.open(), two.open());
    let documents = [("a.txt", "a grey heron"), ("b.txt", "a grey wolf"), ("c.txt", "a dog")];
    put(&alone, &documents);
    let scores = |base: &KnowledgeBase| -> Vec<f32> {
        search(base, "grey heron").passages.iter().map(|one| one.score).collect()
    };
    let before = scores(&alone);
    put(&beside, &documents);
    for number in 0..50 {
        put(&beside, &[(&format!("{number}.txt")[..], "a grey heron")]);
    }
    assert_eq!(scores(&alone), before);
    assert_ne!(scores(&beside)[..1], before[..1]);
}

#[test]
fn twin_titles_are_two_documents() {
    let scratch = Scratch::new();
    let base = scratch.open();
    let text = "# Twin\n\nThe very same text about a badger.\n";
    put(&base, &[("a/twin.md", text), ("b/twin.md", text)]);
    let mut found = names(&base, "badger");
    found.sort();
    assert_eq!(found, ["a/twin.md", "b/twin.md"]);
    base.remove("a/twin.md").unwrap();
    base.commit().unwrap();
    assert_eq!(names(&base, "badger"), ["b/twin.md"]);
}

#[test]
fn writing_without_spaces_and_accents_are_found() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(&base, &[("a.txt", "東京都の規則について"), ("b.txt", "Die Überweisung über naïve Wege")]);
    assert_eq!(names(&base, "規則"), ["a.txt"]);
    assert_eq!(names(&base, "uberweisung"), ["b.txt"]);
    assert_eq!(names(&base, "ÜBERWEISUNG"), ["b.txt"]);
}

#[test]
fn a_long_query_is_cut_and_finds_what_it_begins_with() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(&base, &[("a.txt", "an ocelot")]);
    let query = format!("ocelot {}", "é".repeat(MAX_QUERY));
    assert_eq!(names(&base, &query), ["a.txt"]);
    let words: Vec<_> = (0..2000).map(|number| format!("word{number}")).collect();
    assert!(names(&base, &words.join(" ")).is_empty());
}

#[test]
fn one_document_answers_a_question_in_plain_words() {
    let scratch = Scratch::new();
    let base = scratch.open();
    put(
        &base,
        &[(
            "travel.md",
            "# Travel policy\n\n## Hotels\n\nA hotel may cost at most 140 euros a night.\n",
        )],
    );
    let best = |query: &str| search(&base, query).passages.first().map_or(0.0, |best| best.score);
    for asked in ["how much may a hotel cost", "What is the most that a night in a hotel costs?"] {
        assert!(best(asked) >= FITS, "{asked} {}", best(asked));
    }
    for asked in ["how much may a dentist cost", "What is the colour of the office?"] {
        assert!(best(asked) < FITS, "{asked} {}", best(asked));
    }
}
