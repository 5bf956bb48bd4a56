//! The questions that a client asks its user, and the variables that replace them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use gatefold_config::{InputVariable, variable_of_input};
use gatefold_located::{Node, Value};

/// How a reference to a question begins.
const INPUT: &str = "input:";

/// The variables that replace clients' questions. No two questions share one: the answer to one must
/// not go to the server of another. In each file a question is its own.
#[derive(Debug, Default)]
pub struct InputVariables {
    known: HashMap<(PathBuf, String), String>,
    taken: HashSet<String>,
}

/// One question of a file.
#[derive(Debug)]
pub(super) struct FileInput {
    pub(super) variable: InputVariable,
    /// Whether the file says what is asked.
    is_declared: bool,
}

impl FileInput {
    /// Whether a reference stands for the answer.
    pub(super) fn is_asked_by(&self, reference: &str) -> bool {
        reference.strip_prefix(INPUT) == Some(self.variable.id.as_str())
    }

    /// What is odd about it.
    pub(super) fn note(&self) -> Option<String> {
        let InputVariable { id, variable, .. } = &self.variable;
        let note =
            || format!("no entry of `inputs` declares `{id}`; set the variable `{variable}`");
        (!self.is_declared).then(note)
    }
}

impl InputVariables {
    /// The questions of one file: those of its `inputs`, and those that it only refers to.
    pub(super) fn of_file(
        &mut self,
        path: &Path,
        around: &Node,
        refers: &[&str],
    ) -> Vec<FileInput> {
        let mut inputs: Vec<FileInput> = Vec::new();
        let declared = declared(around).into_iter().map(|(id, default)| (id, default, true));
        let referred = refers.iter().filter_map(|one| one.strip_prefix(INPUT));
        let referred = referred.map(|id| (id, None, false));
        for (id, default, is_declared) in declared.chain(referred) {
            if inputs.iter().all(|input| input.variable.id != id) {
                let (id, variable) = (id.to_owned(), self.variable(path, id));
                let variable = InputVariable { id, variable, default };
                inputs.push(FileInput { variable, is_declared });
            }
        }
        inputs
    }

    fn variable(&mut self, path: &Path, id: &str) -> String {
        let (known, taken) = (&mut self.known, &mut self.taken);
        let variable = known.entry((path.to_owned(), id.to_owned())).or_insert_with(|| {
            let name = variable_of_input(id);
            let numbered = (2..).map(|number| format!("{name}_{number}"));
            let mut names = std::iter::once(name.clone()).chain(numbered);
            let free = names.find(|name| taken.insert(name.clone()));
            free.expect("there are more numbers than questions")
        });
        variable.clone()
    }
}

/// The ids of the questions that a file declares, with their default answers: VS Code's `inputs`. A
/// hidden (password) answer has no default.
fn declared(around: &Node) -> Vec<(&str, Option<String>)> {
    let Some(Value::List(inputs)) = around.get("inputs").map(|node| &node.value) else {
        return Vec::new();
    };
    let text = |input: &'_ Node, key: &str| match input.get(key).map(|node| &node.value) {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let is_hidden = |input: &Node| {
        input.get("password").is_some_and(|node| matches!(node.value, Value::Flag(true)))
    };
    let input = |input| {
        let Some(Value::Text(id)) = Node::get(input, "id").map(|node| &node.value) else {
            return None;
        };
        let default = text(input, "default").filter(|_| !is_hidden(input));
        Some((id.as_str(), default))
    };
    inputs.iter().filter_map(input).collect()
}
