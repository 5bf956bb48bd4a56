//! Reads the corpora of statements.

/// The statements of a file, each with the technique that the comment before it names.
///
/// A statement is one line, or all lines between two that read `--;`.
pub(crate) fn statements(file: &str) -> Vec<(String, String)> {
    let text = text(file);
    let (mut found, mut technique, mut block) = (Vec::new(), String::new(), None::<Vec<&str>>);
    for line in text.lines() {
        match (line, &mut block) {
            ("--;", None) => block = Some(Vec::new()),
            ("--;", Some(lines)) => {
                found.push((technique.clone(), lines.join("\n")));
                block = None;
            }
            (line, Some(lines)) => lines.push(line),
            (line, None) if line.starts_with("-- ") => line[3..].clone_into(&mut technique),
            ("", None) => {}
            (line, None) => found.push((technique.clone(), line.to_owned())),
        }
    }
    found
}

/// A whole file of the corpora.
pub(crate) fn text(file: &str) -> String {
    let path = format!("{}/tests/corpus/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the corpus is in the repository")
}
