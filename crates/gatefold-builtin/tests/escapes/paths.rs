//! Paths that are meant to lead out.

use gatefold_builtin::PathResolution;

use crate::yard::{Yard, system_file};

/// `OUT` stands for the absolute path of the folder outside.
const PATHS: [&str; 66] = [
    "..",
    "../",
    "../outside",
    "../outside/secret.txt",
    "./../outside/secret.txt",
    ".//..//outside/secret.txt",
    "sub/../../outside/secret.txt",
    "sub/..",
    "sub//../../outside",
    "sub/./../../outside/secret.txt",
    "a.txt/..",
    "a.txt/../../outside/secret.txt",
    "nowhere/../../outside/secret.txt",
    "../folder/../outside/secret.txt",
    "../../../../../../../../etc/passwd",
    "/",
    "//",
    "/etc/passwd",
    "//etc/passwd",
    "OUT/secret.txt",
    "./OUT/secret.txt",
    "OUT/../outside/secret.txt",
    "..%2foutside%2fsecret.txt",
    "%2e%2e/outside/secret.txt",
    "%2e%2e%2foutside%2fsecret.txt",
    "%252e%252e%252foutside",
    "..%c0%afoutside%c0%afsecret.txt",
    "%c0%ae%c0%ae/outside/secret.txt",
    "..%00/outside/secret.txt",
    "\u{ff0e}\u{ff0e}/outside/secret.txt",
    "\u{2025}/outside/secret.txt",
    "..\u{2215}outside\u{2215}secret.txt",
    "..\u{2044}outside\u{2044}secret.txt",
    "..\u{ff0f}outside\u{ff0f}secret.txt",
    "..\\outside\\secret.txt",
    "..\\/outside/secret.txt",
    "sub\\..\\..\\outside",
    "C:\\Windows\\win.ini",
    "C:/Windows/win.ini",
    "\\\\server\\share",
    "file:///etc/passwd",
    "file://../outside/secret.txt",
    "~/secret.txt",
    "~root/secret.txt",
    "$HOME/secret.txt",
    "${PWD}/../outside/secret.txt",
    "$(cat ../outside/secret.txt)",
    "`cat ../outside/secret.txt`",
    "|cat ../outside/secret.txt",
    "a.txt\u{0}/../../outside/secret.txt",
    "../outside/secret.txt\u{0}.txt",
    "\u{0}",
    "..\n/outside/secret.txt",
    "\n../outside/secret.txt",
    "..\t/outside",
    ".. /outside/secret.txt",
    " ../outside/secret.txt",
    "....//outside/secret.txt",
    "..././outside/secret.txt",
    "..;/outside/secret.txt",
    "\u{202e}../outside/secret.txt",
    "\u{feff}../outside/secret.txt",
    "\u{200b}../outside/secret.txt",
    concat!("/proc/self/ro", "ot/etc/passwd"),
    concat!("proc/self/ro", "ot/etc/passwd"),
    "/dev/stdin",
];

pub(crate) fn no_path_leads_out(resolution: PathResolution) {
    let yard = Yard::new(resolution);
    let out = yard.outside();
    let out = out.to_str().unwrap();
    let (before, passwd) = (yard.state(), system_file());
    let deep = "d/".repeat(65);
    let long = [&"x".repeat(256), &"x".repeat(5000), &deep, &"../".repeat(300), &"ä".repeat(128)];
    let long = long.map(String::as_str);
    for path in PATHS.iter().copied().chain(long) {
        let path = path.replace("OUT", out);
        for (tool, arguments) in Yard::calls(&path) {
            let said = yard.call(tool, &arguments);
            // Some of these are names like any other, for new files in the folder.
            let may_be_new = tool == "write_file" && said.is_ok();
            let is_inside =
                tool != "write_file" && said.is_ok() && yard.folder().join(&path).exists();
            assert!(said.is_err() || may_be_new || is_inside, "{tool} {arguments}: {said:?}");
        }
        assert_eq!(yard.state(), before, "{path:?}");
    }
    // Those that are written with other letters made folders of these names inside.
    assert!(yard.folder().join("%2e%2e").is_dir());
    assert_eq!(system_file(), passwd);
}
