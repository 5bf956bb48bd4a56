//! All tools while they are small, else the gateway's three.

use super::Shown;

const QUERY: &str = "disclosure=auto";
const CONVERT: &str = "units__convert_unit";

/// What `auto` shows when all tools together may take this many tokens is what `as_shown` shows.
async fn check(tokens: usize, as_shown: &'static str) {
    let config = format!("[disclosure]\ncontext_tokens = {tokens}\nauto_share = 1.0\n");
    let auto = Shown::through(QUERY, &config).await;
    let mut other = Shown::through(as_shown, &config).await;
    assert_eq!(auto.surface().await, other.surface().await, "{tokens}");
    // What was shown before the catalogue grew, or shrank, goes on to work.
    for (query, tool) in [("disclosure=gateway", "discover_tools"), ("disclosure=flat", CONVERT)] {
        other.query = query;
        let told = auto.answers(&[(tool, "{}")]).await;
        assert_eq!(told, other.answers(&[(tool, "{}")]).await, "{tokens}");
    }
    let told = auto.answers(&[("units__convert", "{}")]).await;
    assert!(
        told.contains("error: {\"error\":\"Unknown tool 'units__convert'."),
        "{tokens}: {told}"
    );
}

#[tokio::test]
async fn few_tools_are_shown_as_they_are() {
    check(1_000_000, "disclosure=flat").await;
}

#[tokio::test]
async fn many_tools_are_shown_behind_the_gateway() {
    check(1_000, "disclosure=gateway").await;
}
