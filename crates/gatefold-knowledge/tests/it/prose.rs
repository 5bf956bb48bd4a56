//! Texts that look like prose, from a seed.

use fastrand::Rng;

const WORDS: &[&str] = &[
    "office",
    "efficient",
    "first",
    "flow",
    "affluent",
    "difficult",
    "employee",
    "manager",
    "leave",
    "annual",
    "report",
    "revenue",
    "growth",
    "policy",
    "contract",
    "deadline",
    "request",
    "approval",
    "budget",
    "travel",
    "expense",
    "machine",
    "pressure",
    "temperature",
    "valve",
    "engine",
    "operator",
    "maintenance",
    "schedule",
    "inspection",
    "safety",
    "training",
    "certificate",
    "customer",
    "delivery",
    "warehouse",
    "supplier",
    "invoice",
    "payment",
    "account",
    "interest",
    "percent",
    "quarter",
    "market",
    "product",
    "research",
    "protein",
    "receptor",
    "treatment",
    "patient",
    "clinical",
    "trial",
    "outcome",
    "infection",
    "response",
    "increase",
    "decrease",
    "during",
    "before",
    "after",
    "between",
    "within",
    "without",
    "against",
    "through",
    "several",
    "various",
    "considerable",
    "significant",
    "moderate",
    "initial",
    "final",
    "previous",
    "current",
    "local",
    "regional",
    "national",
    "well-known",
    "long-term",
    "part-time",
    "co-operative",
    "café",
    "naïve",
    "façade",
    "Zürich",
    "don't",
    "company's",
    "provides",
    "requires",
    "includes",
    "describes",
    "reduces",
    "improves",
    "follows",
    "supports",
    "contains",
    "remains",
    "becomes",
    "the",
    "the",
    "the",
    "of",
    "of",
    "and",
    "in",
    "to",
    "a",
    "with",
    "for",
    "on",
    "is",
    "was",
    "by",
    "that",
    "which",
    "from",
    "must",
    "may",
    "not",
    "only",
    "also",
];

/// Words that the texts do not have otherwise.
pub(crate) fn rare_word(random: &mut Rng) -> String {
    let syllable = |random: &mut Rng| {
        let onset =
            random.choice(["b", "d", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z"]);
        let vowel = random.choice(["a", "e", "i", "o", "u", "ai", "ou"]);
        format!("{}{}", onset.unwrap(), vowel.unwrap())
    };
    (0..random.usize(2..4)).map(|_| syllable(random)).collect()
}

fn word(random: &mut Rng) -> String {
    match random.u8(0..20) {
        0 => random.u32(2..5000).to_string(),
        1 => format!("{},{:03}", random.u32(1..90), random.u32(0..1000)),
        2 => format!("{}.{}", random.u32(1..90), random.u32(1..10)),
        3..=5 => rare_word(random),
        _ => (*random.choice(WORDS).unwrap()).to_owned(),
    }
}

fn sentence(random: &mut Rng) -> String {
    let mut words: Vec<_> = (0..random.usize(7..22)).map(|_| word(random)).collect();
    if random.u8(0..8) == 0 {
        let at = random.usize(1..words.len() - 2);
        words[at].insert(0, '\u{201c}');
        words[at + 1].push('\u{201d}');
    }
    for _ in 0..random.usize(0..3) {
        let at = random.usize(1..words.len() - 1);
        words[at].push_str([",", ";", " \u{2014}"][random.usize(0..3)]);
    }
    let text = words.join(" ");
    let first = text.chars().next().unwrap();
    let rest = &text[first.len_utf8()..];
    format!("{}{rest}{}", first.to_uppercase(), if random.u8(0..9) == 0 { "?" } else { "." })
}

/// A document of some pages, and where each page begins. Some are as if read from a bad PDF.
pub(crate) fn document(random: &mut Rng) -> (String, Vec<usize>) {
    let is_noisy = random.u8(0..3) == 0;
    let mut text = format!("# {}\n\n", rare_word(random));
    let mut pages = vec![0];
    for _ in 0..random.usize(3..6) {
        for _ in 0..random.usize(2..5) {
            let sentences: Vec<_> = (0..random.usize(2..6)).map(|_| sentence(random)).collect();
            let paragraph = sentences.join(" ");
            text.push_str(&if is_noisy { with_noise(&paragraph, random) } else { paragraph });
            text.push_str("\n\n");
        }
        pages.push(text.len());
    }
    pages.pop();
    (text, pages)
}

/// What reading a PDF or copying from one does to a text.
pub(crate) fn with_noise(text: &str, random: &mut Rng) -> String {
    let mut noisy = text.to_owned();
    if random.bool() {
        for (plain, ligature) in
            [("ffi", "\u{fb03}"), ("fi", "\u{fb01}"), ("fl", "\u{fb02}"), ("ff", "\u{fb00}")]
        {
            noisy = noisy.replace(plain, ligature);
        }
    }
    if random.bool() {
        noisy = noisy.replace('\'', "\u{2019}").replace(" \u{2014}", "\u{2014}");
    }
    if random.bool() {
        noisy = noisy.replace(['\u{201c}', '\u{201d}'], "'");
    }
    let mut words: Vec<_> = noisy.split(' ').map(str::to_owned).collect();
    for _ in 0..random.usize(0..3) {
        let at = random.usize(0..words.len());
        let hyphen = random.choice(["-\n", "\u{ad}", "\u{ad}\n", "\u{2010}\n"]).unwrap();
        break_word(&mut words[at], hyphen);
    }
    let mut joined = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            joined.push_str(match random.u8(0..12) {
                0 => "  ",
                1 => "\u{a0}",
                // A line that begins with a sign would be an item or a row.
                2 if word.starts_with(char::is_alphabetic) => "\n",
                3 => "\u{2009} ",
                _ => " ",
            });
        }
        joined.push_str(word);
    }
    // A blank line would end the paragraph.
    joined.replace("\n\n", "\n")
}

/// A text as a careful reader writes it out again.
pub(crate) fn cleaned(text: &str) -> String {
    let mut clean = text.to_owned();
    for (noise, plain) in [
        ("\u{fb03}", "ffi"),
        ("\u{fb01}", "fi"),
        ("\u{fb02}", "fl"),
        ("\u{fb00}", "ff"),
        ("-\n", ""),
        ("\u{2010}\n", ""),
        ("\u{ad}\n", ""),
        ("\u{ad}", ""),
    ] {
        clean = clean.replace(noise, plain);
    }
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Breaks a word of letters in its middle, as a line's end does.
fn break_word(word: &mut String, hyphen: &str) {
    let is_plain = word.len() > 5 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    if is_plain {
        word.insert_str(word.len() / 2, hyphen);
    }
}
