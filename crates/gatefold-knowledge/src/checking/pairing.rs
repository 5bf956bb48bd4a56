//! Which quote of an answer belongs to which citation and page.

use std::ops::{Range, RangeInclusive};

use super::characters::is_unspaced_script;
use super::marks::{Mark, marks, named_pages};
use super::quotations::{Quotation, quotations};
use super::regions::{Region, regions};
use crate::Citation;

/// How many words a quote has at least that stands without a citation, or with one that does not
/// follow at once. Fewer are a term, or not meant literally.
const LEAST_WORDS_ALONE: usize = 4;
const LEAST_WORDS_APART: usize = 3;

/// How many characters of a script without spaces count as a word.
const CHARACTERS_IN_WORD: usize = 2;

/// The most bytes between a quote and the page before it, between a citation and the page after it,
/// and between a block quote and its citation in the paragraph before or after.
const MAX_PAGE_BEFORE: usize = 60;
const MAX_PAGE_AFTER: usize = 24;
const MAX_ATTRIBUTION: usize = 100;

/// The most citations that may follow one quote, each of which may have it.
const MAX_SOURCES: usize = 4;

/// What an answer says of one quote, or a citation without a quote.
#[derive(Debug)]
pub(super) struct QuoteClaim {
    pub(super) span: Range<usize>,
    /// Empty for a citation without a quote.
    pub(super) quote: String,
    /// Any of these may have the quote.
    pub(super) citations: Vec<Citation>,
    pub(super) pages: Option<RangeInclusive<u32>>,
}

/// What an answer says, in order.
pub(super) fn claims(answer: &str) -> Vec<QuoteClaim> {
    let regions = regions(answer);
    let marks = marks(answer, &regions);
    let quotations = quotations(answer, &regions, &marks);
    let pairing = Pairing { answer, regions: &regions, marks: &marks, quotations: &quotations };
    let mut follows_quote = vec![false; marks.len()];
    let mut is_used = vec![false; marks.len()];
    let mut sources: Vec<_> =
        (0..quotations.len()).map(|index| pairing.marks_after(index)).collect();
    for mark in sources.iter().flat_map(Clone::clone) {
        follows_quote[mark] = true;
    }
    let mut claims = Vec::new();
    for (index, quotation) in quotations.iter().enumerate() {
        if sources[index].is_empty() {
            let before = pairing.mark_before(index).filter(|mark| !follows_quote[*mark]);
            sources[index] = before.map_or(0..0, |mark| mark..mark + 1);
        }
        let of_quote = sources[index].clone();
        if !pairing.is_meant(quotation, &of_quote) {
            continue;
        }
        is_used[of_quote.clone()].fill(true);
        claims.push(QuoteClaim {
            span: quotation.span.clone(),
            quote: quotation.text.clone(),
            citations: marks[of_quote.clone()].iter().map(|mark| mark.citation.clone()).collect(),
            pages: pairing.pages(index, &of_quote),
        });
    }
    let is_alone = |(index, _): &(usize, &Mark)| !is_used[*index];
    claims.extend(marks.iter().enumerate().filter(is_alone).map(|(_, mark)| QuoteClaim {
        span: mark.span.clone(),
        quote: String::new(),
        citations: vec![mark.citation.clone()],
        pages: None,
    }));
    claims.sort_by_key(|claim| claim.span.start);
    claims
}

struct Pairing<'answer> {
    answer: &'answer str,
    regions: &'answer [Region],
    marks: &'answer [Mark],
    quotations: &'answer [Quotation],
}

impl Pairing<'_> {
    /// The citation that follows a quote, with those that follow it in turn.
    fn marks_after(&self, index: usize) -> Range<usize> {
        let quotation = &self.quotations[index];
        let region = &self.regions[quotation.region].span;
        let first = self.first_mark_from(quotation.span.end);
        if self.marks.get(first).is_some_and(|mark| mark.span.start < region.end) {
            return first..self.past_marks_at_once(first);
        }
        self.attribution_after(quotation).map_or(0..0, |mark| mark..mark + 1)
    }

    fn first_mark_from(&self, at: usize) -> usize {
        self.marks.partition_point(|mark| mark.span.start < at)
    }

    /// Past the citations that follow this one with nothing said in between.
    fn past_marks_at_once(&self, first: usize) -> usize {
        let follows = |index: &usize| {
            let (Some(last), Some(next)) = (self.marks.get(index - 1), self.marks.get(*index))
            else {
                return false;
            };
            let between = self.answer.get(last.span.end..next.span.start).unwrap_or("a");
            !between.contains(char::is_alphanumeric) && !between.contains('\n')
        };
        let most = first + MAX_SOURCES;
        (first + 1..most).take_while(follows).last().map_or(first + 1, |last| last + 1)
    }

    /// The citation with which the paragraph after a block quote begins.
    fn attribution_after(&self, quotation: &Quotation) -> Option<usize> {
        let next = self.regions.get(quotation.region + 1).filter(|_| quotation.is_block)?;
        let is_last = !self.has_quote_between(quotation.span.end, next.span.start);
        let mark = self.first_mark_from(next.span.start);
        let at = self.marks.get(mark)?.span.start;
        let is_near =
            !next.is_block_quote && at < next.span.end && at - next.span.start <= MAX_ATTRIBUTION;
        (is_last && is_near && !self.has_quote_between(next.span.start, at)).then_some(mark)
    }

    fn has_quote_between(&self, start: usize, end: usize) -> bool {
        let first = self.quotations.partition_point(|it| it.span.start < start);
        self.quotations.get(first).is_some_and(|it| it.span.start < end)
    }

    /// The citation before a quote, in its paragraph or right before a block quote.
    fn mark_before(&self, index: usize) -> Option<usize> {
        let quotation = &self.quotations[index];
        let region = &self.regions[quotation.region];
        let mark = self.first_mark_from(quotation.span.start).checked_sub(1)?;
        let end = self.marks[mark].span.end;
        if end > region.span.start {
            return Some(mark);
        }
        let before = self.regions.get(quotation.region.checked_sub(1)?)?;
        let is_near =
            end > before.span.start && before.span.end.saturating_sub(end) <= MAX_ATTRIBUTION;
        (quotation.is_block && is_near).then_some(mark)
    }

    /// Whether a quote is meant literally.
    fn is_meant(&self, quotation: &Quotation, sources: &Range<usize>) -> bool {
        let least = match self.marks.get(sources.start).filter(|_| !sources.is_empty()) {
            _ if quotation.is_block => 1,
            Some(mark) if self.follows_at_once(quotation, mark) => 1,
            Some(_) => LEAST_WORDS_APART,
            None => LEAST_WORDS_ALONE,
        };
        count_words(&quotation.text, least) >= least
    }

    /// Whether nothing but a bracket or the title of a link is between a quote and its citation.
    fn follows_at_once(&self, quotation: &Quotation, mark: &Mark) -> bool {
        let between = self.answer.get(quotation.span.end..mark.span.start);
        let is_mark = |c: char| !c.is_alphanumeric() && !"[(<".contains(c);
        let rest = between.map(|between| between.trim_start_matches(is_mark));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '(', '<']))
    }

    /// The pages that the answer gives for a quote: after it, in its footnote, or before it.
    fn pages(&self, index: usize, sources: &Range<usize>) -> Option<RangeInclusive<u32>> {
        let quotation = &self.quotations[index];
        let region = &self.regions[quotation.region].span;
        let mark = self.marks.get(sources.start).filter(|_| !sources.is_empty());
        let after_source = mark.map(|mark| mark.span.end).filter(|end| *end > quotation.span.end);
        let next_quote =
            self.quotations.get(index + 1).map_or(self.answer.len(), |it| it.span.start);
        let end = after_source.unwrap_or(quotation.span.end) + MAX_PAGE_AFTER;
        let paragraph_end = region.end.max(after_source.unwrap_or_default());
        let end = self.answer.floor_char_boundary(end.min(paragraph_end));
        let after = quotation.span.end..end.min(next_quote).max(quotation.span.end);
        let before = self.words_before(index, region.start, mark);
        named_pages(self.answer, after, self.marks)
            .or_else(|| named_pages(self.answer, mark?.note.clone()?, self.marks))
            .or_else(|| named_pages(self.answer, before, self.marks))
    }

    /// The words before a quote that may be about it: after any other citation or quote.
    fn words_before(&self, index: usize, region_start: usize, own: Option<&Mark>) -> Range<usize> {
        let end = self.quotations[index].span.start;
        let past_quote = index.checked_sub(1).map_or(0, |before| self.quotations[before].span.end);
        let own_before = own.filter(|mark| mark.span.end <= end).map(|mark| mark.span.start);
        let other = self.first_mark_from(end).checked_sub(1).filter(|_| own_before.is_none());
        let past_mark = other.map_or(0, |mark| self.marks[mark].span.end);
        let (anchor, region_start) = own_before.map_or((end, region_start), |at| (at, 0));
        let past_other = past_quote.max(past_mark).max(region_start);
        let nearest = self.answer.ceil_char_boundary(anchor.saturating_sub(MAX_PAGE_BEFORE));
        past_other.max(nearest).min(end)..end
    }
}

/// How many words a text has, up to `most`.
fn count_words(text: &str, most: usize) -> usize {
    let mut words = 0;
    for word in text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)) {
        let unspaced =
            word.chars().filter(|c| is_unspaced_script(*c)).take(CHARACTERS_IN_WORD * most);
        words += (unspaced.count() / CHARACTERS_IN_WORD).max(1);
        if words >= most {
            break;
        }
    }
    words
}
