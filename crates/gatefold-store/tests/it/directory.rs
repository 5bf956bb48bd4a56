use std::fs;
use std::path::Path;

use gatefold_store::{Store, StoreOptions, examine};
use sqlx::Executor as _;
use tempfile::tempdir;

use crate::fixture::{connect, open};

/// Opens a directory that is expected to be refused; returns why, with the path left out.
async fn refusal(directory: &Path) -> (&'static str, String) {
    let error = Store::open(directory, StoreOptions::default()).await.err().unwrap();
    let shown = error.to_string().replace(directory.to_str().unwrap(), "DIR");
    (error.kind(), shown)
}

#[tokio::test]
async fn a_schema_of_a_newer_gatefold_is_refused() {
    let directory = tempdir().unwrap();
    open(directory.path()).await.close().await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations VALUES (99, 'later', '', true, x'00', 0)";
    connect(directory.path()).await.execute(newer).await.unwrap();
    let (kind, shown) = refusal(directory.path()).await;
    assert_eq!(kind, "newer");
    insta::assert_snapshot!(shown, @"`DIR/gatefold.db` was written by a newer Gatefold (schema 99, this one knows 19); upgrade Gatefold or set another state directory");
}

#[tokio::test]
async fn a_damaged_database_is_refused() {
    let directory = tempdir().unwrap();
    fs::write(directory.path().join("gatefold.db"), "not a database".repeat(500)).unwrap();
    let (kind, shown) = refusal(directory.path()).await;
    assert_eq!(kind, "damaged");
    insta::assert_snapshot!(shown, @"`DIR/gatefold.db` is damaged; move it away and Gatefold makes a new one");
}

#[tokio::test]
async fn a_damaged_key_is_refused() {
    let directory = tempdir().unwrap();
    fs::write(directory.path().join("seal.key"), "short").unwrap();
    let (kind, shown) = refusal(directory.path()).await;
    assert_eq!(kind, "damaged");
    insta::assert_snapshot!(shown, @"`DIR/seal.key` is damaged; move it away and Gatefold makes a new one");
}

#[tokio::test]
async fn a_database_without_one_of_its_tables_is_refused() {
    for table in ["calls", "approvals", "past_changes", "_sqlx_migrations"] {
        let directory = tempdir().unwrap();
        open(directory.path()).await.close().await.unwrap();
        let drop = format!("DROP TABLE {table}");
        connect(directory.path()).await.execute(sqlx::AssertSqlSafe(drop)).await.unwrap();
        let looked = examine(directory.path()).await.unwrap_err();
        assert_eq!(
            (looked.kind(), looked.path()),
            ("damaged", Some(&*directory.path().join("gatefold.db")))
        );
        let (kind, shown) = refusal(directory.path()).await;
        assert_eq!(kind, "damaged", "{table}: {shown}");
    }
}

#[tokio::test]
async fn what_lies_where_a_file_or_folder_belongs_is_refused() {
    for name in ["gatefold.db", "seal.key", "startup.lock"] {
        let directory = tempdir().unwrap();
        fs::create_dir(directory.path().join(name)).unwrap();
        let (kind, shown) = refusal(directory.path()).await;
        let expected =
            format!("`DIR/{name}` is in the way of a file that Gatefold keeps there; move it away");
        assert_eq!((kind, shown), ("misplaced", expected));
        assert_eq!(examine(directory.path()).await.unwrap_err().kind(), "misplaced");
    }
    let directory = tempdir().unwrap();
    fs::write(directory.path().join("owners"), "").unwrap();
    let (_, shown) = refusal(directory.path()).await;
    insta::assert_snapshot!(shown, @"`DIR/owners` is in the way of a folder that Gatefold keeps there; move it away");
}

#[tokio::test]
async fn a_directory_that_cannot_be_written_is_refused() {
    let scratch = tempdir().unwrap();
    let file = scratch.path().join("file");
    fs::write(&file, "").unwrap();
    let (kind, shown) = refusal(&file).await;
    assert_eq!(kind, "unusable");
    insta::assert_snapshot!(shown, @"`DIR` cannot be used: file exists; make it writable for this user or set another state directory");
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_can_read_what_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;

    let scratch = tempdir().unwrap();
    let directory = scratch.path().join("a/b");
    let _store = open(&directory).await;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory), 0o700);
    for name in ["gatefold.db", "gatefold.db-wal", "gatefold.db-shm", "seal.key", "startup.lock"] {
        assert_eq!(mode(&directory.join(name)), 0o600, "{name}");
    }
    assert_eq!(mode(&directory.join("owners")), 0o700);
}

#[cfg(unix)]
#[tokio::test]
async fn what_was_left_open_to_others_is_closed() {
    use std::os::unix::fs::PermissionsExt as _;

    let directory = tempdir().unwrap();
    open(directory.path()).await.close().await.unwrap();
    let path = |name: &str| directory.path().join(name);
    let names =
        [("seal.key", 0o644, 0o600), ("startup.lock", 0o666, 0o600), ("owners", 0o755, 0o700)];
    for (name, left, _) in names {
        fs::set_permissions(path(name), fs::Permissions::from_mode(left)).unwrap();
    }
    open(directory.path()).await.close().await.unwrap();
    for (name, _, expected) in names {
        assert_eq!(
            fs::metadata(path(name)).unwrap().permissions().mode() & 0o777,
            expected,
            "{name}"
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_planted_link_is_not_followed() {
    for name in ["startup.lock", "gatefold.db"] {
        let directory = tempdir().unwrap();
        let target = directory.path().join("mine");
        fs::write(&target, "precious").unwrap();
        let state = directory.path().join("state");
        fs::create_dir(&state).unwrap();
        std::os::unix::fs::symlink(&target, state.join(name)).unwrap();
        assert!(Store::open(&state, StoreOptions::default()).await.is_err(), "{name}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    }
}

#[tokio::test]
async fn the_seal_key_is_made_once_and_at_random() {
    let (one, other) = (tempdir().unwrap(), tempdir().unwrap());
    let key = |directory: &Path| fs::read(directory.join("seal.key")).unwrap();
    open(one.path()).await.close().await.unwrap();
    let first = key(one.path());
    open(one.path()).await;
    open(other.path()).await;
    assert_eq!((first.len(), key(one.path())), (32, first.clone()));
    assert_ne!(first, key(other.path()));
}
