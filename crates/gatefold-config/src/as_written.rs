//! References in a client's file, converted to Gatefold's notation.

use crate::{Surroundings, is_name, variable_of_input};

/// The text with every reference as `gatefold.toml` writes it: `${env:VAR}` becomes `${VAR}`, an
/// input becomes the variable named after it, `${workspaceFolder}` the project's directory.
/// Everything else stays, escaped where necessary.
pub(crate) fn as_written(text: &str, surroundings: &dyn Surroundings) -> String {
    let mut translated = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, reference) = rest.split_at(start);
        translated.push_str(before);
        let own = reference[2..]
            .split_once('}')
            .and_then(|(inner, after)| Some((own_notation(inner, surroundings)?, after)));
        let (kept, after) = own.unwrap_or_else(|| ("$${".to_owned(), &reference[2..]));
        translated.push_str(&kept);
        rest = after;
    }
    translated + rest
}

/// The text with every `$NAME` in braces, as Gemini CLI reads it. A name with lower-case letters is
/// more likely a shell's own variable in the text of a command.
pub(crate) fn in_braces(text: &str) -> String {
    let mut braced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('$') {
        let (before, reference) = rest.split_at(start);
        let after = &reference[1..];
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, after) = after.split_at(end.unwrap_or(after.len()));
        braced.push_str(before);
        if is_name(name) && !name.bytes().any(|b| b.is_ascii_lowercase()) {
            braced.extend(["${", name, "}"]);
        } else {
            braced.extend(["$", name]);
        }
        rest = after;
    }
    braced + rest
}

/// The text, in which each reference to a client question's answer also has the question's default.
pub(crate) fn with_defaults(text: &str, inputs: &[(String, String)]) -> String {
    let can_stand = |default: &str| !default.is_empty() && !default.contains('}');
    let inputs = inputs.iter().filter(|(_, default)| can_stand(default));
    inputs.fold(text.to_owned(), |text, (id, default)| {
        text.replace(&format!("${{input:{id}}}"), &format!("${{input:{id}:-{default}}}"))
    })
}

fn own_notation(inner: &str, surroundings: &dyn Surroundings) -> Option<String> {
    let (reference, default) = match inner.split_once(":-") {
        Some((reference, default)) => (reference, format!(":-{default}")),
        None => (inner, String::new()),
    };
    if reference == "workspaceFolder" {
        return Some(surroundings.directory().display().to_string());
    }
    let variable = match reference.split_once(':') {
        Some(("env", name)) => name.to_owned(),
        Some(("input", id)) => variable_of_input(id),
        _ if reference == "userHome" => "HOME".to_owned(),
        _ => reference.to_owned(),
    };
    is_name(&variable).then(|| format!("${{{variable}{default}}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_brings_its_default() {
        let inputs = [("region", "eu"), ("odd", "}"), ("none", "")];
        let inputs = inputs.map(|(id, default)| (id.to_owned(), default.to_owned()));
        let text = "${input:region} ${input:odd} ${input:none} ${region}";
        let expected = "${input:region:-eu} ${input:odd} ${input:none} ${region}";
        assert_eq!(with_defaults(text, &inputs), expected);
    }

    #[test]
    fn names_of_variables_get_braces_wherever_they_stand() {
        for (text, expected) in [
            ("$A", "${A}"),
            ("$HOME/Documents", "${HOME}/Documents"),
            ("Bearer $MY_TOKEN", "Bearer ${MY_TOKEN}"),
            ("${A} $B_2$C", "${A} ${B_2}${C}"),
            ("for f in $f; do echo $1 $$ $", "for f in $f; do echo $1 $$ $"),
        ] {
            assert_eq!(in_braces(text), expected, "{text}");
        }
    }

    #[test]
    fn references_become_our_own() {
        let surroundings = crate::notation::tests::Machine::default();
        for (text, expected) in [
            ("plain $A", "plain $A"),
            ("${A}-${B:-c}", "${A}-${B:-c}"),
            ("${env:A}${env:B:-x}", "${A}${B:-x}"),
            ("Bearer ${input:api-key}", "Bearer ${API_KEY}"),
            ("${input:path} ${input:Home:-x}", "${INPUT_PATH} ${INPUT_HOME:-x}"),
            ("${input:lc-all} ${input:my-path}", "${INPUT_LC_ALL} ${MY_PATH}"),
            ("${workspaceFolder}/x ${userHome}", "/project/x ${HOME}"),
            ("${command:pick} ${A", "$${command:pick} $${A"),
            ("${not a name}", "$${not a name}"),
        ] {
            assert_eq!(as_written(text, &surroundings), expected, "{text}");
        }
    }
}
