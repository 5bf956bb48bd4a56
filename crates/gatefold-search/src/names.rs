//! Finding tools by the beginning of their names.

/// The most words a request may have to be taken for a name.
const NAME_WORDS: usize = 8;

/// The shortest beginning of a name, in bytes of its key.
const LEAST_BEGINNING: usize = 3;

/// How a request relates to a tool's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameMatch {
    /// It is no name, or another tool's.
    Other,
    /// The tool's name begins with it.
    Begins,
    /// It is the tool's name, in whatever spelling.
    Exact,
}

/// The names of tools, sorted.
#[derive(Debug)]
pub(crate) struct Names {
    keys: Box<str>,
    /// Where the key of each place begins, and the end of the last.
    starts: Box<[u32]>,
    /// The places of tools, by key.
    sorted: Box<[u32]>,
}

impl Names {
    pub(crate) fn of<'a>(keys: impl Iterator<Item = &'a str>) -> Self {
        let (mut text, mut starts) = (String::new(), vec![0]);
        for key in keys {
            text.push_str(key);
            starts.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
        }
        let key = |at: u32| &text[starts[at as usize] as usize..starts[at as usize + 1] as usize];
        let count = u32::try_from(starts.len() - 1).unwrap_or(u32::MAX);
        let mut sorted: Vec<u32> = (0..count).collect();
        sorted.sort_unstable_by(|a, b| key(*a).cmp(key(*b)).then(a.cmp(b)));
        Self { sorted: sorted.into(), keys: text.into(), starts: starts.into() }
    }

    fn key(&self, place: u32) -> &str {
        let at = place as usize;
        &self.keys[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The tools whose name a request is or begins, by place.
    pub(crate) fn find(&self, request: &str) -> impl Iterator<Item = (usize, NameMatch)> {
        let few = request.split_whitespace().take(NAME_WORDS + 1).count() <= NAME_WORDS;
        let asked = if few { crate::text::key(request) } else { String::new() };
        let from = self.sorted.partition_point(|place| self.key(*place) < asked.as_str());
        self.sorted[from..].iter().map_while(move |place| {
            let key = self.key(*place);
            let begins = asked.len() >= LEAST_BEGINNING && key.starts_with(&asked);
            let naming = if key == asked { NameMatch::Exact } else { NameMatch::Begins };
            (!asked.is_empty() && (begins || naming == NameMatch::Exact))
                .then_some((*place as usize, naming))
        })
    }

    pub(crate) fn memory(&self) -> usize {
        self.keys.len() + size_of_val(&*self.starts) + size_of_val(&*self.sorted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_finds_the_names_it_begins() {
        let names = ["createIssue", "list_issues", "create_issue_comment", "up"];
        let keys: Vec<_> = names.iter().map(|name| crate::text::key(name)).collect();
        let names = Names::of(keys.iter().map(String::as_str));
        let check = |request: &str, expected: &[(usize, NameMatch)]| {
            assert_eq!(names.find(request).collect::<Vec<_>>(), expected, "{request}");
        };
        check("create issue", &[(0, NameMatch::Exact), (2, NameMatch::Begins)]);
        check("CREATE_ISS", &[(0, NameMatch::Begins), (2, NameMatch::Begins)]);
        check("up", &[(3, NameMatch::Exact)]);
        check("u", &[]);
        check("issue", &[]);
        check("", &[]);
    }
}
