//! The annotations of a disclosure's own tools.

use gatefold_catalog::Tool;
use gatefold_core::Hints;

/// Those of a tool that looks something up.
pub(crate) const READING: &str =
    r#"{"readOnlyHint":true,"idempotentHint":true,"openWorldHint":false}"#;

/// What calling any of these tools may do. A hint that one of them lacks counts as the worse.
pub(crate) fn of_calling(tools: &[&Tool]) -> String {
    let hints = |tool: &&&Tool| tool.definition().hints();
    let all = |is_so: fn(&Hints) -> bool| tools.iter().all(|tool| is_so(&hints(&tool)));
    let reads = all(|hints| hints.read_only == Some(true));
    let spares =
        reads || all(|hints| hints.destructive == Some(false) || hints.read_only == Some(true));
    let is_closed = all(|hints| hints.open_world == Some(false));
    format!(
        r#"{{"readOnlyHint":{reads},"destructiveHint":{},"openWorldHint":{}}}"#,
        !spares, !is_closed
    )
}
