//! Shared state that could grow without bound.
//!
//! Many may fill a collection behind a lock, and few empty it. So its declaration must name its
//! bound, in its documentation or that of its type:
//!
//! ```text
//! /// Sessions by id, at most [`SESSIONS`].
//! sessions: Mutex<HashMap<SessionId, Session>>,
//!
//! /// Listeners, one for each [`Subscription`].
//! listeners: Mutex<Vec<Listener>>,
//! ```
//!
//! The named bound must be used in the code of the same module, and not only declared there.

use std::collections::BTreeMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Field, Fields, GenericArgument, Item, PathArguments, Type, TypePath};

use super::crate_tree::{CrateTree, Module, attributes, is_test};
use super::scope::{Scopes, paths};

const LOCKS: &[&str] = &["Mutex", "RwLock", "ReentrantMutex", "RefCell"];

/// Collections that many can fill at once without a lock.
const CONCURRENT: &[&str] = &["DashMap", "DashSet", "SkipMap", "SkipSet", "SegQueue", "Injector"];

const COLLECTIONS: &[&str] = &[
    "BTreeMap",
    "BTreeSet",
    "BinaryHeap",
    "DelayQueue",
    "FuturesUnordered",
    "FxHashMap",
    "FxHashSet",
    "HashMap",
    "HashSet",
    "HashTable",
    "IndexMap",
    "IndexSet",
    "JoinMap",
    "JoinSet",
    "LinkedList",
    "Slab",
    "Vec",
    "VecDeque",
];

/// Values behind these are shared and replaced as a whole: they do not grow in place.
const SHARED_WHOLE: &[&str] = &["Arc", "Rc", "Weak"];

const UNBOUNDED: &[&str] =
    &["unbounded", "unbounded_channel", "UnboundedReceiver", "UnboundedSender"];

/// The words of a declaration's documentation before the name of its bound.
const SAYS_BOUND: &[&str] = &["at most ", "one for each "];

/// The most types within types that are looked through.
const NESTING: usize = 8;

/// One fault for each unbounded channel, and one for each collection behind a lock that names no bound.
pub(super) fn faults(tree: &CrateTree) -> Vec<String> {
    let scopes = Scopes::new(tree);
    let mut found = BoundSearch { tree, scopes: &scopes, unnamed: BTreeMap::new() };
    let mut faults = Vec::new();
    for (index, module) in tree.modules.iter().enumerate() {
        faults.extend(unbounded_channels(tree, module));
        for declaration in declarations(module) {
            found.look_for_locks(index, &declaration, declaration.ty, 0);
        }
    }
    faults.extend(found.unnamed.into_values());
    faults
}

fn unbounded_channels(tree: &CrateTree, module: &Module) -> Vec<String> {
    let paths = paths(module);
    let words = |path: &[String]| path.join("::");
    let knows_std = paths.iter().any(|path| words(&path.segments) == "std::sync::mpsc");
    let mut faults = Vec::new();
    for path in &paths {
        let text = words(&path.segments);
        let of_std = text.strip_prefix("std::sync::mpsc::").or_else(|| {
            let last = text.strip_prefix("mpsc::")?;
            knows_std.then_some(last)
        });
        let last = path.segments.last().map_or("", String::as_str);
        if UNBOUNDED.contains(&last)
            || of_std.is_some_and(|last| ["channel", "Sender"].contains(&last))
        {
            let place = format!("{}:{}", module.file, path.line);
            faults.push(format!("{}: unbounded channel `{text}`: {place}", tree.name));
        }
    }
    faults
}

/// A field or a static.
struct Declaration<'tree> {
    /// `Sessions::open`, `LIVING`.
    name: String,
    line: usize,
    ty: &'tree Type,
    docs: String,
}

fn declarations(module: &Module) -> Vec<Declaration<'_>> {
    module.items.iter().flat_map(declarations_of).collect()
}

fn declarations_of(item: &Item) -> Vec<Declaration<'_>> {
    match item {
        Item::Static(item) => vec![Declaration {
            name: item.ident.to_string(),
            line: item.ident.span().start().line,
            ty: &item.ty,
            docs: docs(&item.attrs),
        }],
        Item::Struct(item) => of_fields(&item.ident.to_string(), &docs(&item.attrs), &item.fields),
        Item::Enum(item) => {
            let variants = item.variants.iter().map(|variant| {
                let name = format!("{}::{}", item.ident, variant.ident);
                of_fields(&name, &(docs(&item.attrs) + &docs(&variant.attrs)), &variant.fields)
            });
            variants.flatten().collect()
        }
        _ => Vec::new(),
    }
}

fn of_fields<'tree>(
    owner: &str,
    owner_docs: &str,
    fields: &'tree Fields,
) -> Vec<Declaration<'tree>> {
    let alone = fields.len() == 1;
    let declaration = |(index, field): (usize, &'tree Field)| {
        let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
        let line = match (&field.ident, &field.ty) {
            (Some(ident), _) => ident.span().start().line,
            (None, Type::Path(ty)) => ty.path.segments[0].ident.span().start().line,
            (None, _) => 0,
        };
        // With several fields, each must name its own bound.
        let inherited = if alone { owner_docs } else { "" };
        let docs = format!("{inherited} {}", docs(&field.attrs));
        Declaration { name: format!("{owner}::{name}"), line, ty: &field.ty, docs }
    };
    fields.iter().enumerate().map(declaration).collect()
}

fn docs(attributes: &[Attribute]) -> String {
    let mut docs = String::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        if let syn::Meta::NameValue(pair) = &attribute.meta
            && let syn::Expr::Lit(value) = &pair.value
            && let syn::Lit::Str(text) = &value.lit
        {
            docs += &text.value();
        }
    }
    docs
}

struct BoundSearch<'tree> {
    tree: &'tree CrateTree,
    scopes: &'tree Scopes<'tree>,
    /// Faults by the place of the declaration, because one collection can be reached from several
    /// locks.
    unnamed: BTreeMap<String, String>,
}

impl<'tree> BoundSearch<'tree> {
    fn look_for_locks(
        &mut self,
        module: usize,
        from: &Declaration<'tree>,
        ty: &'tree Type,
        depth: usize,
    ) {
        let Type::Path(path) = ty else { return };
        if depth == NESTING {
            return;
        }
        let name = last(path);
        if CONCURRENT.contains(&name.as_str()) {
            self.judge(module, from, &name);
        }
        for inner in arguments(path) {
            if LOCKS.contains(&name.as_str()) {
                self.look_for_collections(module, from, inner, depth + 1);
            } else {
                self.look_for_locks(module, from, inner, depth + 1);
            }
        }
    }

    /// Checks each declaration that holds a collection within `ty`, which is behind a lock: the one
    /// in which `ty` was found, or one of a type of this crate.
    fn look_for_collections(
        &mut self,
        module: usize,
        from: &Declaration<'tree>,
        ty: &'tree Type,
        depth: usize,
    ) {
        if depth == NESTING {
            return;
        }
        if let Type::Tuple(tuple) = ty {
            for inner in &tuple.elems {
                self.look_for_collections(module, from, inner, depth + 1);
            }
        }
        let Type::Path(path) = ty else { return };
        let name = last(path);
        if COLLECTIONS.contains(&name.as_str()) {
            return self.judge(module, from, &name);
        }
        if SHARED_WHOLE.contains(&name.as_str()) {
            return;
        }
        let segments: Vec<String> =
            path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let declaring = self.scopes.resolve(module, &segments);
        if let Some(declaring) = declaring {
            self.look_into(declaring, from, &name, depth);
        }
        for inner in arguments(path) {
            self.look_for_collections(module, from, inner, depth + 1);
        }
    }

    /// Searches a type of this crate.
    fn look_into(&mut self, declaring: usize, from: &Declaration<'tree>, name: &str, depth: usize) {
        let tree: &'tree CrateTree = self.tree;
        for item in &tree.modules[declaring].items {
            let ident = match item {
                Item::Type(alias) if alias.ident == name => {
                    self.look_for_collections(declaring, from, &alias.ty, depth + 1);
                    continue;
                }
                Item::Struct(own) => &own.ident,
                Item::Enum(own) => &own.ident,
                _ => continue,
            };
            if ident == name {
                for declaration in declarations_of(item) {
                    self.look_for_collections(declaring, &declaration, declaration.ty, depth + 1);
                }
            }
        }
    }

    fn judge(&mut self, module: usize, declaration: &Declaration<'_>, collection: &str) {
        let module = &self.tree.modules[module];
        let place = format!("{}:{}", module.file, declaration.line);
        let bounds = named_bounds(&declaration.docs);
        let fault = match bounds.iter().find(|bound| !is_used(module, bound)) {
            None if !bounds.is_empty() => return,
            None => "names no bound (`at most [LIMIT]`)".to_owned(),
            Some(bound) => format!("names `{bound}`, which this module does not use"),
        };
        let fault = format!(
            "{}: shared {collection} `{}` {fault}: {place}",
            self.tree.name, declaration.name
        );
        self.unnamed.insert(place, fault);
    }
}

fn last(path: &TypePath) -> String {
    path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

fn arguments(path: &TypePath) -> impl Iterator<Item = &Type> {
    let arguments = path.path.segments.iter().filter_map(|segment| match &segment.arguments {
        PathArguments::AngleBracketed(inner) => Some(inner.args.iter()),
        _ => None,
    });
    arguments.flatten().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// The names in backticks after "at most" or "one for each", each without the type it is a member
/// of.
fn named_bounds(docs: &str) -> Vec<String> {
    let docs = docs.split_whitespace().collect::<Vec<_>>().join(" ");
    let lower = docs.to_ascii_lowercase();
    let mut bounds = Vec::new();
    for says in SAYS_BOUND {
        for (at, _) in lower.match_indices(says) {
            let rest = docs[at + says.len()..].trim_start_matches('[');
            let Some((name, _)) = rest.strip_prefix('`').and_then(|rest| rest.split_once('`'))
            else {
                continue;
            };
            let last = name.rsplit([':', '.']).next().unwrap_or(name);
            bounds.push(last.trim_end_matches("()").to_owned());
        }
    }
    bounds
}

/// Whether the module's code uses this word, apart from a constant's own declaration.
fn is_used(module: &Module, word: &str) -> bool {
    let mut words = WordCount { word, count: 0 };
    module.items.iter().for_each(|item| words.visit_item(item));
    let is_declared = module.items.iter().any(|item| match item {
        Item::Const(item) => item.ident == word,
        _ => false,
    });
    words.count > usize::from(is_declared)
}

struct WordCount<'word> {
    word: &'word str,
    count: usize,
}

impl Visit<'_> for WordCount<'_> {
    fn visit_item(&mut self, item: &Item) {
        if !attributes(item).iter().any(is_test) {
            visit::visit_item(self, item);
        }
    }

    fn visit_attribute(&mut self, _: &Attribute) {}

    fn visit_ident(&mut self, ident: &syn::Ident) {
        self.count += usize::from(ident == self.word);
    }

    fn visit_macro(&mut self, call: &syn::Macro) {
        self.tokens(&call.tokens);
    }
}

impl WordCount<'_> {
    fn tokens(&mut self, tokens: &TokenStream) {
        for token in tokens.clone() {
            match token {
                TokenTree::Ident(ident) => self.visit_ident(&ident),
                TokenTree::Group(group) => self.tokens(&group.stream()),
                _ => {}
            }
        }
    }
}
