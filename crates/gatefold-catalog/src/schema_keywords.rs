//! The keywords of JSON Schema below which there are further schemas, of its drafts from 4 to 2020-12.

/// Whether a keyword's value maps names to schemas.
pub fn maps_names(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties"
            | "patternProperties"
            | "$defs"
            | "definitions"
            | "dependentSchemas"
            | "dependencies"
    )
}

/// Whether a keyword's value is a schema. The older drafts' `items` may also be a list of them.
pub fn is_schema(keyword: &str) -> bool {
    matches!(
        keyword,
        "additionalProperties"
            | "items"
            | "additionalItems"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "contentSchema"
    )
}

/// Whether a keyword's value is a list of schemas.
pub fn lists_schemas(keyword: &str) -> bool {
    matches!(keyword, "anyOf" | "oneOf" | "allOf" | "prefixItems")
}
