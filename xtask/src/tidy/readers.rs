//! Settings that nothing reads: their keys would be documented and have no effect.
//!
//! The tests of `gatefold` hold each key against the field that it is read into. Here each public field
//! of the configuration's types must be used outside of the module that reads and shows it.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{ExprField, FieldPat, Item, Macro, Member, Visibility};

use super::crate_tree::CrateTree;

/// Where the configuration is read.
const CRATE: &str = "gatefold";
const CONFIG: &str = "crate::config";

/// The kinds of sources are read there and built there, and what they hold is private.
const KINDS: &str = "crate::config::kinds";

/// What counts before anything is built: it goes into the sources, into the rules, or into what describes
/// the keys.
const RESOLVED: &[(&str, &str)] = &[
    ("AgentConfig", "categories"),
    ("AgentConfig", "connectors"),
    ("Config", "source_limits"),
    ("Key", "unset"),
    ("Section", "ways"),
];

/// One fault for each public field of the configuration's types that no other code names. A field is known by its
/// name alone: one that another struct has too, and one that is read without effect, is not found.
pub(super) fn faults(trees: &[CrateTree]) -> Vec<String> {
    let mut used = UsedFields::default();
    for tree in trees {
        for module in &tree.modules {
            if tree.name == CRATE && is_within(&module.path, CONFIG) {
                continue;
            }
            module.items.iter().for_each(|item| used.visit_item(item));
        }
    }
    let configs = trees.iter().filter(|tree| tree.name == CRATE);
    let modules = configs
        .flat_map(|tree| &tree.modules)
        .filter(|module| is_within(&module.path, CONFIG) && !is_within(&module.path, KINDS));
    let mut faults = Vec::new();
    for module in modules {
        for item in &module.items {
            let Item::Struct(settings) = item else { continue };
            let owner = settings.ident.to_string();
            for field in &settings.fields {
                let Some(ident) = &field.ident else { continue };
                let name = ident.to_string();
                let is_public = matches!(field.vis, Visibility::Public(_));
                let is_resolved = RESOLVED.contains(&(owner.as_str(), name.as_str()));
                if is_public && !is_resolved && !used.0.contains(&name) {
                    let place = format!("{}:{}", module.file, ident.span().start().line);
                    faults.push(format!(
                        "{CRATE}: nothing reads the setting `{owner}::{name}`: {place}"
                    ));
                }
            }
        }
    }
    faults
}

fn is_within(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The names of all fields that some code reads, by a `.` or in a pattern.
#[derive(Default)]
struct UsedFields(BTreeSet<String>);

impl<'ast> Visit<'ast> for UsedFields {
    fn visit_expr_field(&mut self, field: &'ast ExprField) {
        if let Member::Named(name) = &field.member {
            self.0.insert(name.to_string());
        }
        visit::visit_expr_field(self, field);
    }

    fn visit_field_pat(&mut self, field: &'ast FieldPat) {
        if let Member::Named(name) = &field.member {
            self.0.insert(name.to_string());
        }
        visit::visit_field_pat(self, field);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.look_through(call.tokens.clone());
    }
}

impl UsedFields {
    /// The words behind a dot: what a macro does with them is not known here.
    fn look_through(&mut self, tokens: TokenStream) {
        let mut is_behind_dot = false;
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.look_through(group.stream()),
                TokenTree::Ident(name) if is_behind_dot => {
                    self.0.insert(name.to_string());
                    is_behind_dot = false;
                }
                TokenTree::Punct(punct) => is_behind_dot = punct.as_char() == '.',
                TokenTree::Ident(_) | TokenTree::Literal(_) => is_behind_dot = false,
            }
        }
    }
}
