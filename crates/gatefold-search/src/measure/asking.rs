use std::collections::HashSet;
use std::time::Instant;

use super::{Answer, DEPTH, Request};

/// One request, what was found for it, and how good that is.
#[derive(Debug)]
pub struct AnsweredRequest<'a> {
    pub request: &'a Request,
    /// The ids of the tools found, best first, at most [`DEPTH`].
    pub found: Vec<String>,
    pub answer: Answer,
}

impl AnsweredRequest<'_> {
    /// Whether none of the tools that fit was found.
    pub fn is_miss(&self) -> bool {
        !self.answer.fits.contains(&true)
    }
}

/// Runs each request of a set. `search` returns the ids of the tools it finds, best first; only
/// `search` is timed.
pub fn ask<'a>(
    requests: &'a [Request],
    mut search: impl FnMut(&str) -> Vec<String>,
) -> Vec<AnsweredRequest<'a>> {
    let one = |request: &'a Request| {
        let start = Instant::now();
        let mut found = search(&request.text);
        let took = start.elapsed();
        found.truncate(DEPTH);
        let relevant: HashSet<&str> = request.relevant.iter().map(String::as_str).collect();
        let fits = found.iter().map(|id| relevant.contains(id.as_str())).collect();
        AnsweredRequest { request, found, answer: Answer { fits, relevant: relevant.len(), took } }
    };
    requests.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_held_against_what_fits() {
        let request = |text: &str, relevant: &[&str]| Request {
            id: text.to_owned(),
            text: text.to_owned(),
            relevant: relevant.iter().map(|id| (*id).to_owned()).collect(),
        };
        let requests = [request("a", &["x", "y"]), request("b", &["z", "z"])];
        let asked = ask(&requests, |text| match text {
            "a" => ["y", "z", "x"].map(str::to_owned).to_vec(),
            _ => vec!["x".to_owned(); DEPTH + 1],
        });
        assert_eq!(asked[0].answer.fits, [true, false, true]);
        assert_eq!((asked[0].answer.relevant, asked[0].is_miss()), (2, false));
        assert_eq!((asked[1].found.len(), asked[1].answer.relevant), (DEPTH, 1));
        assert!(asked[1].is_miss());
    }
}
