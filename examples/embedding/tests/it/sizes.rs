use std::path::Path;

/// The longest a part of the example may be, in lines.
const PART_LINES: usize = 149;

#[test]
fn each_part_fits_on_a_page() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= PART_LINES, "{} has {lines} lines", file.display());
    }
}
