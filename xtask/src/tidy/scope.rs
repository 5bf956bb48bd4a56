//! What a path in one module of a crate refers to.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Spacing, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, UseTree};

use super::crate_tree::{CrateTree, Module, attributes, is_test};

/// The longest chain of imports that is followed for one name. A circle of imports ends here.
const IMPORTS_FOLLOWED: usize = 16;

/// The names of all modules of a crate.
pub(super) struct Scopes<'tree> {
    tree: &'tree CrateTree,
    of_module: Vec<Scope>,
}

#[derive(Default)]
struct Scope {
    declared: BTreeSet<String>,
    /// Paths by the name they are imported as.
    imports: BTreeMap<String, Vec<Vec<String>>>,
    globs: Vec<Vec<String>>,
}

/// A path that some module names, and its line.
pub(super) struct NamedPath {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
}

#[derive(Clone, Copy)]
enum NameTarget {
    Module(usize),
    /// Something that this module declares.
    Declared(usize),
}

impl<'tree> Scopes<'tree> {
    pub(super) fn new(tree: &'tree CrateTree) -> Self {
        Self { tree, of_module: tree.modules.iter().map(Scope::of).collect() }
    }

    /// The module that declares what `segments` names in `module`. A re-export counts as its
    /// target, and a name of another crate as nothing.
    pub(super) fn resolve(&self, module: usize, segments: &[String]) -> Option<usize> {
        match self.follow(module, segments, 0)? {
            NameTarget::Module(module) | NameTarget::Declared(module) => Some(module),
        }
    }

    fn follow(&self, module: usize, segments: &[String], followed: usize) -> Option<NameTarget> {
        let (mut at, mut rest) = (module, segments);
        let mut is_own = false;
        while let Some((first, others)) = rest.split_first() {
            match first.as_str() {
                "crate" => at = 0,
                "self" => {}
                "super" => at = self.tree.modules[at].parent?,
                _ => break,
            }
            (is_own, rest) = (true, others);
        }
        for segment in rest {
            match self.named(at, segment, followed) {
                Some(NameTarget::Module(next)) => (at, is_own) = (next, true),
                Some(declared) => return Some(declared),
                None if is_own => return Some(NameTarget::Declared(at)),
                None => return None,
            }
        }
        Some(NameTarget::Module(at))
    }

    fn named(&self, module: usize, name: &str, followed: usize) -> Option<NameTarget> {
        if followed == IMPORTS_FOLLOWED {
            return None;
        }
        if let Some(child) = self.tree.modules[module].children.get(name) {
            return Some(NameTarget::Module(*child));
        }
        let scope = &self.of_module[module];
        if scope.declared.contains(name) {
            return Some(NameTarget::Declared(module));
        }
        let imports = scope.imports.get(name).into_iter().flatten();
        let mut imported = imports.filter_map(|path| self.follow(module, path, followed + 1));
        imported.next().or_else(|| {
            let globs =
                scope.globs.iter().filter_map(|path| self.follow(module, path, followed + 1));
            let mut modules = globs.filter_map(|named| match named {
                NameTarget::Module(other) if other != module => Some(other),
                _ => None,
            });
            modules.find_map(|other| self.named(other, name, followed + 1))
        })
    }
}

impl Scope {
    fn of(module: &Module) -> Self {
        let mut scope = Self::default();
        for item in &module.items {
            scope.declared.extend(declared(item));
        }
        let mut imports = Imports::default();
        module.items.iter().for_each(|item| imports.visit_item(item));
        for import in imports.0 {
            match import.name {
                ImportName::Glob => scope.globs.push(import.segments),
                ImportName::NameTarget(name) => {
                    scope.imports.entry(name).or_default().push(import.segments);
                }
            }
        }
        scope
    }
}

fn declared(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// All imports of a module, including those inside functions.
#[derive(Default)]
struct Imports(Vec<Import>);

struct Import {
    name: ImportName,
    segments: Vec<String>,
    line: usize,
}

enum ImportName {
    Glob,
    NameTarget(String),
}

impl Visit<'_> for Imports {
    fn visit_item(&mut self, item: &Item) {
        if !attributes(item).iter().any(is_test) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        self.flatten(&item.tree, &mut Vec::new());
    }
}

impl Imports {
    fn flatten(&mut self, tree: &UseTree, above: &mut Vec<String>) {
        let line = |ident: &syn::Ident| ident.span().start().line;
        match tree {
            UseTree::Path(path) => {
                above.push(path.ident.to_string());
                self.flatten(&path.tree, above);
                above.pop();
            }
            UseTree::Name(name) => {
                self.leaf(above, &name.ident.to_string(), None, line(&name.ident));
            }
            UseTree::Rename(name) => {
                let rename = Some(name.rename.to_string());
                self.leaf(above, &name.ident.to_string(), rename, line(&name.ident));
            }
            UseTree::Glob(glob) => {
                let line = glob.star_token.spans[0].start().line;
                self.0.push(Import { name: ImportName::Glob, segments: above.clone(), line });
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.flatten(tree, above)),
        }
    }

    fn leaf(&mut self, above: &[String], last: &str, rename: Option<String>, line: usize) {
        let mut segments = above.to_vec();
        if last != "self" || segments.is_empty() {
            segments.push(last.to_owned());
        }
        let name = rename.or_else(|| segments.last().cloned()).unwrap_or_default();
        self.0.push(Import { name: ImportName::NameTarget(name), segments, line });
    }
}

/// All paths that a module names: its imports, and the paths in its code with more than one
/// segment. A single segment is declared here or imported, so it is counted already.
pub(super) fn paths(module: &Module) -> Vec<NamedPath> {
    let mut imports = Imports::default();
    let mut code = CodePaths::default();
    for item in &module.items {
        imports.visit_item(item);
        code.visit_item(item);
    }
    let imports = imports.0.into_iter();
    let imports = imports.map(|import| NamedPath { segments: import.segments, line: import.line });
    imports.chain(code.0).collect()
}

#[derive(Default)]
struct CodePaths(Vec<NamedPath>);

impl Visit<'_> for CodePaths {
    fn visit_item(&mut self, item: &Item) {
        if !attributes(item).iter().any(is_test) {
            visit::visit_item(self, item);
        }
    }

    fn visit_attribute(&mut self, _: &syn::Attribute) {}

    /// `pub(in crate::calls)` uses nothing of that module.
    fn visit_visibility(&mut self, _: &syn::Visibility) {}

    fn visit_path(&mut self, path: &syn::Path) {
        if path.leading_colon.is_none() && path.segments.len() > 1 {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            let line = path.segments[0].ident.span().start().line;
            self.0.push(NamedPath { segments, line });
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(&call.tokens);
    }
}

impl CodePaths {
    /// The paths among a macro's tokens, whose grammar only the macro knows.
    fn tokens(&mut self, tokens: &TokenStream) {
        let mut path: Option<NamedPath> = None;
        let mut colons = 0;
        for token in tokens.clone() {
            match token {
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    match &mut path {
                        Some(path) if colons == 2 => path.segments.push(name),
                        _ => {
                            self.end(path.take());
                            let line = ident.span().start().line;
                            path = Some(NamedPath { segments: vec![name], line });
                        }
                    }
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => {
                    let follows = colons == 1 || mark.spacing() == Spacing::Joint;
                    colons = if follows { colons + 1 } else { 0 };
                    if colons == 0 {
                        self.end(path.take());
                    }
                }
                other => {
                    self.end(path.take());
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.tokens(&group.stream());
                    }
                }
            }
        }
        self.end(path);
    }

    fn end(&mut self, path: Option<NamedPath>) {
        self.0.extend(path.filter(|path| path.segments.len() > 1));
    }
}
