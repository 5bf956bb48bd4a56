//! `gatefold knowledge`: the knowledge bases of the configuration. They are worked with on the disk, whether
//! or not a gateway runs.

mod adding;
mod checking;
mod listing;
mod opening;
mod reports;
mod searching;
mod tending;
mod words;

use std::process::ExitCode;

use clap::Subcommand;
use gatefold::Environment;

use super::arguments::{Format, SharedOptions};
use super::output::Output;
use super::stop;
use adding::AddBase;
use checking::{CheckBases, VerifyAnswer};
use listing::{ListBases, ListDocuments};
use searching::SearchBases;
use tending::{RebuildBase, RemoveBase};

pub(super) use reports::{count_documents, read_all};

#[derive(Debug, Subcommand)]
pub(crate) enum Knowledge {
    /// List the knowledge bases, and folders of bases that the configuration does not name
    #[command(after_long_help = "Example:\n  gatefold knowledge list --json")]
    List(ListBases),
    /// List the documents of a base
    #[command(after_long_help = "Example:\n  gatefold knowledge documents handbook")]
    Documents(ListDocuments),
    /// Name the documents that could not be read, and why; exit code 1 if there is one
    #[command(after_long_help = "Example:\n  gatefold knowledge check handbook")]
    Check(CheckBases),
    /// Add a knowledge base: folders and files whose documents models search and quote
    ///
    /// Writes it into `gatefold.toml` and changes nothing else there; without one, begins one. Then reads the
    /// documents.
    #[command(
        after_long_help = "Example:\n  gatefold knowledge add ./handbook --title 'Employee handbook'"
    )]
    Add(AddBase),
    /// Find passages of the documents
    #[command(
        after_long_help = "Example:\n  gatefold knowledge search how much may a hotel cost --top 3"
    )]
    Search(SearchBases),
    /// Check the quotes and citations of an answer; exit code 1 if one is not sound
    ///
    /// A quote is compared byte by byte with what it cites, or looked for in all documents. No model is asked.
    #[command(after_long_help = "Example:\n  gatefold knowledge verify answer.md")]
    Verify(VerifyAnswer),
    /// Make the index of a base anew from its documents
    #[command(after_long_help = "Example:\n  gatefold knowledge rebuild handbook")]
    Rebuild(RebuildBase),
    /// Delete the folder of a base that the configuration does not name, with its past versions
    #[command(after_long_help = "Example:\n  gatefold knowledge remove handbook-0a1b2c3d4e5f")]
    Remove(RemoveBase),
}

impl Knowledge {
    pub(super) fn format(&self) -> &Format {
        match self {
            Self::List(it) => &it.format,
            Self::Documents(it) => &it.format,
            Self::Check(it) => &it.format,
            Self::Add(it) => &it.format,
            Self::Search(it) => &it.format,
            Self::Verify(it) => &it.format,
            Self::Rebuild(it) => &it.format,
            Self::Remove(it) => &it.format,
        }
    }
}

pub(super) async fn run(
    knowledge: &Knowledge,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    stop::unless_stopped(async {
        match knowledge {
            Knowledge::List(_) => listing::list(shared, environment, output).await,
            Knowledge::Documents(it) => listing::documents(it, shared, environment, output).await,
            Knowledge::Check(it) => checking::check(it, shared, environment, output).await,
            Knowledge::Add(it) => adding::add(it, shared, environment, output).await,
            Knowledge::Search(it) => searching::search(it, shared, environment, output).await,
            Knowledge::Verify(it) => checking::verify(it, shared, environment, output).await,
            Knowledge::Rebuild(it) => tending::rebuild(it, shared, environment, output).await,
            Knowledge::Remove(it) => tending::remove(it, shared, environment, output).await,
        }
    })
    .await
}
