//! Generated tools of great variety: a large catalogue with the skewed word frequencies of a real
//! one.

use gatefold_search::{Analysis, Document};

/// How many tools a generated domain has.
pub(super) const DOMAIN_TOOLS: usize = 40;

/// Words of the generated texts, common ones first; words beyond these are invented.
const WORDS: &str = "\
    the of a to id name list get and for with by in user file create update delete search project \
    type data status query issue date page team account message limit set report order key event \
    task record customer group table text item search run start end address time version price \
    image document folder channel comment branch metric alert server cluster job queue invoice \
    payment product ticket contact campaign lead deal calendar meeting note tag label board card \
    column row sheet cell database schema index view role permission token secret region bucket \
    object policy rule route domain certificate log trace span dashboard panel chart deployment \
    release build pipeline artifact package container node pod service namespace volume snapshot \
    backup replica shard partition topic stream consumer offset function trigger schedule workflow \
    step condition template form field option vote poll survey question answer lesson course";

/// How many different words there are.
const VOCABULARY: usize = 30_000;

const VERBS: [&str; 16] = [
    "get", "list", "create", "update", "delete", "search", "export", "import", "run", "cancel",
    "assign", "archive", "restore", "compare", "validate", "send",
];

/// One generated tool.
pub(super) struct VariedTool {
    pub(super) id: String,
    pub(super) domain: String,
    name: String,
    description: String,
    parameters: Vec<String>,
    parameter_descriptions: Vec<String>,
}

impl VariedTool {
    pub(super) fn analysis(&self) -> std::sync::Arc<Analysis> {
        Analysis::of(&Document {
            name: &self.name,
            domain: &[&self.domain],
            description: &[&self.description],
            parameter_names: &self.parameters,
            parameter_descriptions: &self.parameter_descriptions,
            ..Document::default()
        })
    }
}

/// The same tools for the same number.
pub(super) fn tools(count: usize) -> Vec<VariedTool> {
    let mut words = Words::new();
    let mut domain = String::new();
    let tool = |at: usize| {
        if at.is_multiple_of(DOMAIN_TOOLS) {
            domain = format!("{}_{}", words.rare(), at / DOMAIN_TOOLS);
        }
        let verb = VERBS[words.below(VERBS.len())];
        let name = format!("{verb}_{}_{}", words.rare(), words.any());
        let parameters: Vec<_> = (0..=words.below(8)).map(|_| words.text(1, 2, "_")).collect();
        VariedTool {
            id: format!("{domain}__{name}_{at}"),
            domain: domain.clone(),
            description: words.text(12, 40, " "),
            parameter_descriptions: parameters.iter().map(|_| words.text(4, 12, " ")).collect(),
            parameters,
            name,
        }
    };
    (0..count).map(tool).collect()
}

/// Requests for such tools.
pub(super) fn requests(count: usize) -> Vec<String> {
    let mut words = Words::new();
    let request = |_| {
        let verb = VERBS[words.below(VERBS.len())];
        format!("{verb} the {} of {}", words.rare(), words.text(3, 12, " "))
    };
    (0..count).map(request).collect()
}

/// Random words, from a fixed seed.
struct Words {
    words: Vec<String>,
    state: u64,
}

impl Words {
    fn new() -> Self {
        let mut words: Vec<String> = WORDS.split_whitespace().map(str::to_owned).collect();
        let mut new = Self { words: Vec::new(), state: 7 };
        while words.len() < VOCABULARY {
            let syllables = 2 + new.below(3);
            words.push((0..syllables).map(|_| new.syllable()).collect());
        }
        Self { words, ..new }
    }

    fn syllable(&mut self) -> String {
        let (consonants, vowels) = (b"bcdfghklmnprstvz", b"aeiou");
        let letters = [consonants[self.below(16)], vowels[self.below(5)]];
        letters.into_iter().map(char::from).collect()
    }

    /// Splitmix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from((mixed ^ (mixed >> 31)) % bound).unwrap_or(0)
    }

    /// A word with a probability by its place in the list (Zipf's law).
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the list")]
    fn any(&mut self) -> String {
        let share = self.below(1_000_000) as f64 / 1e6;
        let at = (self.words.len() as f64).powf(share) as usize;
        self.words[at.min(self.words.len()) - 1].clone()
    }

    fn rare(&mut self) -> String {
        let at = self.below(self.words.len());
        self.words[at].clone()
    }

    fn text(&mut self, least: usize, most: usize, between: &str) -> String {
        let count = least + self.below(most - least + 1);
        (0..count).map(|_| self.any()).collect::<Vec<_>>().join(between)
    }
}
