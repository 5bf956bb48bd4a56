//! `gatefold knowledge list` and `documents`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use gatefold::config::{Config, ConfigError};
use gatefold::{Environment, unnamed_bases};
use gatefold_knowledge::{
    BaseCounts, BaseSettings, DiskUse, DocumentSummary, KnowledgeBase, KnowledgeError,
};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::opening::{self, ConfiguredBases, OpenedBase};
use super::words::{size_words, state_words};
use crate::cli::arguments::{Format, SharedOptions};
use crate::cli::output::{Output, Style};
use crate::cli::table::{Table, grouped, number_of};

#[derive(Debug, Args)]
pub(crate) struct ListBases {
    #[command(flatten)]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ListDocuments {
    /// The knowledge base, if there are several
    #[arg(value_name = "NAME")]
    base: Option<String>,
    #[command(flatten)]
    pub(super) format: Format,
}

/// What is said of a base that is configured.
struct BaseLine {
    base: OpenedBase,
    counts: BaseCounts,
    on_disk: Option<DiskUse>,
}

/// A folder of a base that is not configured.
pub(super) struct UnnamedBase {
    pub(super) folder: PathBuf,
    on_disk: Option<DiskUse>,
    /// What it holds, or why that is not known.
    counts: Result<BaseCounts, KnowledgeError>,
}

pub(super) async fn list(
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let configured = match ConfiguredBases::load(shared, environment) {
        // An empty list is not a failure.
        Err(error) if matches!(error.downcast_ref(), Some(ConfigError::NotFound { .. })) => {
            ConfiguredBases::of(Config::default(), shared, environment)?
        }
        configured => configured?,
    };
    let ConfiguredBases { config, state_dir, bases } = configured;
    let mut lines = Vec::new();
    for base in opening::open(bases, output).await? {
        let counts = base.with(KnowledgeBase::counts).await?;
        let on_disk = disk_use(base.configured.folder())?;
        lines.push(BaseLine { base, counts, on_disk });
    }
    let mut unnamed = Vec::new();
    let folders = unnamed_bases(&config, &state_dir);
    for folder in folders.with_context(|| format!("`{}` cannot be read", state_dir.display()))? {
        unnamed.push(UnnamedBase::look(folder).await?);
    }
    if output.is_json() {
        let bases: Vec<_> = lines.iter().map(base_as_json).collect();
        let unnamed: Vec<_> = unnamed.iter().map(UnnamedBase::as_json).collect();
        output.json(&json!({ "bases": bases, "unnamed": unnamed }));
        return Ok(ExitCode::SUCCESS);
    }
    if lines.is_empty() {
        output.paragraph(
            "",
            "no source is a knowledge base; `gatefold knowledge add FOLDER` adds one",
        );
    } else {
        output.lines(&table(&lines, output.style()).lines(output.style()));
    }
    for line in &lines {
        line.base.warn(output);
    }
    for base in &unnamed {
        output.line("");
        output.paragraph("", &base.words());
        let remove = format!("gatefold knowledge remove {}", base.name());
        output
            .paragraph("  ", &format!("`{remove}` deletes it, if no other configuration uses it"));
    }
    Ok(ExitCode::SUCCESS)
}

fn disk_use(folder: &Path) -> anyhow::Result<Option<DiskUse>> {
    KnowledgeBase::disk_use(folder)
        .with_context(|| format!("`{}` cannot be read", folder.display()))
}

fn table(lines: &[BaseLine], style: Style) -> Table {
    let is_encoded = lines.iter().any(|line| count_encoded(&line.counts) > 0);
    let mut heads = vec!["name", "title", "documents", "unreadable", "passages"];
    if is_encoded {
        heads.push("encoded");
    }
    heads.extend(["size", "changed"]);
    let numbers: Vec<usize> = (2..heads.len() - 1).collect();
    let mut table = Table::new(&heads).numbers(&numbers).spare(&[heads.len() - 1, 1, 4]);
    for BaseLine { base, counts, on_disk } in lines {
        let mut row = vec![
            style.strong(&base.configured.name),
            base.configured.title().unwrap_or_default().to_owned(),
            grouped(counts.documents),
            if counts.faults > 0 { style.bad(&grouped(counts.faults)) } else { "0".to_owned() },
            grouped(counts.chunks),
        ];
        if is_encoded {
            row.push(format!("{} %", count_encoded(counts) * 100 / counts.chunks.max(1)));
        }
        row.push(on_disk.map(|own| size_words(own.bytes)).unwrap_or_default());
        row.push(on_disk.map(|own| own.changed.to_string()).unwrap_or_default());
        table.row(row);
    }
    table
}

/// How many chunks the encoder has read.
fn count_encoded(counts: &BaseCounts) -> usize {
    counts.chunks.saturating_sub(counts.chunks_to_encode)
}

fn base_as_json(line: &BaseLine) -> Value {
    let BaseLine { base, counts, on_disk } = line;
    let configured = &base.configured;
    json!({
        "name": configured.name,
        "domain": configured.domain().as_str(),
        "title": configured.title(),
        "documents": counts.documents,
        "unreadable": counts.faults,
        "unread_files": base.unread.as_ref().map_or(0, |unread| unread.count),
        "passages": counts.chunks,
        "encoded_passages": count_encoded(counts),
        "past_versions": counts.past_versions,
        "past_bytes": counts.past_bytes,
        "folder": configured.folder(),
        "bytes": on_disk.map(|own| own.bytes),
        "changed": on_disk.map(|own| own.changed),
    })
}

impl UnnamedBase {
    pub(super) async fn look(folder: PathBuf) -> anyhow::Result<Self> {
        let on_disk = disk_use(&folder)?;
        let path = folder.clone();
        let settings = BaseSettings::default();
        let counts = spawn_blocking(move || KnowledgeBase::open(&path, settings)?.counts());
        Ok(Self { folder, on_disk, counts: counts.await? })
    }

    /// The folder's own name.
    pub(super) fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// "`handbook-0a1b2c3d4e5f` is not in this configuration: 12 documents, ..."
    pub(super) fn words(&self) -> String {
        let size = self.on_disk.map(|own| size_words(own.bytes)).unwrap_or_default();
        let what = match &self.counts {
            Ok(counts) => format!(
                "{}, {}, {size}",
                number_of(counts.documents, "document"),
                number_of(counts.past_versions, "past version")
            ),
            Err(error) => format!("{size}; {error}"),
        };
        format!("`{}` is not in this configuration: {what}", self.name())
    }

    fn as_json(&self) -> Value {
        let counts = self.counts.as_ref().ok();
        json!({
            "name": self.name(),
            "folder": self.folder,
            "documents": counts.map(|counts| counts.documents),
            "past_versions": counts.map(|counts| counts.past_versions),
            "bytes": self.on_disk.map(|own| own.bytes),
            "changed": self.on_disk.map(|own| own.changed),
            "error": self.counts.as_ref().err().map(ToString::to_string),
        })
    }
}

pub(super) async fn documents(
    it: &ListDocuments,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    let base = ConfiguredBases::load(shared, environment)?.choose_one(it.base.as_deref())?;
    for base in opening::open(vec![base], output).await? {
        let documents = base.with(KnowledgeBase::documents).await?;
        if output.is_json() {
            let documents: Vec<_> = documents.iter().map(document_as_json).collect();
            let unread = base.unread.as_ref().map_or(0, |unread| unread.count);
            let name = &base.configured.name;
            output.json(&json!({ "name": name, "documents": documents, "unread_files": unread }));
            continue;
        }
        if documents.is_empty() {
            output.line("it has no documents");
        } else {
            output.lines(&documents_table(&documents, output.style()).lines(output.style()));
        }
        base.warn(output);
    }
    Ok(ExitCode::SUCCESS)
}

fn documents_table(documents: &[DocumentSummary], style: Style) -> Table {
    let heads = ["document", "title", "state", "version", "size", "reason"];
    let mut table = Table::new(&heads).numbers(&[4]).spare(&[1, 3, 4]);
    for document in documents {
        let state = state_words(document);
        table.row([
            style.strong(&document.name),
            document.title.clone(),
            if document.version.is_some() { state } else { style.bad(&state) },
            document.version.map(|version| version.to_string()).unwrap_or_default(),
            size_words(document.bytes),
            document.reason.clone(),
        ]);
    }
    table
}

fn document_as_json(document: &DocumentSummary) -> Value {
    json!({
        "name": document.name,
        "title": document.title,
        "state": document.state,
        "reason": document.reason,
        "version": document.version.map(|version| version.to_string()),
        "bytes": document.bytes,
        "modified": document.modified,
        "passages": document.chunks,
    })
}
