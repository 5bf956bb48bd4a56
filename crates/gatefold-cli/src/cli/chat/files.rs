//! Files and images that go with a message.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use gatefold_agent::fits_journal;
use gatefold_catalog::media_type;
use gatefold_core::ToolId;
use gatefold_model::{ContentError, Image, UserMessage, UserPart};
use rustix::fs::OFlags;

use crate::cli::failure::{usage_with_help, with_help};
use crate::cli::visible::on_one_line;

use super::tools::ChatTools;
use super::world::World;

/// The most files of one message.
pub(super) const FILES: usize = 20;

/// The largest file, in bytes: as much as is kept of a result.
const FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The longest name that a model is told, in characters.
const NAME: usize = 120;

/// What some editors begin a text with.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What kept files are called where results have the name of their tool.
const FILE: &str = "file";

/// A file as a message holds it.
pub(super) struct AttachedFile {
    /// What people are told of it.
    pub(super) summary: String,
    /// At most two: an image has its name before it.
    parts: Vec<UserPart>,
}

/// The message with a text and files. Fails if it is more than a conversation keeps.
pub(super) fn compose(text: &str, files: &[AttachedFile]) -> anyhow::Result<UserMessage> {
    let parts = files.iter().flat_map(|file| file.parts.iter().cloned());
    let message = UserMessage::new(std::iter::once(UserPart::Text(text.to_owned())).chain(parts))?;
    if !fits_journal(&message) {
        return Err(with_help(
            "the message is larger than the 6 MiB that a conversation keeps of one",
            "send fewer files with it, or smaller images",
        ));
    }
    Ok(message)
}

/// Reads files for one message.
pub(super) async fn attach_all(
    paths: &[PathBuf],
    world: &World,
    tools: &ChatTools<'_>,
) -> anyhow::Result<Vec<AttachedFile>> {
    if paths.len() > FILES {
        return Err(too_many());
    }
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        files.push(attach(path, world, tools).await?);
    }
    Ok(files)
}

/// Reads a file for the next message: an image as such, a short text whole, and of a long one a preview
/// whose rest the model reads on in like in a result.
pub(super) async fn attach(
    path: &Path,
    world: &World,
    tools: &ChatTools<'_>,
) -> anyhow::Result<AttachedFile> {
    let shown = on_one_line(&path.to_string_lossy());
    let file = world.path(path);
    let bytes = tokio::task::spawn_blocking(move || read(&file)).await?;
    let bytes = bytes.with_context(|| format!("`{shown}` cannot be read"))?;
    let bytes = bytes.map_err(|fault| with_help(format!("`{shown}` {}", fault.0), fault.1))?;
    let name = on_one_line(&path.file_name().unwrap_or_default().to_string_lossy());
    let name: String = name.replace('`', "'").chars().take(NAME).collect();
    let size = bytes.len();
    if let Some(media_type) = image_type(&bytes) {
        let image =
            Image::new(media_type, bytes.into()).map_err(|error| image_fault(&shown, &error))?;
        let title = UserPart::Text(format!("The image `{name}`:"));
        let summary = format!("`{name}`, an image of {size} bytes");
        return Ok(AttachedFile { summary, parts: vec![title, UserPart::Image(image)] });
    }
    let document = world.app.document_text(&world.app.local_user(), &name, &bytes).await;
    let (kind, text) = match document {
        Some(read) => {
            let read = read.with_context(|| format!("`{shown}` cannot be read"))?;
            let article = if read.format.starts_with('X') { "an" } else { "a" };
            (format!("{article} {}", read.format), read.text)
        }
        None => ("a text".to_owned(), text_of(bytes).ok_or_else(|| not_readable(&shown))?),
    };
    let whole = text.len();
    let text = tools.surface.shorten_text(text, ToolId::new(FILE)).await;
    let mut text = text.map_err(|error| anyhow::anyhow!(error))?;
    let mut summary = format!("`{name}`, {kind} of {size} bytes");
    let head = format!("The file {summary}");
    if text.len() != whole {
        text.push_str("\n\nOnce its handle has expired, ask for the file again.");
        summary.push_str(", of which the model sees a preview");
    }
    let text = format!("{head}:\n\n{text}\n\nThe file `{name}` ends here.");
    Ok(AttachedFile { summary, parts: vec![UserPart::Text(text)] })
}

/// Why a file is not taken, and what to do.
struct FileFault(&'static str, &'static str);

/// Reads a file. What is no plain file may wait, act or never end, so it is not even opened.
fn read(path: &Path) -> io::Result<Result<Vec<u8>, FileFault>> {
    if let Some(fault) = fault_of(&path.metadata()?) {
        return Ok(Err(fault));
    }
    // A pipe that takes the file's place must not hold us up.
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)?;
    let before = file.metadata()?;
    if let Some(fault) = fault_of(&before) {
        return Ok(Err(fault));
    }
    let mut bytes = Vec::new();
    (&file).take(FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if has_changed(&file, &before, bytes.len())? {
        return Ok(Err(FileFault("changed while it was read", "try again once it is written")));
    }
    Ok(Ok(bytes))
}

fn fault_of(metadata: &Metadata) -> Option<FileFault> {
    if metadata.is_dir() {
        return Some(FileFault("is a folder", "name a file in it"));
    }
    if !metadata.is_file() {
        return Some(FileFault("is no plain file", "copy what it gives into a file"));
    }
    match metadata.len() {
        0 => Some(FileFault("is empty", "name a file that holds something")),
        bytes if bytes > FILE_BYTES => {
            Some(FileFault("is larger than 16 MiB", "send a part of it, or have a tool read it"))
        }
        _ => None,
    }
}

fn has_changed(file: &File, before: &Metadata, bytes: usize) -> io::Result<bool> {
    let after = file.metadata()?;
    let is_same = after.len() == before.len() && after.modified()? == before.modified()?;
    Ok(!is_same || bytes as u64 != after.len())
}

/// The type of an image that models take, by its first bytes.
fn image_type(bytes: &[u8]) -> Option<&'static str> {
    media_type(bytes).filter(|media_type| media_type.starts_with("image/"))
}

/// What a file says that is a text.
fn text_of(bytes: Vec<u8>) -> Option<String> {
    let mut text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    if text.starts_with(BYTE_ORDER_MARK) {
        text.remove(0);
    }
    Some(text)
}

fn not_readable(shown: &str) -> anyhow::Error {
    with_help(
        format!(
            "`{shown}` is neither text in UTF-8 nor a document nor an image of a kind that models take"
        ),
        "save it as one of these: text, PDF, DOCX, PPTX, XLSX, PNG, JPEG, GIF or WebP",
    )
}

fn image_fault(shown: &str, error: &ContentError) -> anyhow::Error {
    with_help(format!("`{shown}`: {error}"), "make the image smaller")
}

/// That a message would have more files than it may.
pub(super) fn too_many() -> anyhow::Error {
    usage_with_help(
        format!("a message has at most {FILES} files"),
        "send the others with the next message",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_known_by_its_first_bytes() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n..."[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a.", Some("image/gif")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\x10\0\0\0WAVEfmt ", None),
            (b"GIF is a format", None),
            (b"", None),
        ] {
            assert_eq!(image_type(bytes), expected, "{bytes:?}");
        }
    }
}
