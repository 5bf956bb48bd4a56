//! Settings that nothing reads: their keys would be documented and have no effect.
//!
//! The tests of `gatefold` hold each key against the field that it is read into. Here each public field
//! of the configuration's types must be used outside of the module that reads and shows it.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Expr, ExprField, Item, ItemStruct, Macro, Member, PatStruct, Path, UseName, Visibility};

use super::crate_tree::{CrateTree, Module};

/// Where the configuration is read.
const CRATE: &str = "gatefold";
const CONFIG: &str = "crate::config";

/// The kinds of sources are read there and built there, and what they hold is private.
const KINDS: &str = "crate::config::kinds";

/// What counts before anything is built: it goes into the sources, into the rules, or into what describes
/// the keys.
const RESOLVED: &[(&str, &str)] = &[
    ("AgentConfig", "categories"),
    ("Config", "source_limits"),
    ("Key", "unset"),
    ("Section", "ways"),
];

/// One fault for each public field of the configuration's types that no other code reads.
///
/// Types are not resolved. A `.field` counts for a type in a module that names the type, or behind a name under
/// which the type is kept: `config.disclosure.pinned` and `disclosure.pinned` count for `DisclosureConfig`, since
/// `Config` keeps it as `disclosure`, and `pins.pinned` does not. What is read without effect is not found.
pub(super) fn faults(trees: &[CrateTree]) -> Vec<String> {
    let readers = trees.iter().flat_map(|tree| {
        let is_read_there =
            |module: &&Module| tree.name == CRATE && is_within(&module.path, CONFIG);
        tree.modules.iter().filter(move |module| !is_read_there(module))
    });
    let readers: Vec<_> = readers.map(FieldUses::of).collect();
    let configs = trees.iter().filter(|tree| tree.name == CRATE);
    let modules = configs
        .flat_map(|tree| &tree.modules)
        .filter(|module| is_within(&module.path, CONFIG) && !is_within(&module.path, KINDS));
    let settings: Vec<_> =
        modules.flat_map(|module| structs(module).map(move |own| (module, own))).collect();
    let mut faults = Vec::new();
    for (module, owner) in &settings {
        let kept_as = names_of(owner, settings.iter().map(|(_, own)| *own));
        let type_name = owner.ident.to_string();
        for field in &owner.fields {
            let Some(ident) = &field.ident else { continue };
            let name = ident.to_string();
            let is_public = matches!(field.vis, Visibility::Public(_));
            let is_resolved = RESOLVED.contains(&(type_name.as_str(), name.as_str()));
            let is_read = || readers.iter().any(|uses| uses.read(&type_name, &kept_as, &name));
            if is_public && !is_resolved && !is_read() {
                let place = format!("{}:{}", module.file, ident.span().start().line);
                faults.push(format!(
                    "{CRATE}: nothing reads the setting `{type_name}::{name}`: {place}"
                ));
            }
        }
    }
    faults
}

fn structs(module: &Module) -> impl Iterator<Item = &ItemStruct> {
    module.items.iter().filter_map(|item| match item {
        Item::Struct(own) => Some(own),
        _ => None,
    })
}

/// The names under which a value of a type is kept: the fields of that type, one of several, and `config` for the
/// root, which is kept by what is no setting.
fn names_of<'a>(
    owner: &ItemStruct,
    settings: impl Iterator<Item = &'a ItemStruct>,
) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for field in settings.flat_map(|own| &own.fields) {
        let mut uses = FieldUses::default();
        uses.visit_type(&field.ty);
        if let Some(name) =
            field.ident.as_ref().filter(|_| uses.types.contains(&owner.ident.to_string()))
        {
            let name = name.to_string();
            names.extend(name.strip_suffix('s').map(str::to_owned));
            names.insert(name);
        }
    }
    if owner.ident == "Config" {
        names.insert("config".to_owned());
    }
    names
}

fn is_within(path: &str, module: &str) -> bool {
    path.strip_prefix(module).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// What one module reads.
#[derive(Default)]
struct FieldUses {
    /// The types that it names.
    types: BTreeSet<String>,
    /// Fields with the name of what they are read from, if that has one.
    fields: BTreeSet<(Option<String>, String)>,
    /// Fields that a pattern takes out, with its type.
    patterns: BTreeSet<(String, String)>,
}

impl FieldUses {
    fn of(module: &Module) -> Self {
        let mut uses = Self::default();
        module.items.iter().for_each(|item| uses.visit_item(item));
        uses
    }

    fn read(&self, owner: &str, kept_as: &BTreeSet<String>, field: &str) -> bool {
        let is_named = self.types.contains(owner);
        self.patterns.contains(&(owner.to_owned(), field.to_owned()))
            || self.fields.iter().any(|(base, own)| {
                own == field
                    && (is_named || base.as_ref().is_some_and(|base| kept_as.contains(base)))
            })
    }

    /// The words behind a dot, and the one before it: what a macro does with them is not known here.
    fn look_through(&mut self, tokens: TokenStream) {
        let (mut before, mut is_behind_dot) = (None, false);
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.look_through(group.stream()),
                TokenTree::Ident(name) if is_behind_dot => {
                    self.fields.insert((before.take(), name.to_string()));
                    (before, is_behind_dot) = (Some(name.to_string()), false);
                }
                TokenTree::Ident(name) => {
                    self.types.insert(name.to_string());
                    before = Some(name.to_string());
                }
                TokenTree::Punct(punct) if punct.as_char() == '.' => is_behind_dot = true,
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    (before, is_behind_dot) = (None, false);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for FieldUses {
    fn visit_expr_field(&mut self, field: &'ast ExprField) {
        if let Member::Named(name) = &field.member {
            self.fields.insert((name_of(&field.base), name.to_string()));
        }
        visit::visit_expr_field(self, field);
    }

    fn visit_pat_struct(&mut self, pattern: &'ast PatStruct) {
        if let Some(owner) = pattern.path.segments.last() {
            for field in &pattern.fields {
                if let Member::Named(name) = &field.member {
                    self.patterns.insert((owner.ident.to_string(), name.to_string()));
                }
            }
        }
        visit::visit_pat_struct(self, pattern);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.types.extend(path.segments.iter().map(|segment| segment.ident.to_string()));
        visit::visit_path(self, path);
    }

    fn visit_use_name(&mut self, name: &'ast UseName) {
        self.types.insert(name.ident.to_string());
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.look_through(call.tokens.clone());
    }
}

/// The name of a value: of its variable, its field, or the method that gives it.
fn name_of(value: &Expr) -> Option<String> {
    match value {
        Expr::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Expr::Field(field) => match &field.member {
            Member::Named(name) => Some(name.to_string()),
            Member::Unnamed(_) => None,
        },
        Expr::MethodCall(call) if call.method == "as_ref" => name_of(&call.receiver),
        Expr::MethodCall(call) => Some(call.method.to_string()),
        Expr::Index(index) => name_of(&index.expr),
        Expr::Paren(inner) => name_of(&inner.expr),
        Expr::Reference(inner) => name_of(&inner.expr),
        Expr::Try(inner) => name_of(&inner.expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn module(path: &str, text: &str) -> Module {
        Module {
            path: path.to_owned(),
            file: "x.rs".to_owned(),
            parent: None,
            children: BTreeMap::new(),
            items: syn::parse_file(text).unwrap().items,
            conditional: false,
        }
    }

    #[track_caller]
    fn check(reader: &str, unread: &[&str]) {
        let config = "pub struct Config { pub server: ServerConfig }
            #[derive(Debug)] pub struct ServerConfig { pub listen: String }";
        let modules = vec![module("crate::config", config), module("crate::app", reader)];
        let faults = faults(&[CrateTree { name: CRATE.to_owned(), modules }]);
        let named = |fault: &String| fault.split('`').nth(1).unwrap_or_default().to_owned();
        assert_eq!(faults.iter().map(named).collect::<Vec<_>>(), unread, "{reader}");
    }

    #[test]
    fn a_setting_is_read_by_its_own_type_and_not_by_another_of_its_field() {
        let all = ["Config::server", "ServerConfig::listen"];
        check("fn f(x: &Config) -> &str { &x.server.listen }", &[]);
        check("fn f(app: &App) { g(app.config().server); h(&server.listen) }", &[]);
        check("fn f(own: &ServerConfig) { own.listen }", &all[..1]);
        check("fn f() { let ServerConfig { listen } = x; }", &all[..1]);
        check("fn f(config: &C) { format!(\"{}\", config.server.listen) }", &[]);
        check("fn f(socket: &Socket) { socket.listen; socket.server }", &all);
        check("fn f() { let Socket { listen, server } = x; }", &all);
    }
}
