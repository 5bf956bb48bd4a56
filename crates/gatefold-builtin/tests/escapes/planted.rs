//! Things that somebody put into the folder.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use gatefold_builtin::PathResolution;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::yard::{Yard, system_file};

/// A link's name, and where it points. `OUT` stands for the folder outside.
const LINKS: [(&str, &str); 22] = [
    ("file", "OUT/secret.txt"),
    ("relative", "../outside/secret.txt"),
    ("out", "OUT"),
    ("up", ".."),
    ("here", "."),
    ("root", "/"),
    ("passwd", "/etc/passwd"),
    ("proc_root", "/proc/self/root"),
    ("proc_cwd", "/proc/self/cwd"),
    ("environ", "/proc/self/environ"),
    ("descriptor", "/proc/self/fd/0"),
    ("mem", "/proc/self/mem"),
    ("zero", "/dev/zero"),
    ("null", "/dev/null"),
    ("tty", "/dev/tty"),
    ("chain", "file"),
    ("loop", "loop"),
    ("dangling", "OUT/made-by-a-link.txt"),
    ("dangling_folder", "OUT/made-by-a-link"),
    ("sub/out", "../../outside"),
    ("..data", "../outside"),
    ("long", "././././././././././././././././././../outside"),
];

/// What is asked for, of the links and of what is behind them.
const BEHIND: [&str; 14] = [
    "out/secret.txt",
    "out/",
    "out/.",
    "out/deep/secret.txt",
    "up/outside/secret.txt",
    "root/etc/passwd",
    "proc_root/etc/passwd",
    "proc_cwd/Cargo.toml",
    "sub/out/secret.txt",
    "..data/secret.txt",
    "here/out/secret.txt",
    "here/a.txt",
    "dangling_folder/new.txt",
    "long/secret.txt",
];

/// What is no link and must not be used either.
const OTHERS: [&str; 5] = ["hard", "sub/hard", "pipe", "socket", "device"];

pub(crate) fn nothing_planted_leads_out(resolution: PathResolution) {
    let yard = Yard::new(resolution);
    let (folder, outside) = (yard.folder(), yard.outside());
    for (name, target) in LINKS {
        let target = target.replace("OUT", outside.to_str().unwrap());
        symlink(target, folder.join(name)).unwrap();
    }
    std::fs::hard_link(outside.join("f.txt"), folder.join("hard")).unwrap();
    std::fs::hard_link(outside.join("secret.txt"), folder.join("sub/hard")).unwrap();
    mknodat(CWD, folder.join("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _socket = UnixListener::bind(folder.join("socket")).unwrap();
    plant_device(&folder);
    let (before, passwd) = (yard.state(), system_file());
    let links = LINKS.iter().map(|(name, _)| *name);
    for path in links.chain(BEHIND).chain(OTHERS) {
        for (tool, arguments) in Yard::calls(path) {
            let said = yard.call(tool, &arguments);
            assert!(said.is_err(), "{tool} {arguments}: {said:?}");
        }
        assert_eq!(yard.state(), before, "{path}");
    }
    walks_stay_inside(&yard);
    assert_eq!(yard.state(), before);
    assert_eq!(system_file(), passwd);
}

/// A device that never ends, where the test may make one.
fn plant_device(folder: &Path) {
    let zero = rustix::fs::makedev(1, 5);
    let mode = Mode::from_raw_mode(0o666);
    if mknodat(CWD, folder.join("device"), FileType::CharacterDevice, mode, zero).is_err() {
        mknodat(CWD, folder.join("device"), FileType::Fifo, mode, 0).unwrap();
    }
}

/// What looks at everything finds the links and follows none, reads no pipe, and passes over names that
/// cannot be written in JSON and a file that claims to have a terabyte.
fn walks_stay_inside(yard: &Yard) {
    let folder = yard.folder();
    File::create(folder.join("vast.txt")).unwrap().set_len(1 << 40).unwrap();
    std::fs::write(folder.join(OsStr::from_bytes(b"\xff\xfe")), "inside").unwrap();
    std::fs::write(folder.join("line\nbreak"), "inside").unwrap();
    let found = yard.call("find_files", &serde_json::json!({ "pattern": "**" })).unwrap();
    assert_eq!(found.lines().take(3).collect::<Vec<_>>(), ["a.txt", "hard", "vast.txt"]);
    let searched = yard.call("search_files", &serde_json::json!({ "pattern": "." })).unwrap();
    assert!(searched.starts_with("a.txt:1: inside\nsub/b.txt:1: inside\n{"), "{searched}");
    let listed = yard.call("list_files", &serde_json::json!({})).unwrap();
    assert!(listed.contains("out\t(link)\n") && listed.contains("pipe\t(special)\n"), "{listed}");
    let vast = yard.call("read_file", &serde_json::json!({ "path": "vast.txt" }));
    assert_eq!(vast.unwrap_err(), "`vast.txt` is larger than the limit: 10485760 bytes");
}
