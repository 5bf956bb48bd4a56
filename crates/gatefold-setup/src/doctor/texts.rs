//! The file of texts by which tools are found: whether it can be read, and whether it is of use.

use gatefold::config::Config;
use gatefold::read_texts;
use gatefold_catalog::{RetrievalTexts, TextCoverage, View};
use tokio::task::spawn_blocking;

use super::{Finding, Level, Section};

/// A file that could be read.
pub(super) struct TextsFile {
    place: String,
    texts: RetrievalTexts,
}

/// Reads the file that the configuration names, if it names one.
pub(super) async fn look(config: &Config) -> (Option<TextsFile>, Option<Finding>) {
    let Some(path) = config.search.texts.clone() else { return (None, None) };
    let place = path.display().to_string();
    let useless = |fault: &str, fix: &str| {
        let what = format!("searches go without `search.texts`: {fault}");
        Finding::new(Section::Configuration, Level::Warning, what).at(&place).fix(fix)
    };
    let finding = match spawn_blocking(move || read_texts(&path)).await {
        Ok(Ok(Some((_, texts)))) => {
            let what = format!("`search.texts` can be read, texts of {}", tools(texts.len()));
            let finding = Finding::ok(Section::Configuration, what).at(&place);
            return (Some(TextsFile { place, texts }), Some(finding));
        }
        Ok(Ok(None)) => useless("there is no such file", "write it: gatefold index describe"),
        Ok(Err(error)) => useless(&error.to_string(), "correct that file"),
        Err(panic) => useless(&panic.to_string(), "report this, with the file"),
    };
    (None, Some(finding))
}

impl TextsFile {
    /// Which texts count for the tools of a view. That a tool is absent is only said if the view
    /// `is_whole`.
    pub(super) fn judged(&self, view: &View, is_whole: bool) -> Vec<Finding> {
        let present = view.tools().map(|tool| (tool.id().as_str(), tool.definition().digest()));
        judge(self.texts.coverage(present), is_whole)
            .into_iter()
            .map(|finding| finding.at(&self.place))
            .collect()
    }
}

fn judge(coverage: TextCoverage, is_whole: bool) -> Vec<Finding> {
    let TextCoverage { fitting, stale, absent } = coverage;
    let found = |level, what: String| Finding::new(Section::Configuration, level, what);
    let mut findings = Vec::new();
    if stale > 0 {
        let what = format!(
            "the texts of {} in `search.texts` were written for other definitions and do not count; \
             those of {fitting} do",
            tools(stale)
        );
        findings.push(found(Level::Warning, what).fix("write new ones: gatefold index describe"));
    } else if fitting > 0 {
        let what = format!("the texts of {} belong to present definitions", tools(fitting));
        findings.push(found(Level::Ok, what));
    }
    if is_whole && absent > 0 {
        let what = format!("`search.texts` has texts of {} that no source has", tools(absent));
        findings.push(found(Level::Note, what).fix("remove them, or restore what is missing"));
    }
    findings
}

fn tools(count: usize) -> String {
    if count == 1 { "one tool".to_owned() } else { format!("{count} tools") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check((fitting, stale, absent): (usize, usize, usize), is_whole: bool, expected: &[&str]) {
        let findings = judge(TextCoverage { fitting, stale, absent }, is_whole);
        let found: Vec<_> =
            findings.iter().map(|one| format!("{:?}: {}", one.level, one.what)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn texts_that_do_not_count_are_told() {
        check((0, 0, 0), true, &[]);
        check((3, 0, 0), true, &["Ok: the texts of 3 tools belong to present definitions"]);
        let stale = "Warning: the texts of one tool in `search.texts` were written for other \
                     definitions and do not count; those of 2 do";
        let absent = "Note: `search.texts` has texts of 4 tools that no source has";
        check((2, 1, 4), true, &[stale, absent]);
        check((2, 1, 4), false, &[stale]);
    }
}
