//! Checking the quotes of an answer.

use std::fmt::Write as _;

use gatefold_catalog::{marked, one_line};
use serde::Serialize;

use super::super::arguments::CheckArguments;
use super::super::shown::answer;
use super::super::verdict::verdict_words;
use super::{Desk, DeskError, DeskResult};
use crate::{
    CheckedAnswer, CheckedQuote, MAX_ANSWER, ReadableBase, ReadableTexts, check_citations,
};

/// How much of a quote is repeated, in characters.
const QUOTED: usize = 100;

#[derive(Serialize)]
struct ShownCheck {
    /// Whether every quote may stand as it is.
    sound: bool,
    quotes: Vec<ShownVerdict>,
    #[serde(skip_serializing_if = "is_zero")]
    unchecked: usize,
    #[serde(skip_serializing_if = "is_zero")]
    unread_bytes: usize,
}

#[derive(Serialize)]
struct ShownVerdict {
    quote: String,
    verdict: &'static str,
    /// The verdict in words.
    says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    citation: Option<String>,
    /// The citation of what was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Desk {
    /// The answer of `check_citations`.
    pub(in super::super) fn check(&self, arguments: &CheckArguments) -> DeskResult {
        if arguments.text.trim().is_empty() {
            let message = "'text' is blank; give the answer whose quotes are to be checked";
            return Err(DeskError::Arguments(message.to_owned()));
        }
        let sees = |document: &str, version| self.access.sees(document, Some(version));
        let texts = ReadableTexts::new(vec![ReadableBase {
            domain: self.domain.as_str(),
            base: &self.base,
            sees: &sees,
        }]);
        let CheckedAnswer { quotes, unread, unchecked } = check_citations(&arguments.text, &texts);
        let is_sound = quotes.iter().all(|quote| quote.verdict.is_sound());
        let quotes: Vec<_> = quotes.iter().map(shown_verdict).collect();
        let mut text = match quotes.len() {
            0 => "There are no quotes or citations to check.".to_owned(),
            1 => "One quote or citation was checked".to_owned(),
            count => format!("{count} quotes and citations were checked"),
        };
        if !quotes.is_empty() {
            let rest = if is_sound {
                ": all are sound."
            } else {
                ". Mend or remove those that are not sound."
            };
            text.push_str(rest);
        }
        for quote in &quotes {
            let said = one_line(&quote.quote, QUOTED);
            let start = if said.is_empty() {
                quote.citation.clone().unwrap_or_default()
            } else {
                format!("\"{said}\"")
            };
            let _ = write!(text, "\n- {start}: {}", quote.says);
        }
        if unchecked > 0 {
            let _ = write!(text, "\n{unchecked} more were not checked: check the answer in parts.");
        }
        if unread > 0 {
            let limit = MAX_ANSWER / 1024;
            let _ =
                write!(text, "\nOnly the first {limit} KiB were read: check the answer in parts.");
        }
        let sound = is_sound && unchecked == 0 && unread == 0;
        Ok(answer(&text, &ShownCheck { sound, quotes, unchecked, unread_bytes: unread }))
    }
}

fn shown_verdict(quote: &CheckedQuote) -> ShownVerdict {
    ShownVerdict {
        quote: marked(&quote.quote).into_owned(),
        verdict: quote.verdict.as_str(),
        says: verdict_words(quote),
        citation: quote.citation.as_ref().map(ToString::to_string),
        found: quote.found.as_ref().map(|found| found.citation().to_string()),
    }
}
