//! What a file is, by its name.

/// The language or format of a file, as a fence of Markdown names it; `text` if its name does not
/// say.
pub fn language(name: &str) -> &'static str {
    known(name).map_or("text", |(_, language, _)| language)
}

/// The media type of a file that is text or not: what its name says, else the usual one.
pub fn media_type(name: &str, is_text: bool) -> &'static str {
    let usual = if is_text { "text/plain" } else { "application/octet-stream" };
    known(name).map_or(usual, |(_, _, media_type)| media_type)
}

/// Whether a file is a program, by its name.
pub(crate) fn is_script(name: &str) -> bool {
    /// Languages of [`KNOWN`] that describe or show something.
    const NO_PROGRAMS: [&str; 16] = [
        "markdown", "text", "json", "yaml", "toml", "xml", "html", "css", "csv", "svg", "png",
        "jpeg", "gif", "webp", "pdf", "zip",
    ];
    known(name).is_some_and(|(_, language, _)| !NO_PROGRAMS.contains(language))
}

type KnownFile = (&'static [&'static str], &'static str, &'static str);

/// Endings, language and media type.
const KNOWN: &[KnownFile] = &[
    (&["md", "markdown"], "markdown", "text/markdown"),
    (&["txt"], "text", "text/plain"),
    (&["py"], "python", "text/x-python"),
    (&["sh", "bash", "zsh"], "bash", "text/x-shellscript"),
    (&["js", "mjs", "cjs"], "javascript", "text/javascript"),
    (&["ts", "mts"], "typescript", "text/x-typescript"),
    (&["tsx"], "tsx", "text/x-typescript"),
    (&["jsx"], "jsx", "text/javascript"),
    (&["rb"], "ruby", "text/x-ruby"),
    (&["pl"], "perl", "text/x-perl"),
    (&["php"], "php", "text/x-php"),
    (&["go"], "go", "text/x-go"),
    (&["rs"], "rust", "text/x-rust"),
    (&["java"], "java", "text/x-java"),
    (&["c", "h"], "c", "text/x-c"),
    (&["cpp", "hpp", "cc"], "cpp", "text/x-c++"),
    (&["cs"], "csharp", "text/x-csharp"),
    (&["swift"], "swift", "text/x-swift"),
    (&["kt"], "kotlin", "text/x-kotlin"),
    (&["lua"], "lua", "text/x-lua"),
    (&["r"], "r", "text/x-r"),
    (&["ps1"], "powershell", "text/x-powershell"),
    (&["sql"], "sql", "application/sql"),
    (&["json"], "json", "application/json"),
    (&["yaml", "yml"], "yaml", "application/yaml"),
    (&["toml"], "toml", "application/toml"),
    (&["xml"], "xml", "application/xml"),
    (&["xsd"], "xml", "application/xml"),
    (&["html", "htm"], "html", "text/html"),
    (&["css"], "css", "text/css"),
    (&["csv"], "csv", "text/csv"),
    (&["svg"], "svg", "image/svg+xml"),
    (&["png"], "png", "image/png"),
    (&["jpg", "jpeg"], "jpeg", "image/jpeg"),
    (&["gif"], "gif", "image/gif"),
    (&["webp"], "webp", "image/webp"),
    (&["pdf"], "pdf", "application/pdf"),
    (&["zip"], "zip", "application/zip"),
];

fn known(name: &str) -> Option<&'static KnownFile> {
    let (_, ending) = name.rsplit_once('.')?;
    let is_known = |known: &&KnownFile| known.0.iter().any(|own| own.eq_ignore_ascii_case(ending));
    KNOWN.iter().find(is_known)
}
