//! Type names that mean two things in one crate.

use std::collections::BTreeMap;

use syn::{Attribute, Ident, Item};

use super::crate_tree::{CrateTree, is_condition};

struct TypeDeclaration {
    place: String,
    conditional: bool,
}

/// One fault for each name that is declared twice. Alternatives for platforms count as one
/// declaration, and a type inside a function belongs to that function.
pub(super) fn faults(tree: &CrateTree) -> Vec<String> {
    let mut declarations: BTreeMap<String, Vec<TypeDeclaration>> = BTreeMap::new();
    for module in &tree.modules {
        for (ident, attributes) in module.items.iter().filter_map(declared) {
            let place = format!("{}:{}", module.file, ident.span().start().line);
            let conditional = module.conditional || attributes.iter().any(is_condition);
            let declaration = TypeDeclaration { place, conditional };
            declarations.entry(ident.to_string()).or_default().push(declaration);
        }
    }
    let twice = declarations.into_iter().filter(|(_, places)| {
        places.len() > 1 && !places.iter().all(|declaration| declaration.conditional)
    });
    let fault = |(name, places): (String, Vec<TypeDeclaration>)| {
        let places: Vec<String> = places.into_iter().map(|declaration| declaration.place).collect();
        format!(
            "{}: type `{name}` is declared {} times: {}",
            tree.name,
            places.len(),
            places.join(", ")
        )
    };
    twice.map(fault).collect()
}

fn declared(item: &Item) -> Option<(&Ident, &[Attribute])> {
    match item {
        Item::Enum(item) => Some((&item.ident, &item.attrs)),
        Item::Struct(item) => Some((&item.ident, &item.attrs)),
        Item::Trait(item) => Some((&item.ident, &item.attrs)),
        Item::Type(item) => Some((&item.ident, &item.attrs)),
        Item::Union(item) => Some((&item.ident, &item.attrs)),
        _ => None,
    }
}
