//! A page of HTML as Markdown, its main text first.
//!
//! It goes through the page's tags once and keeps no tree, so no page can make it recurse. What is in
//! `main` or `article` comes first; navigation and the like is left out.

use html5gum::{DefaultEmitter, HtmlString, StartTag, Token, Tokenizer};
use url::Url;

use crate::DocumentFault;
use crate::document::{Block, BlockKind};
use crate::draft::Draft;

/// Every how many tags and texts the time is looked at.
const TIME_EVERY: usize = 1024;

/// The longest text that is made of one page, in bytes.
const MAX_TEXT: usize = 2 * 1024 * 1024;

/// How deep lists and links are followed.
const MAX_DEPTH: usize = 16;

/// The longest address of a link that is kept, in bytes.
const MAX_LINK: usize = 1000;

/// What holds no text for readers.
const SKIPPED: [&str; 17] = [
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "nav",
    "footer", "aside", "button", "select", "dialog", "audio", "video",
];

/// What stands on lines of its own.
const BLOCKS: [&str; 20] = [
    "address",
    "body",
    "details",
    "div",
    "dd",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "form",
    "header",
    "hgroup",
    "main",
    "article",
    "p",
    "section",
    "summary",
    "table",
    "tbody",
];

/// Reads a page. Its links are read from the address that it came from; without one only whole ones are kept.
pub(crate) fn read(
    html: &str,
    address: Option<&Url>,
    draft: &mut Draft,
) -> Result<(), DocumentFault> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut page = PageReader::new(address.cloned());
    let mut end = Ok(());
    for (number, token) in Tokenizer::new_with_emitter(html, emitter).enumerate() {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => page.open(&tag),
            Token::EndTag(tag) => page.close(&name(&tag.name)),
            Token::String(text) => page.text(&String::from_utf8_lossy(&text.value)),
            _ => {}
        }
        if page.main.text.len() + page.rest.text.len() > MAX_TEXT {
            end = Err(DocumentFault::TooLarge(draft.format()));
        } else if number % TIME_EVERY == 0 {
            end = draft.check_time();
        }
        if end.is_err() {
            break;
        }
    }
    page.finish(draft)?;
    end
}

fn name(name: &HtmlString) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Text that grows by blocks.
#[derive(Default)]
struct BlockText {
    text: String,
    /// How many line breaks have to come before the next text.
    breaks: usize,
    /// Whether a space has to come before the next text.
    has_space: bool,
    /// Whether a cell of a table has nothing in it yet.
    is_in_new_cell: bool,
    blocks: Vec<StartedBlock>,
}

/// A block, which ends where the next begins.
struct StartedBlock {
    kind: Option<BlockKind>,
    start: usize,
}

impl BlockText {
    fn block(&mut self, breaks: usize) {
        self.breaks = self.breaks.max(breaks);
        self.has_space = false;
    }

    /// Adds something that is written as it is.
    fn push(&mut self, text: &str, quotes: usize, kind: Option<BlockKind>) {
        let is_new = self.breaks > 1 || self.text.is_empty();
        self.is_in_new_cell = false;
        if self.breaks > 0 {
            let trimmed = self.text.trim_end_matches(' ').len();
            self.text.truncate(trimmed);
            if !self.text.is_empty() {
                self.text.push_str(&"\n".repeat(self.breaks));
            }
            self.start_block(is_new, kind);
            self.text.push_str(&"> ".repeat(quotes));
        } else if self.has_space && !self.text.ends_with([' ', '\n']) {
            self.text.push(' ');
        } else {
            self.start_block(is_new, kind);
        }
        (self.breaks, self.has_space) = (0, false);
        self.text.push_str(text);
    }

    fn start_block(&mut self, is_new: bool, kind: Option<BlockKind>) {
        if is_new {
            self.blocks.push(StartedBlock { kind, start: self.text.len() });
        }
    }

    /// The text without the white space around it, and its blocks.
    fn finish(&self) -> (&str, Vec<Block>) {
        let (text, mut end) = (self.text.trim_end(), self.text.len());
        let lead = text.len() - text.trim_start().len();
        let mut blocks = Vec::new();
        for StartedBlock { kind, start } in self.blocks.iter().rev() {
            let (start, own_end) = ((*start).max(lead), end.min(text.len()));
            if let Some(kind) = kind
                && let Some(own) = text.get(start..own_end).map(str::trim_end)
                && !own.is_empty()
            {
                blocks.push(Block::new(*kind, start - lead..start - lead + own.len()));
            }
            end = start;
        }
        blocks.reverse();
        (&text[lead..], blocks)
    }
}

struct PageReader {
    base: Option<Url>,
    title: String,
    is_in_title: bool,
    main: BlockText,
    rest: BlockText,
    /// How many `main` and `article` are open.
    main_depth: usize,
    /// What is being left out, and how often it is open.
    skipped: Option<(String, usize)>,
    /// The numbers of the open lists' items; none for lists without numbers. At most [`MAX_DEPTH`].
    lists: Vec<Option<usize>>,
    /// The addresses of the open links, and where their texts begin. At most [`MAX_DEPTH`].
    links: Vec<(Option<String>, usize)>,
    quotes: usize,
    is_preformatted: bool,
    /// The level of the heading that is open.
    heading: Option<u8>,
    /// Whether a row of a table is open.
    is_in_row: bool,
    /// How many cells the row of a table has, and how many rows there were.
    cells: usize,
    rows: usize,
}

impl PageReader {
    fn new(base: Option<Url>) -> Self {
        Self {
            base,
            title: String::new(),
            is_in_title: false,
            main: BlockText::default(),
            rest: BlockText::default(),
            main_depth: 0,
            skipped: None,
            lists: Vec::new(),
            links: Vec::new(),
            quotes: 0,
            is_preformatted: false,
            heading: None,
            is_in_row: false,
            cells: 0,
            rows: 0,
        }
    }

    fn current(&mut self) -> &mut BlockText {
        if self.main_depth > 0 { &mut self.main } else { &mut self.rest }
    }

    fn push(&mut self, text: &str) {
        let (quotes, kind) = (self.quotes, self.kind());
        self.current().push(text, quotes, Some(kind));
    }

    /// What a block is that begins here.
    fn kind(&self) -> BlockKind {
        match self.heading {
            Some(level) => BlockKind::Heading(level),
            None if self.is_preformatted => BlockKind::Code,
            None if self.is_in_row => BlockKind::Table,
            None if !self.lists.is_empty() => BlockKind::List,
            None => BlockKind::Paragraph,
        }
    }

    fn open(&mut self, tag: &StartTag<()>) {
        let name = name(&tag.name);
        if let Some((skipped, depth)) = &mut self.skipped {
            *depth += usize::from(*skipped == name && !tag.self_closing);
            return;
        }
        let is_page_head = name == "header" && self.main_depth == 0;
        if SKIPPED.contains(&&*name) || is_page_head {
            if !tag.self_closing {
                self.skipped = Some((name, 1));
            }
            return;
        }
        let attribute = |wanted: &str| {
            let value = tag.attributes.get(wanted.as_bytes())?;
            Some(String::from_utf8_lossy(&value.value).into_owned())
        };
        match &name[..] {
            "title" => self.is_in_title = self.title.is_empty(),
            "base" => {
                if let Some(base) = attribute("href").and_then(|href| self.join(&href)) {
                    self.base = Some(base);
                }
            }
            "main" | "article" => self.main_depth += 1,
            "a" if self.links.len() < MAX_DEPTH => self.open_link(attribute("href")),
            "img" => {
                let alt = attribute("alt").unwrap_or_default();
                if !alt.trim().is_empty() {
                    self.text(&format!("[image: {}]", alt.trim()));
                }
            }
            _ => self.open_block(&name),
        }
        // The first paragraph of a cell begins in its row.
        let is_in_new_cell = self.current().is_in_new_cell && matches!(&name[..], "p" | "div");
        if BLOCKS.contains(&&*name) && !is_in_new_cell {
            self.current().block(2);
        }
    }

    fn join(&self, href: &str) -> Option<Url> {
        match &self.base {
            Some(base) => base.join(href).ok(),
            None => href.parse().ok(),
        }
    }

    fn open_block(&mut self, name: &str) {
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.current().block(2);
                let level = name.as_bytes()[1] - b'0';
                self.heading = Some(level);
                self.push(&format!("{} ", "#".repeat(usize::from(level))));
            }
            "ul" | "ol" => {
                let breaks = if self.lists.is_empty() { 2 } else { 1 };
                self.current().block(breaks);
                if self.lists.len() < MAX_DEPTH {
                    self.lists.push((name == "ol").then_some(0));
                }
            }
            "li" => {
                self.current().block(1);
                let indent = "  ".repeat(self.lists.len().saturating_sub(1));
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{number}. ")
                    }
                    _ => "- ".to_owned(),
                };
                self.push(&format!("{indent}{mark}"));
            }
            "br" => self.current().block(1),
            "hr" => {
                let quotes = self.quotes;
                let own = self.current();
                own.block(2);
                own.push("---", quotes, None);
                own.block(2);
            }
            "blockquote" => {
                self.current().block(2);
                self.quotes = (self.quotes + 1).min(MAX_DEPTH);
            }
            "pre" => {
                self.current().block(2);
                self.is_preformatted = true;
                self.push("```\n");
            }
            "code" if !self.is_preformatted => self.push("`"),
            "strong" | "b" => self.push("**"),
            "em" | "i" => self.push("*"),
            "tr" => {
                self.current().block(1);
                self.is_in_row = true;
                self.push("|");
                self.cells = 0;
            }
            "td" | "th" => {
                let own = self.current();
                (own.has_space, own.is_in_new_cell) = (true, true);
                self.cells += 1;
            }
            _ => {}
        }
    }

    fn open_link(&mut self, href: Option<String>) {
        let address = href.filter(|href| !href.starts_with('#'));
        let address = address.and_then(|href| self.join(&href)).filter(|url| {
            matches!(url.scheme(), "http" | "https" | "mailto") && url.as_str().len() <= MAX_LINK
        });
        if address.is_some() {
            self.push("[");
        }
        let start = self.current().text.len();
        self.links.push((address.map(String::from), start));
    }

    fn close(&mut self, name: &str) {
        if let Some((skipped, depth)) = &mut self.skipped {
            *depth -= usize::from(skipped == name);
            if *depth == 0 {
                self.skipped = None;
            }
            return;
        }
        match name {
            "title" => self.is_in_title = false,
            "a" => self.close_link(),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.heading = None;
                self.current().block(2);
            }
            "ul" | "ol" => {
                self.lists.pop();
                let breaks = if self.lists.is_empty() { 2 } else { 1 };
                self.current().block(breaks);
            }
            "blockquote" => {
                self.quotes = self.quotes.saturating_sub(1);
                self.current().block(2);
            }
            "pre" if self.is_preformatted => {
                self.is_preformatted = false;
                let own = self.current();
                let end = if own.text.ends_with('\n') { "```" } else { "\n```" };
                own.text.push_str(end);
                own.block(2);
            }
            "code" if !self.is_preformatted => self.mark("`"),
            "strong" | "b" => self.mark("**"),
            "em" | "i" => self.mark("*"),
            "td" | "th" => {
                let own = self.current();
                (own.breaks, own.has_space) = (0, true);
                self.push("|");
            }
            "tr" => self.close_row(),
            "table" => (self.rows, self.is_in_row) = (0, false),
            _ => {}
        }
        if BLOCKS.contains(&name) {
            self.current().block(2);
        }
        if matches!(name, "main" | "article") {
            self.main_depth = self.main_depth.saturating_sub(1);
        }
    }

    /// Ends an emphasis, before the space that may follow it.
    fn mark(&mut self, mark: &str) {
        let own = self.current();
        let (breaks, has_space) = (own.breaks, own.has_space);
        own.text.push_str(mark);
        (own.breaks, own.has_space) = (breaks, has_space);
    }

    fn close_row(&mut self) {
        self.rows += 1;
        self.current().is_in_new_cell = false;
        if self.rows == 1 && self.cells > 0 {
            self.current().block(1);
            let line = format!("|{}", " --- |".repeat(self.cells.min(100)));
            self.push(&line);
        }
        self.current().block(1);
        self.is_in_row = false;
    }

    fn close_link(&mut self) {
        let Some((Some(address), start)) = self.links.pop() else { return };
        let own = self.current();
        let is_empty = own.text.get(start..).is_none_or(|text| text.trim().is_empty());
        if is_empty && own.text.get(..start).is_some_and(|before| before.ends_with('[')) {
            own.text.truncate(start - 1);
        } else if own.text.len() > start {
            self.mark(&format!("]({address})"));
        }
    }

    fn text(&mut self, text: &str) {
        if self.is_in_title {
            self.title.push_str(text);
            return;
        }
        if self.skipped.is_some() {
            return;
        }
        if self.is_preformatted {
            self.push(text);
            return;
        }
        if text.starts_with(char::is_whitespace) {
            self.current().has_space = true;
        }
        let words: Vec<_> = text.split_whitespace().collect();
        if words.is_empty() {
            return;
        }
        self.push(&words.join(" "));
        if text.ends_with(char::is_whitespace) {
            self.current().has_space = true;
        }
    }

    fn finish(self, draft: &mut Draft) -> Result<(), DocumentFault> {
        draft.set_title(&self.title);
        let ((main, main_blocks), (rest, rest_blocks)) = (self.main.finish(), self.rest.finish());
        draft.append(main, main_blocks)?;
        if !main.is_empty() && !rest.is_empty() {
            draft.append("---", Vec::new())?;
        }
        draft.append(rest, rest_blocks)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::{Document, Format};

    fn page(html: &str) -> Document {
        let address = "https://host.example/a/page".parse().unwrap();
        let mut draft = Draft::new(Format::Html, Instant::now() + Duration::from_secs(30));
        let _ = read(html, Some(&address), &mut draft);
        draft.finish()
    }

    #[track_caller]
    fn check(html: &str, markdown: &str) {
        assert_eq!(page(html).text, markdown, "{html}");
    }

    #[test]
    fn the_main_text_comes_first_and_navigation_is_left_out() {
        let html = "<!DOCTYPE html><html><head><title>A &amp; B\n page</title><style>x{}</style></head>\
                    <body><header>Top</header><nav><a href='/'>Home</a></nav><p>Beside it.</p>\
                    <main><header>By Ann</header><h1>Main</h1><p>The text.</p></main>\
                    <aside>Ad</aside><script>if (a < b) { '</p>' }</script><footer>End</footer></body></html>";
        let read = page(html);
        assert_eq!(read.title.as_deref(), Some("A & B page"));
        assert_eq!(read.text, "By Ann\n\n# Main\n\nThe text.\n\n---\n\nBeside it.");
    }

    #[test]
    fn blocks_become_those_of_markdown() {
        check("<p>One\n  two</p><p>three<br>four</p>", "One two\n\nthree\nfour");
        check("<h2>A</h2><h3>B</h3>text", "## A\n\n### B\n\ntext");
        check("<ul><li>a<li>b<ol><li>c</li><li>d</ol></ul>e", "- a\n- b\n  1. c\n  2. d\n\ne");
        check("<blockquote><p>a</p><p>b</p></blockquote>c", "> a\n\n> b\n\nc");
        check("<pre><code>fn a() {\n    b\n}</code></pre>", "```\nfn a() {\n    b\n}\n```");
        check(
            "<table><tr><th>a<th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
            "| a b |\n| --- | --- |\n| 1 | 2 |",
        );
    }

    #[test]
    fn words_keep_their_marks_and_links_their_addresses() {
        check("a <b>bold</b> and <em>soft</em> <code>x</code>.", "a **bold** and *soft* `x`.");
        check("see <a href='../b?c=1'>this</a>!", "see [this](https://host.example/b?c=1)!");
        check("<a href='#x'>top</a> <a href='javascript:alert(1)'>run</a>", "top run");
        check("<a href='/x'></a><img src=x alt='A cat'>", "[image: A cat]");
        check(
            "<base href='https://other.example/'><a href='x'>y</a>",
            "[y](https://other.example/x)",
        );
    }

    /// None of it recurses, grows without bound or loops.
    #[test]
    fn hostile_pages_are_read_in_bounds() {
        let deep = |tag: &str| format!("<{tag}>").repeat(200_000);
        for html in [
            deep("div"),
            deep("ul"),
            deep("blockquote"),
            deep("a href=x"),
            deep("table><tr><td"),
            deep("/article"),
            deep("main"),
            "<nav".repeat(100_000),
            "<!--".repeat(100_000),
            "&#x".repeat(100_000),
            "<p a=".repeat(100_000),
            "</a>".repeat(100_000),
            "<script>".to_owned() + &"x".repeat(1_000_000),
            "\u{0}".repeat(100_000),
            format!("<ul>{}", "<li>x".repeat(500_000)),
        ] {
            let read = page(&html);
            assert!(read.text.len() <= 2 * MAX_TEXT, "{}", read.text.len());
        }
    }
}
