use std::fs;

use super::*;

/// SHA-256 of `net` and of `words`.
const TINY: Reference = Reference {
    name: "tiny",
    model: ReferenceFile {
        name: MODEL_FILE,
        package: "net-wheel",
        version: "1.0",
        member: "net/model.onnx",
        bytes: 3,
        sha256: "a08a0fcbdeafd3c1b3a4b495b9a9c9d96850f08946b52bc0622347d3b6e73b78",
        licence: "MIT",
        package_licence: "MIT",
    },
    vocabulary: ReferenceFile {
        name: VOCABULARY_FILE,
        package: "words-wheel",
        version: "2.0",
        member: "words/in/vocab.txt",
        bytes: 5,
        sha256: "dba36bffa5cab0f922d087a3aeb179f9d4e745df40b323e1b1471402848c8a3e",
        licence: "MIT",
        package_licence: "MIT",
    },
};

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn wheel(&self, name: &str, members: &[(&str, &str)]) -> PathBuf {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (member, content) in members {
            let options = zip::write::SimpleFileOptions::default()
                .compression_method(zip::CompressionMethod::Deflated);
            zip.start_file(*member, options).unwrap();
            zip.write_all(content.as_bytes()).unwrap();
        }
        self.file(name, &zip.finish().unwrap().into_inner())
    }

    /// What an installation reports, and what the folder holds afterwards.
    fn install(&self, paths: &[PathBuf]) -> (String, Vec<String>) {
        let folder = self.path("model");
        let told = match install_of(&TINY, paths, &folder) {
            Ok(()) => {
                verify_of(&TINY, &folder).unwrap();
                "installed".to_owned()
            }
            Err(error) => error.to_string().replace(self.folder.path().to_str().unwrap(), "."),
        };
        let mut names: Vec<String> = fs::read_dir(&folder)
            .map(|entries| entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()))
            .map(Iterator::collect)
            .unwrap_or_default();
        names.sort();
        (told, names)
    }
}

/// Installs from what `lay` makes. A refusal leaves nothing behind.
#[track_caller]
fn check_install(lay: impl Fn(&Place) -> Vec<PathBuf>, expected: &str) {
    let place = Place::new();
    let (told, names) = place.install(&lay(&place));
    assert!(told.contains(expected), "{told}");
    let all = if told == "installed" { vec![MODEL_FILE, VOCABULARY_FILE] } else { vec![] };
    assert_eq!(names, all);
}

fn net(place: &Place) -> PathBuf {
    place.wheel("net.whl", &[("net/__init__.py", "x"), ("net/model.onnx", "net")])
}

fn words(place: &Place) -> PathBuf {
    place.wheel("words.whl", &[("words/in/vocab.txt", "words")])
}

#[test]
fn wheels_files_and_folders_install() {
    check_install(|place| vec![net(place), words(place)], "installed");
    check_install(|place| vec![net(place), place.file("vocab.txt", b"words")], "installed");
    check_install(
        |place| {
            place.file("some/model.onnx", b"net");
            place.wheel("some/words.whl", &[("words/in/vocab.txt", "words")]);
            place.file("some/unrelated.txt", b"x");
            vec![place.path("some")]
        },
        "installed",
    );
}

#[test]
fn a_right_file_is_found_behind_a_wrong_one() {
    let lay = |place: &Place| vec![place.file("a/vocab.txt", b"wrong"), words(place), net(place)];
    check_install(lay, "installed");
}

#[test]
fn a_missing_file_is_named() {
    check_install(
        |_| vec![],
        "`model.onnx` is in none of the given paths: give the wheel of `net-wheel` 1.0",
    );
    check_install(|place| vec![net(place)], "`vocab.txt` is in none of the given paths");
    check_install(|place| vec![place.path("no.whl")], "`./no.whl` could not be read");
}

#[test]
fn what_differs_is_refused_before_anything_is_written() {
    let expected = "`./words.whl` is not the `vocab.txt` of `words-wheel` 2.0: expected 5 bytes \
                    with SHA-256 `WORDS`, found ";
    let expected = expected.replace("WORDS", TINY.vocabulary.sha256);
    let check_words = |content: &str, found: &str| {
        let lay = |place: &Place| {
            vec![net(place), place.wheel("words.whl", &[("words/in/vocab.txt", content)])]
        };
        check_install(lay, &format!("{expected}{found}"));
    };
    check_words("wordz", "SHA-256 `");
    check_words("longer words", "12 bytes; download it again");
    let long = |place: &Place| vec![place.file("model.onnx", b"nets"), words(place)];
    check_install(long, "`./model.onnx` is not the `model.onnx` of `net-wheel` 1.0");
}

#[test]
fn a_file_that_is_no_wheel_is_reported_as_none() {
    check_install(
        |place| vec![place.file("net.whl", b"PK nothing")],
        "`./net.whl` is no readable wheel: download `net-wheel` 1.0 again",
    );
}

#[test]
fn too_many_paths_are_refused() {
    check_install(|place| vec![net(place); PATHS + 1], "65 paths were given, more than 64");
}

#[test]
fn a_changed_installation_does_not_verify() {
    let place = Place::new();
    assert_eq!(place.install(&[net(&place), words(&place)]).0, "installed");
    let folder = place.path("model");
    for (content, found) in [("word!", "SHA-256"), ("many words", "10 bytes"), ("", "0 bytes")] {
        fs::write(folder.join(VOCABULARY_FILE), content).unwrap();
        let told = verify_of(&TINY, &folder).unwrap_err().to_string();
        assert!(told.contains(&format!("found {found}")), "{told}");
    }
    fs::remove_file(folder.join(VOCABULARY_FILE)).unwrap();
    assert!(matches!(verify_of(&TINY, &folder), Err(EncoderError::Read { .. })));
}
