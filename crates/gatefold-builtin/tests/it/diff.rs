//! `patch_file` with a unified diff.

use gatefold_builtin::{BuiltinName, FolderSettings, FolderWrites, PathResolution, Toolbox};
use proptest::prelude::*;
use serde_json::json;
use similar::TextDiff;
use tempfile::TempDir;

use crate::fixture::{said, toolbox_with};

/// A folder with one file, which is patched.
struct PatchedFile {
    folder: TempDir,
    tools: Toolbox,
}

impl PatchedFile {
    fn new(text: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().to_owned();
        std::fs::write(path.join("a.txt"), text).unwrap();
        let resolution = PathResolution::default();
        let settings = FolderSettings { path, writes: FolderWrites::Allow, resolution };
        let tools = toolbox_with(|own| {
            own.names = [BuiltinName::Files].into();
            own.folder = Some(settings);
        });
        Self { folder, tools }
    }

    async fn patch(&self, path: &str, diff: &str) -> String {
        said(&self.tools, "patch_file", &json!({ "path": path, "diff": diff })).await
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap()
    }
}

/// What a file becomes.
async fn check(text: &str, diff: &str, changed: &str) {
    let file = PatchedFile::new(text);
    let said = file.patch("a.txt", diff).await;
    assert!(said.starts_with("changed `a.txt` in "), "{diff}\n{said}");
    assert_eq!(file.text("a.txt"), changed, "{diff}");
}

/// Why a file stays as it is.
async fn refused(text: &str, diff: &str, error: &str) {
    let file = PatchedFile::new(text);
    assert_eq!(file.patch("a.txt", diff).await, format!("error: {error}"), "{diff:.200}");
    assert_eq!(file.text("a.txt"), text, "{diff:.200}");
}

const TEN: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";

#[tokio::test]
async fn hunks_change_what_they_name() {
    let header =
        "diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\t2026-01-01\n+++ b/a.txt\n";
    let hunks = "@@ -1,3 +1,3 @@ fn one()\n 1\n-2\n+two\n 3\n@@ -8,3 +8,4 @@\n 8\n 9\n+nine and a half\n 10\n";
    let changed = "1\ntwo\n3\n4\n5\n6\n7\n8\n9\nnine and a half\n10\n";
    check(TEN, &format!("{header}{hunks}"), changed).await;
    // The headers may be left out, and so may the break of the last line.
    check(TEN, hunks.trim_end(), changed).await;
    // Lines that look like headers, an empty line without its space, letters of two bytes.
    check("-- x\n\n++ y\n", "@@ -1,3 +1,3 @@\n--- x\n+--- z\n\n ++ y", "--- z\n\n++ y\n").await;
    check("ä\nö\n", "@@ -1,2 +1,2 @@\n ä\n-ö\n+ü\n", "ä\nü\n").await;
    check("", "@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n").await;
    check("a\nb\n", "@@ -1,2 +0,0 @@\n-a\n-b\n", "").await;
    check("a\nb\n", "@@ -1,0 +2 @@\n+between\n", "a\nbetween\nb\n").await;
    check("a\n", "@@ -4294967295,4294967295 +0 @@\n-a\n+b\n", "b\n").await;
    // The lines count, whatever their number is said to be.
    check("a\nb\n", "@@ -1,9 +1 @@\n-a\n b\n+c\n\n", "b\nc\n").await;
    check("a\n-- b\n", "@@ -1,2 +1,2 @@\n a\n--- b\n+++ c\n@@ -2,0 +9,7 @@\n+d\n", "a\n++ c\nd\n")
        .await;
}

#[tokio::test]
async fn a_hunk_is_found_where_its_lines_are() {
    let diff = "@@ -2,2 +2,3 @@\n x\n+new\n y\n";
    check("1\n2\n3\n4\nx\ny\n", diff, "1\n2\n3\n4\nx\nnew\ny\n").await;
    check("x\ny\n4\n5\n6\n", diff, "x\nnew\ny\n4\n5\n6\n").await;
    // The nearest of several, and the second where the first moved it to.
    check(
        "x\ny\n\n\nx\ny\n\n\n\nx\ny\n",
        &diff.replace("-2,", "-6,"),
        "x\ny\n\n\nx\nnew\ny\n\n\n\nx\ny\n",
    )
    .await;
    let twice = "@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-c\n+C\n";
    check("0\n0\na\nb\nc\n.\nc\n", twice, "0\n0\nA\nb\nC\n.\nc\n").await;
    // Never before the one before it.
    let crossed = "@@ -1 +1 @@\n-b\n+B\n@@ -2 +2 @@\n-a\n+A\n";
    let error = "hunk 2 (@@ -2 +2 @@) fits nowhere; nothing was changed. The file has only 2 lines, or the \
                 hunk before is too near";
    refused("a\nb\n", crossed, error).await;
}

#[tokio::test]
async fn line_breaks_stay_as_they_are() {
    let diff = "@@ -1,2 +1,3 @@\n a\n-b\n+B\n+c\n";
    check("a\r\nb\r\n", diff, "a\r\nB\r\nc\r\n").await;
    check("a\r\nb\r\nx", diff, "a\r\nB\r\nc\r\nx").await;
    check("a\r\nb\r\n", &diff.replace('\n', "\r\n"), "a\r\nB\r\nc\r\n").await;
    check("a\r\nb\n", "@@ -1,2 +1,2 @@\n a\r\n-b\n+B\n", "a\r\nB\n").await;
    // To other line breaks, if the diff says so.
    check("a\r\n", "@@ -1 +1 @@\n-a\r\n+a\n", "a\n").await;
    let unended = "\\ No newline at end of file";
    check("a\nb", &format!("@@ -1,2 +1,2 @@\n a\n-b\n{unended}\n+c\n{unended}\n"), "a\nc").await;
    check("a\nb", &format!("@@ -2 +2 @@\n-b\n{unended}\n+b\n"), "a\nb\n").await;
    check("a\nb\n", &format!("@@ -2 +2 @@\n-b\n+b\n{unended}"), "a\nb").await;
    // Without the mark the lines still fit, and none is glued to the next.
    check("a\nb", "@@ -1,2 +1,3 @@\n a\n b\n+c\n", "a\nb\nc\n").await;
    let error =
        "hunk 1 (@@ -1 +1 @@) fits nowhere; nothing was changed. From line 1 on the file has:\na";
    refused("a\nb\n", &format!("@@ -1 +1 @@\n-a\n{unended}\n+x\n"), error).await;
}

#[tokio::test]
async fn a_diff_fits_whole_or_not_at_all() {
    let error = "hunk 2 (@@ -6,2 +6,2 @@) fits nowhere; nothing was changed. From line 6 on the file \
                 has:\n6\n7";
    refused(TEN, "@@ -1 +1 @@\n-1\n+one\n@@ -6,2 +6,2 @@ more\n 6\n-seven\n+7\n", error).await;
    for (diff, error) in [
        ("", "it has no hunk; each begins with a line such as `@@ -3,7 +3,8 @@`"),
        (
            "@@ -1 +1 @@\n-1\n+x\n*** 2\n",
            "hunk 1 has the line `*** 2`, which begins with none of ` +-\\`",
        ),
        (
            "@@ -9223372036854775808 +1 @@\n-1\n+x\n",
            "hunk 1 begins with `@@ -9223372036854775808 +1 @@` and not like `@@ -3,7 +3,8 @@`",
        ),
        ("@@ ... @@\n-1\n+x\n", "hunk 1 begins with `@@ ... @@` and not like `@@ -3,7 +3,8 @@`"),
        (
            "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+x\n--- a/b\n+++ b/b\n@@ -1 +1 @@\n-1\n+x\n",
            "it is about more than one file; make one call for each",
        ),
        (
            "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n",
            "it deletes the file, which is not done here",
        ),
        (
            "--- /dev/null\n+++ b/a\n@@ -1 +1 @@\n-1\n+x\n",
            "one that makes a file has a single hunk and only `+` lines",
        ),
    ] {
        refused(TEN, diff, &format!("`diff`: {error}; nothing was changed")).await;
    }
    let file = PatchedFile::new(TEN);
    let both = json!({ "path": "a.txt", "diff": "", "edits": [] });
    for arguments in [both, json!({ "path": "a.txt" })] {
        let said = said(&file.tools, "patch_file", &arguments).await;
        assert_eq!(said, "error: give either `edits` or `diff`");
    }
    let large = format!("@@ -1 +1 @@\n-1\n+{}\n", "x".repeat(2_097_133));
    let error = "the file would have more than 2097152 bytes; nothing was changed";
    refused(TEN, &large, error).await;
}

#[tokio::test]
async fn a_diff_from_nothing_makes_the_file() {
    let file = PatchedFile::new("");
    let diff = "diff --git a/n.txt b/n.txt\nnew file mode 100644\n--- /dev/null\n+++ b/n.txt\n\
                @@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n";
    assert_eq!(file.patch("sub/n.txt", diff).await, "created `sub/n.txt`, 3 bytes");
    assert_eq!(file.text("sub/n.txt"), "a\nb");
    let error =
        "error: `sub/n.txt` exists already; set `overwrite`, or change a part of it instead";
    assert_eq!(file.patch("sub/n.txt", diff).await, error);
    let missing = file.patch("no.txt", "@@ -1 +1 @@\n-a\n+b\n").await;
    assert_eq!(missing, "error: `no.txt` does not exist");
}

#[tokio::test]
async fn a_search_without_end_is_stopped() {
    let lines = "a\n".repeat(300_000);
    let file = PatchedFile::new(&lines);
    let old = " a\n".repeat(150_000);
    let diff = format!("@@ -1,150001 +1,150000 @@\n{old}-b\n");
    let start = std::time::Instant::now();
    let said = file.patch("a.txt", &diff).await;
    assert_eq!(said, "error: it takes longer than 2 s; ask for less");
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

/// Texts of few words, so that hunks could fit in several places.
fn texts() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec(("[ab+\\-@ ]{0,2}", prop::bool::weighted(0.2)), 0..30);
    (lines, any::<bool>()).prop_map(|(lines, is_ended)| {
        let ended = |(line, is_crlf)| format!("{line}{}", if is_crlf { "\r\n" } else { "\n" });
        let mut text: String = lines.into_iter().map(ended).collect();
        if !is_ended {
            text.truncate(text.trim_end_matches(['\r', '\n']).len());
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_compared_is_changed_into_the_other(a in texts(), b in texts(), context in 1..4_usize) {
        let diff = TextDiff::from_lines(&a, &b).unified_diff().context_radius(context).to_string();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let file = PatchedFile::new(&a);
        let said = runtime.block_on(file.patch("a.txt", &diff));
        if diff.is_empty() {
            prop_assert_eq!(&a, &b);
        } else {
            prop_assert!(said.starts_with("changed "), "{}\n{}", diff, said);
            prop_assert_eq!(file.text("a.txt"), b, "{}", diff);
        }
    }
}
