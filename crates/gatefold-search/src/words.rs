//! Splitting names and prose into words that can be compared.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// The words of a text in lower case: split at whatever is neither letter nor digit, at changes
/// of case (`listHTTPRoutes` gives list, http, routes) and between letters and digits.
pub fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        let starts = match before {
            Some(last) => is_boundary(last, c, next_is_lower),
            None => true,
        };
        if (starts || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

pub(crate) fn is_boundary(last: char, c: char, next_is_lower: bool) -> bool {
    (last.is_lowercase() && c.is_uppercase())
        || (last.is_uppercase() && c.is_uppercase() && next_is_lower)
        || (last.is_numeric() != c.is_numeric())
}

/// A light stem: removes plurals and the commonest endings of English verbs, nothing else. A word
/// with other letters is not English and stays as it is.
pub fn stem(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    let cut =
        |ending: &str, least: usize| word.strip_suffix(ending).filter(|rest| rest.len() >= least);
    if let Some(rest) = cut("ies", 3) {
        // `ies` replaces `y`, so both forms lose it.
        return rest;
    }
    for ending in ["sses", "shes", "ches", "xes", "zes"] {
        if cut(ending, 1).is_some() {
            return &word[..word.len() - 2];
        }
    }
    if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word;
    }
    let word = cut("s", 3).unwrap_or(word);
    let cut =
        |ending: &str, least: usize| word.strip_suffix(ending).filter(|rest| rest.len() >= least);
    let word = cut("ing", 4).or_else(|| cut("ed", 4)).unwrap_or(word);
    let doubled = word.len() > 4
        && word.as_bytes()[word.len() - 1] == word.as_bytes()[word.len() - 2]
        && !word.ends_with("ll")
        && !word.ends_with("ss");
    let word = if doubled { &word[..word.len() - 1] } else { word };
    word.strip_suffix(['e', 'y']).filter(|rest| rest.len() >= 3).unwrap_or(word)
}

/// Words that say nothing about a tool.
static STOP_WORDS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| {
    "a about all an and any are as at be been but by can could do does for from has have how i if \
     in into is it its me my need of on or our please shall should so some such than that the \
     their them then there these this those to use used using want was what which will with would \
     you"
    .split_whitespace()
    .collect()
});

/// Words that say what a tool does rather than what it works on.
static VERBS: LazyLock<FxHashSet<&str>> = LazyLock::new(|| {
    "abort accept activate add analyze append apply approve archive assign attach authenticate \
     batch build bulk calculate call cancel change check clear click clone close compare complete \
     configure confirm connect convert copy count crawl create deactivate delete deploy describe \
     detach detect diff disable disconnect download draft drop duplicate edit enable enrich \
     ensure estimate evaluate execute explain explore export extract fetch fill filter find \
     format forward generate get import insert inspect install invite invoke join launch leave \
     list load lock lookup make manage mark merge modify move open patch post publish put query \
     read reject remove rename replace reply reset resolve restart restore retrieve revoke run \
     save search select send set show start stop submit summarize sync test toggle transfer \
     trigger unarchive undo unlock update upload upsert validate verify view wait watch write and \
     by for of to"
        .split_whitespace()
        .collect()
});

/// The stems of those words.
static VERB_STEMS: LazyLock<FxHashSet<&str>> =
    LazyLock::new(|| VERBS.iter().map(|verb| stem(verb)).collect());

/// Whether a stem is that of a word that says what a tool does rather than what it works on.
pub(crate) fn is_verb_stem(stem: &str) -> bool {
    VERB_STEMS.contains(stem)
}

/// Whether a word, in lower case, says nothing about a tool.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(word)
}

/// Whether a word, in lower case, says what a tool does rather than what it works on.
pub fn is_verb(word: &str) -> bool {
    VERBS.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_where_a_reader_would() {
        for (text, words) in [
            ("list_pull-requests.v2", "list pull requests v 2"),
            ("listHTTPRoutes", "list http routes"),
            ("getID", "get id"),
            ("Straße öffnen", "straße öffnen"),
            ("__", ""),
        ] {
            assert_eq!(split(text).join(" "), words);
        }
    }

    #[test]
    fn a_word_of_other_letters_stays_whole() {
        for word in ["ㄅኊ", "ſſſſſ", "cafés", "öffnenn"] {
            assert_eq!(stem(word), word);
        }
    }

    #[test]
    fn forms_of_one_word_share_a_stem() {
        for forms in [
            &["issue", "issues"][..],
            &["query", "queries"],
            &["search", "searches", "searching", "searched"],
            &["create", "creates", "creating", "created"],
            &["box", "boxes"],
            &["planning", "planned"],
            &["status"],
            &["address", "addresses"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
    }

    #[test]
    fn a_verb_is_no_noun_and_a_stop_word_says_nothing() {
        assert!(is_stop_word("a") && is_stop_word("you") && is_stop_word("my"));
        assert!(is_verb("abort") && is_verb("upload") && is_verb("list") && !is_verb("issue"));
    }
}
