//! The encoder over a real model, in the folder that `GATEFOLD_ENCODER` names: the reference
//! model's `model.onnx` and `vocab.txt`. Without it these tests are listed as ignored.

#![expect(clippy::unwrap_used, reason = "these are tests without the standard harness")]

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::OnceLock;

use gatefold_encoder::Model;
use libtest_mimic::{Arguments, Trial};

mod claims;

/// The model is opened once for all claims.
struct OpenedModel {
    folder: PathBuf,
    model: Model,
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    #[expect(clippy::disallowed_methods, reason = "the path of an external model")]
    let folder = std::env::var_os("GATEFOLD_ENCODER").map(PathBuf::from);
    let trial = |(name, claim): &(&'static str, fn(&OpenedModel))| {
        let (claim, folder) = (*claim, folder.clone());
        let ignored = folder.is_none();
        let run = move || {
            claim(given(folder.unwrap_or_default()));
            Ok(())
        };
        Trial::test(*name, run).with_ignored_flag(ignored)
    };
    let trials = claims::ALL.iter().map(trial).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn given(folder: PathBuf) -> &'static OpenedModel {
    static GIVEN: OnceLock<OpenedModel> = OnceLock::new();
    GIVEN.get_or_init(|| OpenedModel { model: Model::open(&folder).unwrap(), folder })
}
