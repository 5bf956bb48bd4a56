//! The sources of an index: what is known of their services, and how requests name them.

use rustc_hash::FxHashMap;

use crate::services::{self, REQUEST_WORDS, Service};
use crate::text;
use crate::tuning::Tuning;

/// The most words read of what the services of a source are.
const SERVICE_WORDS: usize = 128;

/// The most services that a request names and no source has.
const MISSING: usize = 4;

/// A service that no source has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MissingService {
    /// What it is.
    pub(crate) text: &'static str,
    /// Whether tools have the words of its name all the same.
    pub(crate) is_told_of: bool,
}

/// The sources of an index, by number. Sources are the domains of its entries.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// For each term of a service: the sources that have it, and how much of it.
    terms: FxHashMap<Box<str>, Vec<(u32, f32)>>,
    /// What requests may call a source, as words joined; and whether that is an ordinary word too.
    handles: FxHashMap<Box<str>, Vec<(u32, bool)>>,
    /// The places of the tools of each source that has a service, sorted.
    places: FxHashMap<u32, Box<[u32]>>,
}

impl Sources {
    /// Reads the service of each tool's source; that of a source's first tool counts. `domains` has the
    /// number of the source for each tool.
    pub(crate) fn of<'a>(
        services: impl Iterator<Item = Option<&'a Service>>,
        domains: &[u32],
        domain_count: usize,
        tuning: &Tuning,
    ) -> Self {
        let mut sources = Self::default();
        let mut is_read = vec![false; domain_count];
        for (service, source) in services.zip(domains) {
            if std::mem::replace(&mut is_read[*source as usize], true) {
                continue;
            }
            if let Some(service) = service {
                sources.add(service, *source, tuning);
            }
        }
        let mut places: FxHashMap<u32, Vec<u32>> =
            sources.places.keys().map(|source| (*source, Vec::new())).collect();
        for (place, source) in (0_u32..).zip(domains) {
            if let Some(places) = places.get_mut(source) {
                places.push(place);
            }
        }
        let places = places.into_iter().map(|(source, places)| (source, places.into()));
        Self { places: places.collect(), ..sources }
    }

    fn add(&mut self, service: &Service, source: u32, tuning: &Tuning) {
        let (names, text) = tuning.services;
        let mut counts: FxHashMap<String, f32> = FxHashMap::default();
        for (words, weight) in [(&service.names, names), (&service.text, text)] {
            text::terms(words, SERVICE_WORDS, |term, _| {
                // A word that is said twice is not said more.
                let count = counts.entry(term.to_owned()).or_default();
                *count = count.max(weight);
            });
        }
        for (term, count) in counts {
            self.terms.entry(term.into()).or_default().push((source, count));
        }
        for handle in &service.handles {
            self.add_handle(&handle.key, source, handle.is_ordinary);
        }
        self.places.insert(source, Box::default());
    }

    fn add_handle(&mut self, key: &str, source: u32, is_ordinary: bool) {
        if key.is_empty() {
            return;
        }
        let known = self.handles.entry(key.into()).or_default();
        match known.iter_mut().find(|(other, _)| *other == source) {
            Some((_, known)) => *known &= is_ordinary,
            None => known.push((source, is_ordinary)),
        }
    }

    /// The sources whose services have a term, and how much of it.
    pub(crate) fn having(&self, term: &str) -> &[(u32, f32)] {
        self.terms.get(term).map_or(&[], Vec::as_slice)
    }

    /// The places of the tools of a source with a service, sorted.
    pub(crate) fn places(&self, source: u32) -> &[u32] {
        self.places.get(&source).map_or(&[], |places| places)
    }

    /// The sources that a request may call so, or of which a service is called so.
    pub(crate) fn called(&self, key: &str) -> impl Iterator<Item = u32> {
        let handles = self.handles.get(key).into_iter().flatten().map(|(source, _)| *source);
        handles.chain(self.having(key).iter().map(|(source, _)| *source))
    }

    /// The services that a request names and no source has. `shows` says whether a source counts, and
    /// `knows` whether a tool has a term.
    pub(crate) fn missing(
        &self,
        request: &str,
        shows: &dyn Fn(u32) -> bool,
        knows: &dyn Fn(&str) -> bool,
    ) -> Vec<MissingService> {
        let mut missing = Vec::new();
        services::names_in(request, REQUEST_WORDS, |key, _| {
            let named = services::clearly_named(key);
            if named.is_empty() || self.called(key).any(shows) {
                return;
            }
            for service in &named[..named.len().min(MISSING - missing.len())] {
                let (name, text) = services::named_and_described(*service, key);
                let mut is_told_of = true;
                text::terms(name, REQUEST_WORDS, |term, kind| {
                    is_told_of &= kind == text::Kind::Compound || knows(term);
                });
                missing.push(MissingService { text, is_told_of });
            }
        });
        missing
    }

    /// The sources that a request names, sorted.
    pub(crate) fn named(&self, request: &str) -> Vec<u32> {
        let mut named = Vec::new();
        services::names_in(request, REQUEST_WORDS, |key, is_clear| {
            for (source, is_ordinary) in self.handles.get(key).into_iter().flatten() {
                named.extend((is_clear || !is_ordinary).then_some(*source));
            }
        });
        named.sort_unstable();
        named.dedup();
        named
    }

    pub(crate) fn memory(&self) -> usize {
        let terms = self.terms.iter().map(|(term, having)| {
            term.len() + size_of::<(Box<str>, Vec<(u32, f32)>)>() + size_of_val(having.as_slice())
        });
        let handles = self.handles.iter().map(|(key, named)| {
            key.len() + size_of::<(Box<str>, Vec<(u32, bool)>)>() + size_of_val(named.as_slice())
        });
        let places = self.places.values().map(|places| size_of_val(&**places));
        terms.chain(handles).chain(places).sum()
    }
}
