//! What a text of JSON has in it, found in one pass: its paths, their types, and where its large
//! containers end.

use rustc_hash::FxHashMap;

use crate::json::{JsonEvent, JsonWalk, MalformedJson};

/// The most paths that are told apart.
const MAX_PATHS: usize = 2_000;

/// The most members of an object whose names are told apart. One with more is a map: its members
/// count as one.
const MAX_NAMES: usize = 48;

/// From how many bytes on the place of a container is kept.
const LARGE_CONTAINER: usize = 16 * 1024;

/// Paths, types and counts of a text.
#[derive(Debug)]
pub(crate) struct JsonSurvey<'a> {
    /// The root is the first.
    paths: Vec<PathSurvey<'a>>,
    /// By where they begin: where they end, and how many members or items they have.
    large: FxHashMap<usize, (usize, usize)>,
}

/// What was found at a path.
#[derive(Debug, Default, Clone)]
pub(crate) struct PathSurvey<'a> {
    /// The last step, as it is written in the text. Items and the members of maps have none.
    pub(crate) name: Option<&'a str>,
    /// By their places in [`JsonSurvey::paths`].
    members: Vec<usize>,
    /// Where items lie, or members beyond [`MAX_NAMES`].
    items: Option<usize>,
    others: Option<usize>,
    pub(crate) objects: usize,
    pub(crate) arrays: usize,
    pub(crate) texts: usize,
    pub(crate) numbers: usize,
    pub(crate) booleans: usize,
    pub(crate) nulls: usize,
    /// The least and most items or members.
    pub(crate) least: usize,
    pub(crate) most: usize,
    /// The place among `members` where the next is looked for first.
    next: usize,
}

impl PathSurvey<'_> {
    pub(crate) fn values(&self) -> usize {
        self.objects + self.arrays + self.scalars()
    }

    pub(crate) fn scalars(&self) -> usize {
        self.texts + self.numbers + self.booleans + self.nulls
    }

    fn add(&mut self, other: &Self) {
        let (was, is) = (self.arrays + self.objects, other.arrays + other.objects);
        self.least = match (was, is) {
            (_, 0) => self.least,
            (0, _) => other.least,
            _ => self.least.min(other.least),
        };
        self.most = self.most.max(other.most);
        self.objects += other.objects;
        self.arrays += other.arrays;
        self.texts += other.texts;
        self.numbers += other.numbers;
        self.booleans += other.booleans;
        self.nulls += other.nulls;
    }
}

/// A container that is open.
struct OpenContainer {
    /// `None` where there were too many paths.
    path: Option<usize>,
    start: usize,
    count: usize,
    is_array: bool,
}

impl<'a> JsonSurvey<'a> {
    pub(crate) fn of(text: &'a str) -> Result<Self, MalformedJson> {
        let mut survey = Self { paths: vec![PathSurvey::default()], large: FxHashMap::default() };
        let mut walk = JsonWalk::new(text);
        let mut open: Vec<OpenContainer> = Vec::new();
        let mut path = Some(0);
        while let Some(event) = walk.step()? {
            if let JsonEvent::Key(name) = event {
                let parent = open.last_mut().ok_or(MalformedJson)?;
                parent.count += 1;
                path = parent.path.and_then(|parent| survey.member(parent, name));
                continue;
            }
            let begins = event != JsonEvent::Close;
            if let Some(parent) = open.last_mut().filter(|parent| begins && parent.is_array) {
                parent.count += 1;
                path = parent.path.and_then(|parent| survey.items_of(parent));
            }
            let found = path.map(|path| &mut survey.paths[path]);
            match event {
                JsonEvent::OpenArray | JsonEvent::OpenObject => {
                    let (is_array, start) = (event == JsonEvent::OpenArray, walk.at() - 1);
                    open.push(OpenContainer { path, start, count: 0, is_array });
                }
                JsonEvent::Close => {
                    let closed = open.pop().ok_or(MalformedJson)?;
                    survey.close(&closed, walk.at());
                }
                JsonEvent::Text(_) => count(found, |path| &mut path.texts),
                JsonEvent::Number(_) => count(found, |path| &mut path.numbers),
                JsonEvent::Boolean => count(found, |path| &mut path.booleans),
                JsonEvent::Null => count(found, |path| &mut path.nulls),
                JsonEvent::Key(_) => {}
            }
        }
        survey.merge_maps();
        Ok(survey)
    }

    pub(crate) fn root(&self) -> &PathSurvey<'a> {
        &self.paths[0]
    }

    /// The members of objects at a path, in the order in which they were met.
    pub(crate) fn members<'s>(
        &'s self,
        path: &'s PathSurvey<'a>,
    ) -> impl Iterator<Item = &'s PathSurvey<'a>> {
        path.members.iter().map(|member| &self.paths[*member])
    }

    /// The items of arrays at a path.
    pub(crate) fn items(&self, path: &PathSurvey<'a>) -> Option<&PathSurvey<'a>> {
        path.items.map(|items| &self.paths[items])
    }

    /// The members of maps at a path.
    pub(crate) fn others(&self, path: &PathSurvey<'a>) -> Option<&PathSurvey<'a>> {
        path.others.map(|others| &self.paths[others])
    }

    /// Where the large container that begins here ends, and how many members or items it has.
    pub(crate) fn large(&self, start: usize) -> Option<(usize, usize)> {
        self.large.get(&start).copied()
    }

    fn close(&mut self, closed: &OpenContainer, end: usize) {
        if end - closed.start >= LARGE_CONTAINER {
            self.large.insert(closed.start, (end, closed.count));
        }
        let Some(path) = closed.path.map(|path| &mut self.paths[path]) else { return };
        path.least = if path.objects + path.arrays == 0 {
            closed.count
        } else {
            path.least.min(closed.count)
        };
        path.most = path.most.max(closed.count);
        if closed.is_array {
            path.arrays += 1;
        } else {
            path.objects += 1;
        }
        path.next = 0;
    }

    fn member(&mut self, parent: usize, name: &'a str) -> Option<usize> {
        let PathSurvey { members, next, others, .. } = &self.paths[parent];
        // Objects of one kind mostly have the same members in the same order.
        let guessed = members.get(*next).filter(|at| self.paths[**at].name == Some(name));
        let (place, found) = if let Some(found) = guessed {
            (*next, Some(*found))
        } else {
            let place = members.iter().position(|at| self.paths[*at].name == Some(name));
            (place.unwrap_or(members.len()), place.map(|place| members[place]))
        };
        if let Some(found) = found {
            self.paths[parent].next = place + 1;
            return Some(found);
        }
        if let (Some(others), true) = (*others, place >= MAX_NAMES) {
            return Some(others);
        }
        let is_map = place >= MAX_NAMES;
        let added = self.add_path((!is_map).then_some(name))?;
        let path = &mut self.paths[parent];
        if is_map {
            path.others = Some(added);
        } else {
            path.members.push(added);
            path.next = place + 1;
        }
        Some(added)
    }

    fn items_of(&mut self, parent: usize) -> Option<usize> {
        if let Some(items) = self.paths[parent].items {
            return Some(items);
        }
        let added = self.add_path(None)?;
        self.paths[parent].items = Some(added);
        Some(added)
    }

    fn add_path(&mut self, name: Option<&'a str>) -> Option<usize> {
        if self.paths.len() >= MAX_PATHS {
            return None;
        }
        self.paths.push(PathSurvey { name, ..PathSurvey::default() });
        Some(self.paths.len() - 1)
    }

    /// Has the first members of a map count with the others.
    fn merge_maps(&mut self) {
        for at in 0..self.paths.len() {
            if let Some(others) = self.paths[at].others {
                for member in std::mem::take(&mut self.paths[at].members) {
                    self.merge(member, others, 0);
                }
            }
        }
    }

    /// Adds what was found at one path to another. It goes as deep as the text, which is limited.
    fn merge(&mut self, from: usize, to: usize, depth: u32) {
        if from == to || depth > crate::json::MAX_DEPTH {
            return;
        }
        let source = self.paths[from].clone();
        self.paths[to].add(&source);
        for member in source.members {
            let name = self.paths[member].name.unwrap_or_default();
            if let Some(same) = self.member(to, name) {
                self.merge(member, same, depth + 1);
            }
        }
        if let Some(items) = source.items {
            match self.paths[to].items {
                Some(same) => self.merge(items, same, depth + 1),
                None => self.paths[to].items = Some(items),
            }
        }
        if let Some(others) = source.others {
            match self.paths[to].others {
                Some(same) => self.merge(others, same, depth + 1),
                None => self.paths[to].others = Some(others),
            }
        }
    }
}

fn count<'p, 'a>(
    path: Option<&'p mut PathSurvey<'a>>,
    field: impl FnOnce(&'p mut PathSurvey<'a>) -> &'p mut usize,
) {
    if let Some(path) = path {
        *field(path) += 1;
    }
}
