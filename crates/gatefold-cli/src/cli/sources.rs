//! `gatefold add`, `list`, `remove`, `enable` and `disable`: sources in a `gatefold.toml`. The rest
//! of the file stays as a person wrote it.

mod add;
mod description;
mod list;
mod next;
mod target;
mod trial;

use std::process::ExitCode;

use clap::Args;
use gatefold::Environment;
use gatefold_setup::{self as setup, SourceSwitch};
use serde_json::json;

pub(crate) use self::add::Add;
#[cfg(feature = "knowledge")]
pub(super) use self::add::{Addition, FirstLook, add_source};
#[cfg(feature = "knowledge")]
pub(super) use self::description::below_config;
pub(crate) use self::list::SourceList;
#[cfg(feature = "knowledge")]
pub(super) use self::target::ScopeName;

use self::target::Target;
use super::arguments::{Format, SharedOptions};
use super::output::Output;
use super::paths;

#[derive(Debug, Args)]
pub(crate) struct NamedSource {
    /// The source's name, as `gatefold list` shows it
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    pub(crate) format: Format,
}

pub(super) async fn add(
    add: &Add,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    Box::pin(add::run(add, shared, environment, output)).await
}

pub(super) fn list(
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    list::run(shared, environment, output)
}

pub(super) async fn remove(
    source: &NamedSource,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let target = Target::existing(shared, environment)?;
    let name = target.known(&source.name)?;
    let removal = setup::remove_source(target.text(), name, &target.path)?;
    target.write(&removal.text)?;
    let gateway = next::gateway(&target.path, shared, environment).await;
    if output.is_json() {
        output.json(&json!({
            "name": name,
            "file": target.path,
            "removed": true,
            "unused_secrets": removal.unused_secrets,
            "gateway": gateway,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let path = paths::shown(&target.path, environment);
    output.line(&format!("{} `{name}` from {path}", output.style().good("removed")));
    for secret in &removal.unused_secrets {
        let text = format!(
            "nothing there refers to the secret `{secret}` any more: `gatefold secret remove \
             {secret}` erases it"
        );
        output.paragraph("", &text);
    }
    next::taken_over(gateway.as_ref(), output);
    Ok(ExitCode::SUCCESS)
}

pub(super) async fn switch(
    source: &NamedSource,
    switch: SourceSwitch,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let target = Target::existing(shared, environment)?;
    let name = target.known(&source.name)?;
    let text = setup::switch_source(target.text(), name, switch, &target.path)?;
    let is_changed = text != target.text();
    if is_changed {
        target.write(&text)?;
    }
    let gateway = next::gateway(&target.path, shared, environment).await;
    let is_on = switch == SourceSwitch::On;
    if output.is_json() {
        output.json(&json!({
            "name": name,
            "file": target.path,
            "enabled": is_on,
            "changed": is_changed,
            "gateway": gateway,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let done = if is_on { "enabled" } else { "disabled" };
    if !is_changed {
        output.line(&format!("`{name}` is {done} already"));
        return Ok(ExitCode::SUCCESS);
    }
    let path = paths::shown(&target.path, environment);
    output.line(&format!("{} `{name}` in {path}", output.style().good(done)));
    next::taken_over(gateway.as_ref(), output);
    Ok(ExitCode::SUCCESS)
}
