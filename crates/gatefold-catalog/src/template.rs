//! Whether a URI can be an expansion of a template: RFC 6570, levels 1 to 3, tolerantly.
//!
//! The modifiers of level 4 (`{x*}`, `{x:3}`) are ignored, except that a path may then have several
//! segments. Text is compared byte by byte.

/// The longest template and the longest URI that are compared, in bytes.
const MAX_COMPARED: usize = 2 << 10;

/// The most expressions of a template that is compared.
const MAX_EXPRESSIONS: usize = 16;

/// Whether some values of a template's variables expand it to this URI. `false` if either is too
/// long to be compared, or the template is malformed.
///
/// The work is bounded by the product of both lengths: instead of backtracking, all places of the
/// URI that the template may have reached advance together.
pub(crate) fn matches(template: &str, uri: &str) -> bool {
    if template.len() > MAX_COMPARED || uri.len() > MAX_COMPARED {
        return false;
    }
    let Some(parts) = parts(template) else { return false };
    let mut reached = vec![false; uri.len() + 1];
    reached[0] = true;
    for part in parts {
        reached = match part {
            Part::Literal(text) => behind_literal(&reached, uri.as_bytes(), text.as_bytes()),
            Part::Expression(expression) => expression.behind(&reached, uri.as_bytes()),
        };
        if !reached.contains(&true) {
            return false;
        }
    }
    reached[uri.len()]
}

#[derive(Debug, Clone, Copy)]
enum Part<'a> {
    Literal(&'a str),
    Expression(Expression),
}

/// What an expression can expand to.
#[derive(Debug, Clone, Copy)]
struct Expression {
    /// The character before the values. If there is none, at least one byte has to follow unless
    /// `may_vanish`.
    lead: Option<u8>,
    /// Bytes that no value contains.
    without: &'static [u8],
    /// Whether the expansion may be empty: all variables of the expression are undefined.
    may_vanish: bool,
}

impl Expression {
    fn parse(inner: &str) -> Option<Self> {
        let (lead, without, variables): (_, &[u8], _) = match inner.as_bytes().first()? {
            b'+' => (None, b"", &inner[1..]),
            b'#' => (Some(b'#'), b"", &inner[1..]),
            b'.' => (Some(b'.'), b"/", &inner[1..]),
            b';' => (Some(b';'), b"/", &inner[1..]),
            b'/' => (Some(b'/'), b"?#", &inner[1..]),
            b'?' => (Some(b'?'), b"#", &inner[1..]),
            b'&' => (Some(b'&'), b"#", &inner[1..]),
            // The RFC reserves these for future extensions.
            b'=' | b',' | b'!' | b'@' | b'|' => return None,
            _ => (None, b"/", inner),
        };
        let may_vanish = lead.is_some() || without.is_empty();
        (!variables.is_empty()).then_some(Self { lead, without, may_vanish })
    }

    /// The places after the expression, given those before it.
    fn behind(self, before: &[bool], uri: &[u8]) -> Vec<bool> {
        let mut behind = vec![false; before.len()];
        let mut is_inside = false;
        for (at, byte) in uri.iter().enumerate() {
            let starts = before[at] && self.lead.is_none_or(|lead| lead == *byte);
            let is_lead = starts && self.lead.is_some();
            is_inside = is_lead || (is_inside || starts) && !self.without.contains(byte);
            behind[at + 1] = is_inside;
        }
        if self.may_vanish {
            behind.iter_mut().zip(before).for_each(|(behind, before)| *behind |= before);
        }
        behind
    }
}

fn behind_literal(before: &[bool], uri: &[u8], literal: &[u8]) -> Vec<bool> {
    let mut behind = vec![false; before.len()];
    for at in (0..before.len()).filter(|at| before[*at]) {
        if uri[at..].starts_with(literal) {
            behind[at + literal.len()] = true;
        }
    }
    behind
}

/// Literals and expressions in turn; `None` for an unbalanced brace, an empty expression or too
/// many expressions.
fn parts(template: &str) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    let mut rest = template;
    while let Some((literal, behind)) = rest.split_once('{') {
        let (inner, behind) = behind.split_once('}')?;
        if literal.contains('}') || inner.contains('{') || parts.len() >= 2 * MAX_EXPRESSIONS {
            return None;
        }
        parts.push(Part::Literal(literal));
        parts.push(Part::Expression(Expression::parse(inner)?));
        rest = behind;
    }
    if rest.contains('}') {
        return None;
    }
    parts.push(Part::Literal(rest));
    Some(parts)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn check(template: &str, fitting: &[&str], others: &[&str]) {
        for uri in fitting {
            assert!(matches(template, uri), "{template} {uri}");
        }
        for uri in others {
            assert!(!matches(template, uri), "{template} {uri}");
        }
    }

    #[test]
    fn a_variable_is_something_within_a_segment() {
        check("a://{x}", &["a://1", "a://ü.b?c"], &["a://", "a://1/2", "b://1", "a:/"]);
        check("a://{x}/{y}.md", &["a://1/2.md", "a://1/.md.md"], &["a://1/.md", "a://1/2/3.md"]);
        check("{x}{y}", &["ab"], &["a", ""]);
        check("a://{x,y}", &["a://1,2"], &["a://1/2"]);
        check("a://b", &["a://b"], &["a://", "a://bc"]);
    }

    #[test]
    fn operators_expand_as_the_rfc_says() {
        check("a://{+x}", &["a://", "a://1/2?3#4"], &["a:/"]);
        check("a://b{#x}", &["a://b", "a://b#c/d"], &["a://bc"]);
        check("a://b{.x}", &["a://b", "a://b.c", "a://b.c.d"], &["a://bc", "a://b.c/d"]);
        check("a://b{/x,y}", &["a://b", "a://b/c/d"], &["a://bc", "a://b/c?d"]);
        check("a://b{;x}", &["a://b", "a://b;x=1"], &["a://b;x/1"]);
        check("a://b{?x,y}", &["a://b", "a://b?x=1&y=/2"], &["a://b&x=1", "a://b?x=1#c"]);
        check("a://b?c=1{&x}", &["a://b?c=1", "a://b?c=1&x=2"], &["a://b?c=1x"]);
        check("a://{x*}{?y:3}", &["a://1", "a://1?y=2"], &["a://"]);
        check("{+x}/{y}/c{?z}", &["a/b/c", "a/b/c/b/c?z=1"], &["a/b", "a//c/d"]);
    }

    #[test]
    fn a_malformed_template_fits_nothing() {
        for template in ["a{", "a}", "a{}", "a{+}", "a{{x}}", "a{x}}", "a{=x}", "a{|x}"] {
            check(template, &[], &["a", template, "ax", "a{"]);
        }
        check(&"{x}".repeat(MAX_EXPRESSIONS + 1), &[], &[&"a".repeat(99)]);
        check("{+x}", &[], &[&"a".repeat(MAX_COMPARED + 1)]);
    }

    #[test]
    fn hostile_templates_take_no_longer_than_others() {
        let uri = format!("{}b", "a".repeat(MAX_COMPARED - 1));
        let started = Instant::now();
        for unit in ["{+x}a", "{x}aa", "{+x}"] {
            let template = format!("{}{}c", unit.repeat(15), "a".repeat(1000));
            assert!(!matches(&template, &uri), "{unit}");
        }
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
}
