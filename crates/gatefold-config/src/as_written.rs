//! References in a client's file, converted to Gatefold's notation.

use crate::{InputVariable, Surroundings, UnresolvedReference, is_name, variable_of_input};

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

/// The text, in which each question of the client is the variable that replaces it, with the answer
/// that the file gives itself. Where that is empty, so is the value.
pub(crate) fn with_inputs(text: &str, inputs: &[InputVariable]) -> String {
    inputs.iter().fold(text.to_owned(), |text, InputVariable { id, variable, default }| {
        let default = default.as_ref().filter(|default| !default.contains('}'));
        let own = match default {
            Some(default) => format!("${{{variable}:-{default}}}"),
            None => format!("${{{variable}}}"),
        };
        let text = text.replace(&format!("${{input:{id}}}"), &own);
        text.replace(&format!("${{input:{id}:-"), &format!("${{{variable}:-"))
    })
}

/// The text with every `${{ secrets.NAME }}` and `${{ inputs.NAME }}` of Continue as a variable.
pub(crate) fn with_secrets(text: &str) -> String {
    let mut own = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, reference)) = rest.split_once("${{") {
        own.push_str(before);
        let known = reference.split_once("}}").and_then(|(inner, after)| {
            let (kind, name) = inner.trim().split_once('.')?;
            (matches!(kind, "secrets" | "inputs") && is_name(name)).then_some((name, after))
        });
        if let Some((name, after)) = known {
            own.extend(["${", name, "}"]);
            rest = after;
        } else {
            own.push_str("${{");
            rest = reference;
        }
    }
    own + rest
}

/// The text with every `{env:NAME}` of opencode as a variable. It has no other notation, so `${` is
/// plain text there.
pub(crate) fn of_opencode(text: &str) -> Result<String, UnresolvedReference> {
    let text = text.replace("${", "$${");
    let mut own = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(start) = rest.find('{') {
        let (before, reference) = rest.split_at(start);
        own.push_str(before);
        let inner = reference[1..].split_once('}');
        let known = inner.and_then(|(inner, after)| Some((inner.split_once(':')?, after)));
        rest = match known {
            Some((("env", name), after)) if is_name(name) => {
                own.extend(["${", name, "}"]);
                after
            }
            Some((("file", path), _)) => {
                return Err(UnresolvedReference {
                    message: format!(
                        "takes its value from the file `{path}`, which is not read here"
                    ),
                    hint: "write `${NAME}`, and set the variable `NAME` to what the file holds"
                        .to_owned(),
                    is_absent: false,
                });
            }
            _ => {
                own.push('{');
                &reference[1..]
            }
        };
    }
    Ok(own + rest)
}

/// The text with every `$NAME` in braces, as Crush reads it. What a shell would run is refused.
pub(crate) fn of_crush(text: &str) -> Result<String, UnresolvedReference> {
    if text.contains("$(") {
        return Err(UnresolvedReference {
            message: "takes its value from a command, `$(...)`, which is not run here".to_owned(),
            hint: "write `${NAME}`, and set the variable `NAME` to what the command prints"
                .to_owned(),
            is_absent: false,
        });
    }
    Ok(in_braces(text))
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
    fn a_question_is_its_variable_and_brings_its_default() {
        let inputs = [
            ("region", "REGION", Some("eu")),
            ("odd", "ODD", Some("}")),
            ("none", "NONE", Some("")),
            ("api_key", "API_KEY_2", None),
        ];
        let inputs = inputs.map(|(id, variable, default)| InputVariable {
            id: id.to_owned(),
            variable: variable.to_owned(),
            default: default.map(str::to_owned),
        });
        let text = "${input:region} ${input:odd} ${input:none} ${input:api_key} ${input:api_key:-x} ${region}";
        let expected = "${REGION:-eu} ${ODD} ${NONE:-} ${API_KEY_2} ${API_KEY_2:-x} ${region}";
        assert_eq!(with_inputs(text, &inputs), expected);
    }

    #[test]
    fn other_clients_references_become_braces() {
        assert_eq!(with_secrets("Bearer ${{ secrets.A_B }} ${{inputs.C}}"), "Bearer ${A_B} ${C}");
        assert_eq!(with_secrets("${{ github.x }} ${{ secrets.X"), "${{ github.x }} ${{ secrets.X");
        for (text, expected) in [
            ("Bearer {env:A}/log", Some("Bearer ${A}/log")),
            ("{\"a\": {\"b\": 1}} {env:no name}", Some("{\"a\": {\"b\": 1}} {env:no name}")),
            ("${A} {env:A", Some("$${A} {env:A")),
            ("{file:~/.secrets/notes}", None),
        ] {
            assert_eq!(of_opencode(text).ok().as_deref(), expected, "{text}");
        }
        for (text, expected) in [
            ("Bearer $TOKEN ${A}", Some("Bearer ${TOKEN} ${A}")),
            ("pa$word", Some("pa$word")),
            ("$(cat key)", None),
        ] {
            assert_eq!(of_crush(text).ok().as_deref(), expected, "{text}");
        }
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
