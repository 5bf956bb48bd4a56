//! Answers with quotes, honest ones and corrupted ones.

use std::collections::HashMap;
use std::sync::Arc;

use fastrand::Rng;
use gatefold_documents::Place;
use gatefold_knowledge::{
    CheckedAnswer, CitableText, Citation, CitedText, CitedTexts, MAX_ANSWER, MAX_QUOTES,
    Misattribution, Verdict, Version, check_citations, sentences,
};

use crate::prose;

/// How many answers of each kind are made; the variable says another number.
const ROUNDS: usize = 2000;

/// Texts in memory, with an index of their words.
#[derive(Default)]
struct Library {
    texts: Vec<Arc<CitableText>>,
    by_word: HashMap<String, Vec<usize>>,
    gone: Option<(Version, Version)>,
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
    words.map(str::to_lowercase)
}

impl Library {
    fn add(&mut self, document: &str, text: &str, pages: &[usize]) -> Arc<CitableText> {
        let places = pages.iter().zip(1..).map(|(start, page)| (*start, Place::Page(page)));
        let added = Arc::new(CitableText::new(
            "base".into(),
            document.into(),
            Version::of(text),
            text.into(),
            places.collect(),
        ));
        let index = self.texts.len();
        for word in words(text) {
            let having = self.by_word.entry(word).or_default();
            if having.last() != Some(&index) {
                having.push(index);
            }
        }
        self.texts.push(Arc::clone(&added));
        added
    }

    /// Texts that look like prose, or those of the sets that a variable names the folder of.
    fn of_prose(random: &mut Rng) -> Self {
        let mut library = Self::default();
        for number in 0..40 {
            let (text, pages) = prose::document(random);
            library.add(&format!("reports/text {number}.pdf"), &text, &pages);
        }
        library
    }

    fn of_set(folder: &std::path::Path) -> Self {
        let mut library = Self::default();
        for file in std::fs::read_dir(folder).unwrap().take(300) {
            let file = file.unwrap();
            let is_text = file.path().extension().is_some_and(|extension| extension == "txt");
            let Some(text) = std::fs::read_to_string(file.path()).ok().filter(|_| is_text) else {
                continue;
            };
            let text = &text[..text.floor_char_boundary(200_000)];
            let pages: Vec<_> = (0..text.len()).step_by(3000).collect();
            library.add(&file.file_name().to_string_lossy(), text, &pages);
        }
        library
    }

    fn has(&self, quote: &str) -> bool {
        self.texts.iter().any(|text| text.text.contains(quote))
    }
}

impl CitedTexts for Library {
    fn text(&self, citation: &Citation) -> CitedText {
        if let Some((gone, present)) = self.gone.filter(|(gone, _)| *gone == citation.version) {
            assert_ne!(gone, present);
            return CitedText::Gone { present: Some(present) };
        }
        let is_cited = |text: &&Arc<CitableText>| {
            *text.document == *citation.document && text.version == citation.version
        };
        let text = self.texts.iter().find(is_cited).filter(|text| *text.domain == *citation.domain);
        text.map_or(CitedText::Unknown, |text| CitedText::Present(Arc::clone(text)))
    }

    fn find(&self, quote: &str) -> Vec<Arc<CitableText>> {
        let mut scores: HashMap<usize, f64> = HashMap::new();
        let rarity = |having: &[usize]| 1.0 / f64::from(u32::try_from(having.len()).unwrap());
        for word in words(quote) {
            let having = self.by_word.get(&word).map(Vec::as_slice).unwrap_or_default();
            for index in having {
                *scores.entry(*index).or_default() += rarity(having);
            }
        }
        let mut best: Vec<_> = scores.into_iter().collect();
        best.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
        best.into_iter().take(5).map(|(index, _)| Arc::clone(&self.texts[index])).collect()
    }
}

/// A sentence of a text, by its place.
struct Sample {
    text: Arc<CitableText>,
    span: std::ops::Range<usize>,
}

impl Sample {
    fn draw(library: &Library, random: &mut Rng) -> Self {
        loop {
            let text = random.choice(&library.texts).unwrap();
            let start = text.text.floor_char_boundary(random.usize(0..text.text.len()));
            let end = text.text.floor_char_boundary((start + 3000).min(text.text.len()));
            let found = sentences(&text.text, start..end);
            // The first and the last may be cut.
            let whole = found.get(1..found.len().saturating_sub(1)).unwrap_or_default();
            let fits = |span: &&std::ops::Range<usize>| {
                (40..400).contains(&span.len())
                    && text.text[(*span).clone()].split_whitespace().count() > 6
            };
            let fitting: Vec<_> = whole.iter().filter(fits).collect();
            if let Some(span) = random.choice(&fitting) {
                return Self { text: Arc::clone(text), span: (*span).clone() };
            }
        }
    }

    fn quote(&self) -> &str {
        &self.text.text[self.span.clone()]
    }

    fn page(&self) -> u32 {
        let after = self.text.places.partition_point(|(start, _)| *start <= self.span.start);
        u32::try_from(after).unwrap()
    }

    /// A citation of the sentence, or of what is around it.
    fn citation(&self, random: &mut Rng) -> Citation {
        let text = &self.text.text;
        let around = [0, 0, 200, 800][random.usize(0..4)];
        let start = text.ceil_char_boundary(self.span.start.saturating_sub(around));
        let end = text.floor_char_boundary((self.span.end + around).min(text.len()));
        self.text.cite(start..end.max(self.span.end))
    }
}

/// An answer that quotes, in one of the forms that models write.
fn answer(quote: &str, citation: &Citation, page: Option<u32>, random: &mut Rng) -> String {
    let cite = citation.to_string();
    let pages = page.map_or(String::new(), |page| {
        let forms = [format!(", p. {page}"), format!(", page {page}"), format!(" (Seite {page})")];
        forms[random.usize(0..3)].clone()
    });
    let block = quote.replace('\n', "\n> ");
    match random.u8(0..12) {
        0 => format!("The report says \"{quote}\" [{cite}]{pages}. That settles it."),
        1 => format!("As stated, \u{201c}{quote}\u{201d} ([Annual report{pages}]({cite}))."),
        2 => format!(
            "It says:\n\n> {block}\n>\n> \u{2014} [Annual report{pages}]({cite})\n\nSo it does."
        ),
        3 => format!("It says:\n\n> {block}\n\n\u{2014} Annual report{pages}, {cite}"),
        4 => format!("Selon le texte, \u{ab}\u{a0}{quote}\u{a0}\u{bb}{pages} <{cite}>."),
        5 => format!("\"{quote}\"[^1] is what it says.\n\n[^1]: Annual report{pages}, {cite}"),
        6 => format!("Im Text: \u{201e}{quote}\u{201c}{pages}, {cite}."),
        7 => format!("1. \u{300c}{quote}\u{300d}{pages} {cite}\n2. Nothing else."),
        8 => format!(
            "- **Leave**: \u{201c}{quote}\u{201d}{pages} [1]\n- Others do not say.\n\nSources:\n[1] {cite}"
        ),
        9 => format!("> {block} ([source{pages}]({cite}))\n\nIt's clear, isn't it?"),
        10 => format!("According to [the report{pages}]({cite}), \u{201c}{quote}\u{201d}."),
        _ => format!(
            "It's there{pages}: \"{quote}\" (see {cite}), and the staff's rights don't change."
        ),
    }
}

fn is_sound(checked: &CheckedAnswer) -> bool {
    checked.quotes.iter().all(|quote| quote.verdict.is_sound())
        && checked.quotes.iter().any(|quote| !quote.quote.is_empty())
}

fn honest_answer(library: &Library, random: &mut Rng) -> String {
    let sample = Sample::draw(library, random);
    let quote = match random.u8(0..4) {
        0 => sample.quote().to_owned(),
        1 => prose::cleaned(sample.quote()),
        _ => prose::with_noise(sample.quote(), random),
    };
    let page = random.bool().then(|| sample.page());
    let citation = sample.citation(random);
    answer(&quote, &citation, page, random)
}

/// Nothing where the corruption would have changed nothing.
fn corrupted_answer(library: &Library, kind: usize, random: &mut Rng) -> Option<String> {
    let sample = Sample::draw(library, random);
    let mut citation = sample.citation(random);
    let mut page = random.bool().then(|| sample.page());
    let quote = match kind {
        0 => with_word_changed(sample.quote(), random),
        1 => spliced(sample.quote(), Sample::draw(library, random).quote()),
        2 => {
            let other = Sample::draw(library, random);
            (other.text.document != sample.text.document).then_some(())?;
            (!other.text.text.contains(sample.quote())).then_some(())?;
            citation = other.citation(random);
            page = None;
            sample.quote().to_owned()
        }
        _ => {
            let last = sample.text.places.partition_point(|(start, _)| *start < sample.span.end);
            let before = sample.page().checked_sub(1).filter(|page| *page > 0);
            page = before.filter(|_| random.bool()).or(Some(u32::try_from(last).unwrap() + 1));
            citation = sample.text.cite(sample.span.clone());
            sample.quote().to_owned()
        }
    };
    let is_changed = kind > 1 || !library.has(&quote);
    let noisy = if random.bool() { prose::with_noise(&quote, random) } else { quote };
    is_changed.then(|| answer(&noisy, &citation, page, random))
}

fn with_word_changed(quote: &str, random: &mut Rng) -> String {
    let mut words: Vec<_> = quote.split(' ').map(str::to_owned).collect();
    let is_word = |at: &usize| words[*at].contains(char::is_alphanumeric);
    let places: Vec<_> = (0..words.len()).filter(is_word).collect();
    let nth = random.usize(1..places.len());
    let (before, at) = (places[nth - 1], places[nth]);
    if random.bool() && words[at] != words[before] {
        words.swap(at, before);
    } else {
        words[at] = prose::rare_word(random);
    }
    words.join(" ")
}

fn spliced(one: &str, other: &str) -> String {
    let half = |text: &str| text.split(' ').count() / 2;
    let head: Vec<_> = one.split(' ').take(half(one)).collect();
    let tail: Vec<_> = other.split(' ').skip(half(other)).collect();
    format!("{} {}", head.join(" "), tail.join(" "))
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a run by hand takes, and the place of its texts"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

#[expect(clippy::print_stdout, reason = "the figures of a run by hand")]
fn check_answers(name: &str, library: &Library) {
    let rounds = variable("GATEFOLD_KNOWLEDGE_ROUNDS");
    let rounds = rounds.map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let mut random = Rng::with_seed(40);
    let mut alarms = Vec::new();
    for _ in 0..rounds {
        let answer = honest_answer(library, &mut random);
        let checked = check_citations(&answer, library);
        if !is_sound(&checked) {
            alarms.push((answer, checked));
        }
    }
    let mut missed = Vec::new();
    let mut made = 0;
    while made < rounds {
        let Some(answer) = corrupted_answer(library, made % 4, &mut random) else { continue };
        made += 1;
        let checked = check_citations(&answer, library);
        if is_sound(&checked) {
            missed.push((answer, checked));
        }
    }
    println!(
        "{name}: {} of {rounds} honest, {} of {made} corrupted wrong",
        alarms.len(),
        missed.len()
    );
    let shown = |wrong: &[(String, CheckedAnswer)]| {
        let first = wrong.iter().take(8);
        first
            .map(|(answer, it)| format!("{answer}\n{:?}\n\n", verdicts(it)))
            .collect::<Vec<_>>()
            .concat()
    };
    assert!(alarms.len() * 100 <= rounds, "{name}, false alarms:\n{}", shown(&alarms));
    assert!(missed.len() * 100 <= made, "{name}, missed:\n{}", shown(&missed));
}

fn verdicts(checked: &CheckedAnswer) -> Vec<Verdict> {
    checked.quotes.iter().map(|quote| quote.verdict).collect()
}

#[test]
fn corrupted_answers_are_found_and_honest_ones_are_not_doubted() {
    check_answers("prose", &Library::of_prose(&mut Rng::with_seed(7)));
    let Some(sets) = variable("GATEFOLD_KNOWLEDGE_SETS") else { return };
    for set in std::fs::read_dir(sets).unwrap() {
        let folder = set.unwrap().path().join("documents");
        let library = if folder.is_dir() { Library::of_set(&folder) } else { Library::default() };
        if !library.texts.is_empty() {
            check_answers(&folder.display().to_string(), &library);
        }
    }
}

/// Two documents with a twin sentence; `{a}` and `{b}` in an answer cite it, `{gone}` a lost version.
fn check(answer: &str, expected: &[Verdict]) {
    let mut library = Library::default();
    let text = "Staff get 30 days of leave. Leave is paid in full, always.\n\nOn page two, it ends. The twin is here.";
    let one = library.add("a.md", text, &[0, 60]);
    let other = library.add("b.md", "Nothing is paid here, ever. The twin is here.", &[]);
    let lost = Version::of("lost");
    library.gone = Some((lost, one.version));
    let cite = |text: &CitableText, part: &str| {
        let start = text.text.find(part).unwrap();
        text.cite(start..start + part.len()).to_string()
    };
    let answer = answer
        .replace("{a}", &cite(&one, "Staff get 30 days of leave."))
        .replace("{twin}", &cite(&other, "The twin is here."))
        .replace("{b}", &cite(&other, "Nothing is paid here, ever."))
        .replace("{gone}", &Citation { version: lost, ..one.cite(0..9) }.to_string())
        .replace(
            "{unknown}",
            &Citation { document: "c.md".to_owned(), ..one.cite(0..9) }.to_string(),
        );
    let checked = check_citations(&answer, &library);
    assert_eq!(verdicts(&checked), expected, "{answer}: {checked:#?}");
}

#[test]
fn each_quote_has_the_verdict_of_its_own_citation() {
    const EXACT: Verdict = Verdict::Exact;
    const PLACE: Verdict = Verdict::Elsewhere(Misattribution::Place);
    const DOCUMENT: Verdict = Verdict::Elsewhere(Misattribution::Document);
    check("\"Staff get 30 days\" [{a}] and \"Nothing is paid\" [{b}]", &[EXACT, EXACT]);
    check("\"Staff get 30 days,\" and \"of leave\" [{a}]", &[Verdict::Normalised, EXACT]);
    check("\"Staff get 30  days\" [{a}]", &[Verdict::Normalised]);
    check("\"Staff get 3 days\" [{a}]", &[Verdict::Nowhere]);
    check("\"Staff get 30 days\" [{b}]", &[DOCUMENT]);
    check("\"Leave is paid in full\" [{a}]", &[PLACE]);
    check("\"Leave is paid ... always\" {a}.", &[PLACE]);
    check("\"The twin is here.\" [{twin}]", &[EXACT]);
    check("\"The twin is here.\" [{a}]", &[PLACE]);
    check("\"Staff get 30 days\" [{a}][{b}]", &[EXACT]);
    check("\"Nothing is paid\" [{a}] [{b}]", &[EXACT]);
    check("\"Staff get 30 days\" [{unknown}]", &[DOCUMENT]);
    check("\"So it never was\" [{unknown}]", &[Verdict::Nowhere]);
    check("| \"Staff get 30 days\" | {a} |\n| \"Nothing is paid\" | {b} |", &[EXACT, EXACT]);
}

#[test]
fn a_quote_without_a_citation_is_looked_for_everywhere() {
    check("He says \"Nothing is paid here\" once.", &[Verdict::Exact]);
    check("He says \u{201c}nothing was ever paid\u{201d} once.", &[Verdict::Nowhere]);
    check("A \"scare quote\" is not meant literally.", &[]);
}

#[test]
fn a_page_that_is_not_the_quotes_own_is_elsewhere() {
    let page = Verdict::Elsewhere(Misattribution::Page);
    check("\"Staff get 30 days\" ({a}, p. 2)", &[page]);
    check("\"Staff get 30 days\" ({a}, p. 1)", &[Verdict::Exact]);
    check("On page 2: \"Staff get 30 days of leave\"", &[page]);
    check("\"On page two, it ends.\" (p. 2)", &[Verdict::Exact]);
    check("\"Staff get 30 days\" (p. 1) \"On page two, it ends\" (p. 1)", &[Verdict::Exact, page]);
    check("\"Nothing is paid here\" (p. 7)", &[Verdict::Exact]);
}

#[test]
fn a_citation_that_stands_alone_is_resolved() {
    check("What a \"scare quote\" means, see [it]({a}).", &[Verdict::Unquoted]);
    check("Staff get leave [{a}]. None [{unknown}].", &[Verdict::Unquoted, Verdict::Nowhere]);
    check("Staff get leave (gatefold://base/kb/a.md@000000000000#0-5).", &[Verdict::Nowhere]);
}

#[test]
fn a_version_that_is_lost_is_said_to_be_gone() {
    let present = Some(Version::of(
        "Staff get 30 days of leave. Leave is paid in full, always.\n\nOn page two, it ends. The twin is here.",
    ));
    check(
        "\"Staff get 30 days\" [{gone}], and then {gone}",
        &[Verdict::Gone { present }, Verdict::Gone { present }],
    );
}

#[test]
fn a_huge_answer_is_read_in_part_and_says_so() {
    let library = Library::default();
    let quotes = "\"one two three four five\" \n\n".repeat(MAX_QUOTES + 5);
    let checked = check_citations(&quotes, &library);
    assert_eq!((checked.quotes.len(), checked.unchecked, checked.unread), (MAX_QUOTES, 5, 0));
    let long = "é".repeat(MAX_ANSWER);
    let checked = check_citations(&long, &library);
    assert_eq!((checked.quotes.len(), checked.unread), (0, MAX_ANSWER));
}

#[test]
fn hostile_answers_and_texts_end_soon() {
    let mut random = Rng::with_seed(3);
    let parts = [
        "\"",
        "\u{201c}",
        "\u{201d}",
        "'",
        "\u{2019}",
        "> ",
        "\n",
        "\n\n",
        "[",
        "]",
        "(",
        ")",
        "](",
        "[^1]",
        "[^1]: ",
        "gatefold://base/kb/a@0123456789ab#0-9",
        "gatefold://",
        "@0123456789ab",
        "#",
        "p. 4",
        "...",
        "\u{2026}",
        "-\n",
        "\u{ad}",
        "\u{301}",
        "\u{fb03}",
        "漢",
        "。",
        "a",
        " ",
        "```",
        "|",
        "- ",
        "\u{202e}",
        "\0",
        "1,5",
        "word ",
    ];
    for _ in 0..300 {
        let mut make =
            || (0..random.usize(0..200)).map(|_| random.choice(parts).unwrap()).collect::<String>();
        let (text, answer) = (make(), make());
        let mut library = Library::default();
        let text = library.add("a", &text, &[0, 3, 9]);
        let quoted = format!("\"{}\" {}\n{answer}", text.text, text.cite(0..text.text.len()));
        for quote in check_citations(&quoted, &library).quotes {
            assert!(
                quoted.is_char_boundary(quote.span.start)
                    && quoted.is_char_boundary(quote.span.end)
            );
            let found = quote.found.map(|it| it.text.text.get(it.span.clone()).is_some());
            assert_ne!(found, Some(false));
        }
    }
    let library = Library::default();
    for part in
        ["\"a ", "\u{201c}", "'a ", "> \"", "[1] ", "- - ", ". ", "gatefold://a ", "((", "\"a\"b"]
    {
        check_citations(&part.repeat(60_000 / part.len()), &library);
    }
}
