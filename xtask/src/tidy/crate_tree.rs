//! The modules of one crate, read from its source.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use syn::{Attribute, Item};

/// The modules reachable from one root file (`lib.rs`, `main.rs`), without test modules.
pub(super) struct CrateTree {
    /// Its name in faults: the folder of its package, and the file if that is not `src/lib.rs`.
    pub(super) name: String,
    /// The root is the first, and a parent comes before its children.
    pub(super) modules: Vec<Module>,
}

pub(super) struct Module {
    /// `crate`, `crate::calls`, `crate::calls::audit`.
    pub(super) path: String,
    /// The file that contains it, relative to the workspace.
    pub(super) file: String,
    pub(super) parent: Option<usize>,
    pub(super) children: BTreeMap<String, usize>,
    /// What it declares, without modules and tests.
    pub(super) items: Vec<Item>,
    /// Whether it is compiled only under some condition, such as on one platform.
    pub(super) conditional: bool,
}

impl CrateTree {
    /// Reads the crate whose root is `file`, a path relative to the workspace.
    pub(super) fn read(workspace: &Path, name: &str, file: &str) -> Result<Self> {
        let mut tree = Self { name: name.to_owned(), modules: Vec::new() };
        let folder = Path::new(file).parent().unwrap_or(Path::new("")).to_owned();
        let items = parse(workspace, Path::new(file))?;
        let root = Module {
            path: "crate".to_owned(),
            file: file.to_owned(),
            parent: None,
            children: BTreeMap::new(),
            items: Vec::new(),
            conditional: false,
        };
        tree.add(workspace, root, items, &folder)?;
        Ok(tree)
    }

    /// Adds a module and those below it. `folder` is where its children's files are.
    fn add(
        &mut self,
        workspace: &Path,
        module: Module,
        items: Vec<Item>,
        folder: &Path,
    ) -> Result<usize> {
        let own = self.modules.len();
        let (path, file, conditional) =
            (module.path.clone(), module.file.clone(), module.conditional);
        self.modules.push(module);
        for item in items {
            let Item::Mod(inner) = item else {
                if !attributes(&item).iter().any(is_test) {
                    self.modules[own].items.push(item);
                }
                continue;
            };
            if inner.attrs.iter().any(is_test) {
                continue;
            }
            let name = inner.ident.to_string();
            let below = folder.join(&name);
            let (child_file, items) = if let Some((_, items)) = inner.content {
                (PathBuf::from(&file), items)
            } else {
                let child = child_file(&file, folder, &name, &inner.attrs);
                let items = parse(workspace, &child)?;
                (child, items)
            };
            let child = Module {
                path: format!("{path}::{name}"),
                file: child_file.to_string_lossy().into_owned(),
                parent: Some(own),
                children: BTreeMap::new(),
                items: Vec::new(),
                conditional: conditional || inner.attrs.iter().any(is_condition),
            };
            let child = self.add(workspace, child, items, &below)?;
            // The first of the alternatives for platforms represents all.
            self.modules[own].children.entry(name).or_insert(child);
        }
        Ok(own)
    }
}

/// The roots of all crates of the workspace, each with its name in faults.
pub(super) fn roots(workspace: &Path) -> Result<Vec<(String, String)>> {
    let mut packages = vec!["xtask".to_owned()];
    let crates =
        std::fs::read_dir(workspace.join("crates")).context("there is no folder `crates`")?;
    for entry in crates {
        packages.push(format!("crates/{}", entry?.file_name().to_string_lossy()));
    }
    packages.sort();
    let mut roots = Vec::new();
    for package in packages {
        let name = package.rsplit('/').next().unwrap_or(&package).to_owned();
        for (file, name) in [("lib.rs", name.clone()), ("main.rs", format!("{name} (main.rs)"))] {
            let root = format!("{package}/src/{file}");
            if workspace.join(&root).is_file() {
                roots.push((name, root));
            }
        }
    }
    Ok(roots)
}

fn parse(workspace: &Path, file: &Path) -> Result<Vec<Item>> {
    let text = std::fs::read_to_string(workspace.join(file));
    let text = text.with_context(|| format!("`{}` could not be read", file.display()))?;
    let parsed = syn::parse_file(&text);
    Ok(parsed.with_context(|| format!("`{}` is not Rust", file.display()))?.items)
}

/// The file of a module that `parent` declares: given by its own attribute, or in the folder of its
/// name.
fn child_file(parent: &str, folder: &Path, name: &str, attributes: &[Attribute]) -> PathBuf {
    let own = attributes.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => text_of(&pair.value),
        _ => None,
    });
    match own {
        Some(own) => Path::new(parent).with_file_name(own),
        None => folder.join(format!("{name}.rs")),
    }
}

/// The text of an attribute of the form `name = "text"`.
pub(super) fn text_of(value: &syn::Expr) -> Option<String> {
    match value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

pub(super) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

pub(super) fn is_condition(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
}

/// Whether this is `cfg(test)`, alone or as one of several conditions.
pub(super) fn is_test(attribute: &Attribute) -> bool {
    let syn::Meta::List(list) = &attribute.meta else { return false };
    let condition = list.tokens.to_string();
    let mut words = condition.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    is_condition(attribute)
        && words.clone().any(|word| word == "test")
        && !words.any(|word| word == "not")
}
