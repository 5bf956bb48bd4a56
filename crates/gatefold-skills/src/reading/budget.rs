use super::links::LinkFault;
use crate::folder::{FolderEntry, OpenFolder, ReadError};
use crate::limits::{ENTRIES, FINDINGS, FOLDER_ENTRIES, FOLDERS, TOTAL_BYTES};
use crate::{Finding, Severity};

/// What may still be looked at, and what was found to be wrong.
#[derive(Debug)]
pub(super) struct ReadingBudget {
    pub(super) bytes_left: u64,
    folders_left: usize,
    entries_left: usize,
    findings: Vec<Finding>,
    left_out_links: usize,
}

impl ReadingBudget {
    pub(super) fn new() -> Self {
        Self {
            bytes_left: TOTAL_BYTES,
            folders_left: FOLDERS,
            entries_left: ENTRIES,
            findings: Vec::new(),
            left_out_links: 0,
        }
    }

    /// Whether another folder may be looked into.
    pub(super) fn has_folder(&self) -> bool {
        self.folders_left > 0
    }

    /// A folder and its entries.
    pub(super) fn look_into(
        &mut self,
        folder: Result<OpenFolder, ReadError>,
    ) -> Result<(OpenFolder, Vec<FolderEntry>), ReadError> {
        let folder = folder?;
        let entries = folder.entries(FOLDER_ENTRIES.min(self.entries_left))?;
        self.folders_left = self.folders_left.saturating_sub(1);
        self.entries_left -= entries.len();
        Ok((folder, entries))
    }

    /// Notes a finding. After the first [`FINDINGS`], only faults are: the reason why a skill is not
    /// offered is never lost.
    pub(super) fn note(&mut self, finding: Finding) {
        if self.findings.len() < FINDINGS || finding.is_fault() {
            self.findings.push(finding);
        }
    }

    /// Notes a link that is not followed. `severity` says whether a skill is missing for it.
    pub(super) fn leave_out_link(&mut self, path: &str, fault: &LinkFault, severity: Severity) {
        self.left_out_links += 1;
        let message = format!("left out: {fault}");
        self.note(Finding { severity, ..Finding::warning(path, None, message) });
    }

    pub(super) fn left_out_links(&self) -> usize {
        self.left_out_links
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}
