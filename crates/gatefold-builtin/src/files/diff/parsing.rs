//! The format. Headers of files do not count but for `/dev/null`. Who writes a diff by hand counts badly,
//! so a hunk has the lines that it has, whatever numbers its `@@` line gives.

/// The most hunks of one diff.
const MAX_HUNKS: usize = 1000;

/// What a diff says of a file that is not there.
const NO_FILE: &str = "/dev/null";

pub(super) struct Hunk<'d> {
    pub(super) header: &'d str,
    /// Before which line it begins, counted from 0.
    pub(super) start: usize,
    pub(super) lines: Vec<HunkLine<'d>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    Kept,
    Removed,
    Added,
}

pub(super) struct HunkLine<'d> {
    pub(super) kind: LineKind,
    /// Without its line break.
    pub(super) text: &'d str,
    /// Whether it has none.
    pub(super) is_unended: bool,
}

impl<'d> Hunk<'d> {
    pub(super) fn old_lines(&self) -> impl Iterator<Item = &HunkLine<'d>> {
        self.lines.iter().filter(|line| line.kind != LineKind::Added)
    }

    /// Notes that the line before has no line break, if this says so.
    fn end_file(&mut self, mark: &str) {
        if let Some(line) = self.lines.last_mut().filter(|_| mark.starts_with('\\')) {
            line.is_unended = true;
        }
    }
}

/// The hunks of a diff, and whether it makes a file; or what is wrong with it.
pub(super) fn read(text: &str) -> Result<(Vec<Hunk<'_>>, bool), String> {
    let lines: Vec<_> = text.split('\n').collect();
    let start = lines.iter().position(|line| line.starts_with("@@")).unwrap_or(lines.len());
    let (head, mut rest) = lines.split_at(start);
    if head.iter().any(|line| is_header(line, "+++ ", NO_FILE)) {
        return Err("it deletes the file, which is not done here".to_owned());
    }
    let makes_file = head.iter().any(|line| is_header(line, "--- ", NO_FILE));
    let mut hunks = Vec::new();
    while let Some((header, below)) = rest.split_first() {
        let number = hunks.len() + 1;
        if !header.starts_with("@@") {
            return Err(after_hunk(header, number - 1));
        }
        if number > MAX_HUNKS {
            return Err(format!("it has more than {MAX_HUNKS} hunks"));
        }
        let (hunk, end) = hunk(header.trim_end(), below, number)?;
        hunks.push(hunk);
        rest = &below[end..];
    }
    if hunks.is_empty() {
        return Err("it has no hunk; each begins with a line such as `@@ -3,7 +3,8 @@`".to_owned());
    }
    if makes_file && (hunks.len() > 1 || hunks[0].old_lines().next().is_some()) {
        return Err("one that makes a file has a single hunk and only `+` lines".to_owned());
    }
    Ok((hunks, makes_file))
}

/// What is wrong where neither a hunk nor a line of one is.
fn after_hunk(line: &str, hunk: usize) -> String {
    if ["diff ", "--- ", "Index: "].iter().any(|word| line.starts_with(word)) {
        return "it is about more than one file; make one call for each".to_owned();
    }
    format!("hunk {hunk} has the line `{line:.80}`, which begins with none of ` +-\\`")
}

/// Whether a line names this file. A time may follow.
fn is_header(line: &str, word: &str, name: &str) -> bool {
    let named = line.strip_prefix(word).and_then(|rest| rest.split('\t').next());
    named.is_some_and(|named| named.trim() == name)
}

/// One hunk, and how many lines it takes.
fn hunk<'d>(
    header: &'d str,
    lines: &[&'d str],
    number: usize,
) -> Result<(Hunk<'d>, usize), String> {
    let wrong =
        || format!("hunk {number} begins with `{header:.80}` and not like `@@ -3,7 +3,8 @@`");
    let (start, old, new) = numbers(header).ok_or_else(wrong)?;
    let mut hunk = Hunk { header: ranges(header), start, lines: Vec::new() };
    let (mut counted, mut at, mut bare) = ((0, 0), 0, 0);
    while let Some(line) = lines.get(at) {
        let is_complete = counted.0 >= old && counted.1 >= new;
        let kind = match line.as_bytes().first() {
            Some(b'-') if is_complete && is_other_file(&lines[at..]) => break,
            Some(b' ') => LineKind::Kept,
            Some(b'-') => LineKind::Removed,
            Some(b'+') => LineKind::Added,
            // An empty line of the file, whose space got lost.
            None if !is_complete && at + 1 < lines.len() => LineKind::Kept,
            Some(b'\\') | None => {
                hunk.end_file(line);
                at += 1;
                continue;
            }
            Some(_) => break,
        };
        bare = if line.is_empty() { bare + 1 } else { 0 };
        let text = line.get(1..).unwrap_or_default();
        hunk.lines.push(HunkLine { kind, text, is_unended: false });
        counted.0 += usize::from(kind != LineKind::Added);
        counted.1 += usize::from(kind != LineKind::Removed);
        at += 1;
    }
    // Empty lines at the end are not the file's, unless the numbers say so.
    if counted != (old, new) {
        hunk.lines.truncate(hunk.lines.len() - bare);
        counted.0 -= bare;
    }
    // A range without lines is after the line that it names.
    hunk.start -= usize::from(counted.0 > 0 && start > 0);
    Ok((hunk, at))
}

/// Whether the headers of another file begin here, and not lines with dashes.
fn is_other_file(lines: &[&str]) -> bool {
    matches!(lines, [old, new, hunk, ..]
        if old.starts_with("--- ") && new.starts_with("+++ ") && hunk.starts_with("@@"))
}

/// The part of a header that says where the hunk is.
fn ranges(header: &str) -> &str {
    let end = header.match_indices("@@").nth(1).map_or(header.len(), |(at, _)| at + 2);
    &header[..end]
}

/// Where the old lines begin, how many there are and how many new ones.
fn numbers(header: &str) -> Option<(usize, usize, usize)> {
    let (old, rest) = header.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let ((start, old), (_, new)) = (range(old)?, range(new)?);
    Some((start, old, new))
}

fn range(text: &str) -> Option<(usize, usize)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    // No file has more lines than a `u32` counts.
    let number = |digits: &str| usize::try_from(digits.parse::<u32>().ok()?).ok();
    Some((number(start)?, number(count)?))
}
