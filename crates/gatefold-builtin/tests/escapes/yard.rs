//! A folder for the tools, and what is beside it.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gatefold_builtin::{
    BuiltinCall, BuiltinName, BuiltinPorts, BuiltinSettings, FolderSettings, FolderWrites,
    PathResolution, Toolbox,
};
use gatefold_core::{Principal, SystemClock};
use gatefold_dispatch::NoPeer;
use gatefold_egress::{Egress, Settings};
use gatefold_worker::{WorkerPool, WorkerProgram, WorkerSettings};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::nothing::{NoNotes, NoResults};

/// What no answer may hold.
pub(crate) const SECRET: &str = "TOP-SECRET";

/// What nobody may write outside.
pub(crate) const WRITTEN: &str = "WRITTEN-BY-A-MODEL";

/// How long a call may take, on a machine that is busy.
const SOON: Duration = Duration::from_secs(10);

pub(crate) struct Yard {
    scratch: TempDir,
    tools: Toolbox,
    runtime: tokio::runtime::Runtime,
}

impl Yard {
    pub(crate) fn new(resolution: PathResolution) -> Self {
        let scratch = TempDir::new().unwrap();
        let (folder, outside) = (scratch.path().join("folder"), scratch.path().join("outside"));
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::create_dir_all(outside.join("deep")).unwrap();
        std::fs::write(folder.join("a.txt"), "inside\n").unwrap();
        std::fs::write(folder.join("sub/b.txt"), "inside\n").unwrap();
        for name in ["secret.txt", "f.txt", "deep/secret.txt"] {
            std::fs::write(outside.join(name), format!("{SECRET}\n")).unwrap();
        }
        let folder = FolderSettings { path: folder, writes: FolderWrites::Allow, resolution };
        let settings = BuiltinSettings {
            names: [BuiltinName::Files].into(),
            folder: Some(folder),
            ..BuiltinSettings::default()
        };
        let tools = Toolbox::new(
            &settings,
            &BuiltinPorts {
                clock: Arc::new(SystemClock),
                notes: Arc::new(NoNotes),
                results: Arc::new(NoResults),
                egress: Egress::new(Settings::default()).unwrap(),
                workers: WorkerPool::new(WorkerSettings::new(WorkerProgram::this().ok())),
            },
        );
        let runtime = tokio::runtime::Runtime::new().unwrap();
        Self { scratch, tools, runtime }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.scratch.path().join("folder")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.scratch.path().join("outside")
    }

    /// What a caller reads, or the error.
    pub(crate) fn call(&self, tool: &str, arguments: &Value) -> Result<String, String> {
        let call = BuiltinCall {
            arguments: arguments.to_string(),
            principal: Arc::new(Principal::local()),
            peer: Arc::new(NoPeer),
            client: None,
            deadline: tokio::time::Instant::now() + SOON,
        };
        let start = Instant::now();
        let answer = self.runtime.block_on(self.tools.answer(tool, &call));
        assert!(start.elapsed() < SOON, "{tool} {arguments}: {:?}", start.elapsed());
        let said = match answer {
            Ok(answer) => Ok(format!("{}\n{}", answer.text, answer.structured)),
            Err(error) => Err(error.to_string()),
        };
        assert!(!format!("{said:?}").contains(SECRET), "{tool} {arguments}: {said:?}");
        said
    }

    /// Everything that a tool can do with a path.
    pub(crate) fn calls(path: &str) -> Vec<(&'static str, Value)> {
        let edits = json!([{ "old": "TOP", "new": WRITTEN }, { "old": "inside", "new": WRITTEN }]);
        // The first fits nowhere and would show what is there instead.
        let diff = "@@ -1 +1 @@\n-nothing\n+nothing\n";
        let added = format!("@@ -0,0 +1 @@\n+{WRITTEN}\n");
        let made = format!("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+{WRITTEN}\n");
        vec![
            ("read_file", json!({ "path": path })),
            ("list_files", json!({ "path": path })),
            ("find_files", json!({ "pattern": "**", "path": path })),
            ("search_files", json!({ "pattern": ".", "path": path })),
            ("patch_file", json!({ "path": path, "edits": [edits[0]] })),
            ("patch_file", json!({ "path": path, "diff": diff })),
            ("patch_file", json!({ "path": path, "diff": added })),
            ("patch_file", json!({ "path": path, "diff": made })),
            ("write_file", json!({ "path": path, "content": WRITTEN })),
            ("write_file", json!({ "path": path, "content": WRITTEN, "overwrite": true })),
            ("write_file", json!({ "path": format!("{path}/new.txt"), "content": WRITTEN })),
        ]
    }

    /// What is outside, to the last detail that a write would change.
    pub(crate) fn state(&self) -> BTreeMap<PathBuf, String> {
        let mut state = BTreeMap::new();
        let mut waiting = vec![self.scratch.path().to_owned()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path == self.folder() {
                    continue;
                }
                let about = path.symlink_metadata().unwrap();
                if about.is_dir() {
                    waiting.push(path.clone());
                }
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let shown = format!("{:o} {} {} {text}", about.mode(), about.ino(), about.size());
                state.insert(path, shown);
            }
        }
        state
    }
}

/// A file of the system's that is there before and after.
pub(crate) fn system_file() -> (&'static Path, Vec<u8>) {
    let path = Path::new("/etc/passwd");
    (path, std::fs::read(path).unwrap())
}
