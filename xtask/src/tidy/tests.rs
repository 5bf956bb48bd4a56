use super::sources_faults;

/// Writes a crate with these files, and compares the first lines of the faults found in it.
fn check(files: &[(&str, &str)], expected: &[&str]) {
    check_crate("a", files, expected);
}

fn check_crate(name: &str, files: &[(&str, &str)], expected: &[&str]) {
    let workspace = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = workspace.path().join("crates").join(name).join("src").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let faults = sources_faults(workspace.path()).unwrap();
    let first_lines: Vec<_> = faults.iter().filter_map(|fault| fault.lines().next()).collect();
    assert_eq!(first_lines, expected, "{files:#?}");
}

#[test]
fn siblings_in_a_circle_are_found() {
    let circle = ["a: modules in a circle: `crate::x`, `crate::y`"];
    let lib = ("lib.rs", "mod x;\nmod y;\n");
    check(&[lib, ("x.rs", "use crate::y::Y;\npub struct X;"), ("y.rs", "pub struct Y;")], &[]);
    check(
        &[lib, ("x.rs", "use crate::y::Y;\npub struct X;"), ("y.rs", "pub struct Y(super::x::X);")],
        &circle,
    );
    let called = "pub struct Y;\npub fn y() { println!(\"{}\", 1 + crate::x::x()) }";
    check(&[lib, ("x.rs", "use crate::y;\npub fn x() -> u8 { 0 }"), ("y.rs", called)], &circle);
}

#[test]
fn a_re_export_counts_as_what_it_leads_to() {
    let lib = ("lib.rs", "mod x;\nmod y;\npub use x::X;\npub use y::Y as Why;\n");
    let files =
        [lib, ("x.rs", "pub struct X(crate::Why);"), ("y.rs", "use super::X;\npub struct Y;")];
    check(&files, &["a: modules in a circle: `crate::x`, `crate::y`"]);
}

#[test]
fn a_use_from_deep_inside_counts_between_the_branches() {
    check(
        &[
            ("lib.rs", "mod x;\nmod y;\n"),
            ("x.rs", "mod deep;\npub struct X;"),
            ("x/deep.rs", "use crate::y::Y;"),
            ("y.rs", "use crate::x::X;\npub struct Y;"),
        ],
        &["a: modules in a circle: `crate::x`, `crate::y`"],
    );
}

#[test]
fn parents_children_and_tests_make_no_circle() {
    check(
        &[
            ("lib.rs", "mod x;\npub struct Root(x::X);\nmod y;\n#[cfg(test)]\nmod tests;\n"),
            ("x.rs", "use crate::Root;\nmod child;\npub use child::Child;\npub struct X;"),
            ("x/child.rs", "use super::X;\npub struct Child(X);"),
            (
                "y.rs",
                "use crate::x::X;\npub struct Y;\n#[cfg(test)]\nmod tests { use crate::Root; }",
            ),
            ("tests.rs", "use crate::y::Y;"),
        ],
        &[],
    );
    let tested = "#[cfg(test)]\nuse crate::y::Y;\npub struct X;";
    let files =
        [("lib.rs", "mod x;\nmod y;"), ("x.rs", tested), ("y.rs", "use crate::x::X;\nstruct Y;")];
    check(&files, &[]);
}

#[test]
fn a_type_name_is_declared_once() {
    let twice = "a: type `State` is declared 2 times: crates/a/src/lib.rs:2, crates/a/src/x.rs:1";
    check(&[("lib.rs", "mod x;\nstruct State;"), ("x.rs", "enum State {}")], &[twice]);
    check(&[("lib.rs", "mod x;\nstruct State;"), ("x.rs", "fn f() { struct State; }")], &[]);
    let tested = "#[cfg(test)]\nmod tests { struct State; }";
    check(&[("lib.rs", "mod x;\nstruct State;"), ("x.rs", tested)], &[]);
    check(&[("lib.rs", "#[cfg(unix)]\nstruct State;\n#[cfg(not(unix))]\nstruct State;")], &[]);
}

#[test]
fn a_shared_collection_names_a_bound_that_its_module_uses() {
    let fault =
        "a: shared HashMap `S::open` names no bound (`at most [LIMIT]`): crates/a/src/lib.rs:1";
    check(&[("lib.rs", "struct S { open: Mutex<HashMap<u8, u8>>, other: u8 }")], &[fault]);
    let bounded = "const LIMIT: usize = 1;\nstruct S {\n/// Ids, at\n/// most [`LIMIT`].\nopen: Mutex<HashMap<u8, u8>>, b: u8 }";
    let unused = "a: shared HashMap `S::open` names `LIMIT`, which this module does not use: crates/a/src/lib.rs:5";
    check(&[("lib.rs", bounded)], &[unused]);
    let used = format!("{bounded}\nfn f() -> usize {{ LIMIT }}");
    check(&[("lib.rs", &used)], &[]);
}

#[test]
fn a_collection_is_found_within_types_of_the_crate_but_not_behind_what_is_replaced_whole() {
    let fault =
        "a: shared Vec `State::queue` names no bound (`at most [LIMIT]`): crates/a/src/x.rs:1";
    let state = "pub struct State { queue: Vec<u8>, b: u8 }";
    check(
        &[("lib.rs", "mod x;\nuse x::State;\nstruct S(Arc<Mutex<State>>);"), ("x.rs", state)],
        &[fault],
    );
    check(
        &[("lib.rs", "mod x;\nuse x::State;\nstruct S(Mutex<Arc<State>>);"), ("x.rs", state)],
        &[],
    );
    let statics = "static LIVING: Mutex<Vec<u8>> = Mutex::new(Vec::new());";
    let fault = "a: shared Vec `LIVING` names no bound (`at most [LIMIT]`): crates/a/src/lib.rs:1";
    check(&[("lib.rs", statics)], &[fault]);
    let fault =
        "a: shared DashMap `S::0` names no bound (`at most [LIMIT]`): crates/a/src/lib.rs:1";
    check(&[("lib.rs", "struct S(DashMap<u8, u8>);")], &[fault]);
}

#[test]
fn an_unbounded_channel_is_never_fine() {
    let fault = |path: &str| format!("a: unbounded channel `{path}`: crates/a/src/lib.rs:2");
    check(
        &[("lib.rs", "use tokio::sync::mpsc;\nfn f() { mpsc::unbounded_channel::<u8>(); }")],
        &[&fault("mpsc::unbounded_channel")],
    );
    check(
        &[("lib.rs", "use std::sync::mpsc;\nfn f() { mpsc::channel::<u8>(); }")],
        &[&fault("mpsc::channel")],
    );
    check(&[("lib.rs", "use tokio::sync::mpsc;\nfn f() { mpsc::channel::<u8>(1); }")], &[]);
}

#[test]
fn a_setting_that_nothing_reads_is_found() {
    let config = "mod kinds;\npub struct Config {\n    pub used: u8,\n    pub taken: u8,\n    pub said: u8,\n    \
                  pub idle: u8,\n    own: u8,\n}\npub fn shown(config: &Config) -> u8 { config.idle }\n";
    let app = "use crate::config::Config;\npub fn build(config: Config) -> u8 {\n    let used = config.used;\n    \
               println!(\"{}\", config.said);\n    let Config { taken, .. } = config;\n    used + taken\n}\n";
    let kinds = "pub struct Kind { pub built: u8 }\n";
    let files = [
        ("lib.rs", "pub mod app;\npub mod config;\n"),
        ("config.rs", config),
        ("config/kinds.rs", kinds),
        ("app.rs", app),
    ];
    let fault =
        "gatefold: nothing reads the setting `Config::idle`: crates/gatefold/src/config.rs:6";
    check_crate("gatefold", &files, &[fault]);
    check_crate("other", &files, &[]);
}
