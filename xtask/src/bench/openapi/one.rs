//! One description, read and measured in a process of its own.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use futures::FutureExt as _;
use gatefold_catalog::{Manifest, ManifestBuilder};
use gatefold_connect::{ApiDocuments, ApiReading, DescriptionOptions, FileDocuments, Overlay};
use gatefold_core::Timestamp;
use serde_json::{Value, json};

use super::FileReading;

/// Reads a file and builds its manifest; then, without measuring, compiles all of its schemas.
pub(super) fn read(file: &Path) -> Result<FileReading> {
    let (reading, manifest) = measure(file)?;
    let wrong = manifest.as_ref().map(|manifest| faults(manifest, reading.tools));
    Ok(FileReading { wrong: wrong.unwrap_or_default(), ..reading })
}

/// Reads a file and builds its manifest, if it can be read.
pub(super) fn measure(file: &Path) -> Result<(FileReading, Option<Manifest>)> {
    let bytes = file.metadata()?.len();
    warm_up()?;
    let before = peak_memory()?;
    let started = processor_seconds()?;
    let (documents, url) = FileDocuments::beside(file).map_err(|error| anyhow::anyhow!(error))?;
    let failed = |error: &dyn std::error::Error| FileReading {
        bytes,
        failed: Some(error.to_string()),
        ..FileReading::default()
    };
    let loaded =
        ApiDocuments::load(&url, &documents).now_or_never().context("files are read at once")?;
    let loaded = match loaded {
        Ok(loaded) => loaded,
        Err(error) => return Ok((failed(&error), None)),
    };
    let base_url = "https://api.example".parse().ok();
    let options = DescriptionOptions { base_url, ..DescriptionOptions::default() };
    let overlay = Overlay::default();
    let mut reading = match loaded.read(&options, &overlay) {
        Ok(reading) => reading,
        Err(error) => return Ok((failed(&error), None)),
    };
    let builder = manifest_tools(&mut reading);
    let description = reading.finish();
    drop(loaded);
    let notes = description.notes.len();
    let unusable: Vec<String> =
        description.unusable.iter().map(|one| format!("{}: {}", one.operation, one.why)).collect();
    let tools = description.tools;
    let manifest = description.into_manifest(builder);
    let seconds = processor_seconds()? - started;
    let memory = peak_memory()?.saturating_sub(before);
    let written = manifest.tools().iter().map(|tool| tool.raw().len()).sum();
    let reading = FileReading {
        bytes,
        tools,
        unusable,
        notes,
        written,
        seconds,
        memory,
        ..FileReading::default()
    };
    Ok((reading, Some(manifest)))
}

fn faults(manifest: &Manifest, tools: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut names = HashSet::new();
    for tool in manifest.tools() {
        if !is_legal(tool.name()) || !names.insert(tool.name()) {
            wrong.push(format!("name `{}`", tool.name()));
        }
        for schema in std::iter::once(tool.input_schema()).chain(tool.output_schema()) {
            if let Err(why) = compile(schema) {
                wrong.push(format!("`{}`: {why}", tool.name()));
            }
        }
    }
    if manifest.tools().len() != tools {
        wrong.push(format!("{} tools of {tools} are in the manifest", manifest.tools().len()));
    }
    wrong
}

/// Reads a small description first: the code that runs, and what the checker of patterns makes for good,
/// are no part of any description.
fn warm_up() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("small.json");
    let schema =
        json!({ "type": "object", "properties": { "a": { "pattern": "^[\\w -]{1,64}$" } } });
    let content = json!({ "application/json": { "schema": schema } });
    let operation = json!({
        "requestBody": { "content": content },
        "responses": { "200": { "description": "OK", "content": content } },
    });
    let small = json!({ "openapi": "3.0.0", "paths": { "/a": { "post": operation } } });
    std::fs::write(&file, small.to_string())?;
    let (documents, url) = FileDocuments::beside(&file).map_err(|error| anyhow::anyhow!(error))?;
    let loaded =
        ApiDocuments::load(&url, &documents).now_or_never().context("files are read at once")??;
    let base_url = "https://api.example".parse().ok();
    let options = DescriptionOptions { base_url, ..DescriptionOptions::default() };
    let overlay = Overlay::default();
    let mut reading = loaded.read(&options, &overlay)?;
    let builder = manifest_tools(&mut reading);
    let manifest = reading.finish().into_manifest(builder);
    manifest.tools().iter().try_for_each(|tool| compile(tool.input_schema()))
}

fn manifest_tools(reading: &mut ApiReading<'_>) -> ManifestBuilder {
    let builder = Manifest::builder(Timestamp::from_millis(0));
    reading.fold(builder, |tools, draft| tools.tool(draft.into_spec()))
}

fn is_legal(name: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(is_legal)
}

fn compile(schema: &str) -> Result<()> {
    let schema: Value = serde_json::from_str(schema)?;
    jsonschema::draft202012::meta::validate(&schema)
        .map_err(|error| anyhow::anyhow!("{error} at {}", error.instance_path()))?;
    jsonschema::draft202012::new(&schema).map_err(|error| anyhow::anyhow!("{error}"))?;
    Ok(())
}

/// What this thread has had of the processor.
fn processor_seconds() -> Result<f64> {
    let schedule =
        std::fs::read_to_string("/proc/self/schedstat").context("only Linux tells it")?;
    let nanoseconds = schedule.split_whitespace().next().context("it is not told")?.parse()?;
    Ok(Duration::from_nanos(nanoseconds).as_secs_f64())
}

/// The most memory that this process ever had resident, in bytes.
fn peak_memory() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status").context("only Linux tells it")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib: u64 = line.context("it is not told")?.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kib * 1024)
}
