//! Skills of public repositories, which lie beside the checkout: none is part of this repository.
//!
//! `GATEFOLD_SKILLS` names a folder with a checkout of a repository in each of its folders. Every valid
//! skill in them must load, and what is wrong with the others is printed. `tests/interop/skills.sh`
//! runs it.
#![expect(clippy::unwrap_used, reason = "a panic fails the test")]
#![expect(clippy::print_stdout, reason = "the figures are for people")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gatefold_skills::{SkillFolder, SkillSet};
use libtest_mimic::{Arguments, Trial};

const VARIABLE: &str = "GATEFOLD_SKILLS";

/// The fewest skills that have to load.
const LEAST: usize = 100;

/// The longest way from a repository to a skill in it.
const DEPTH: usize = 10;

fn main() -> ExitCode {
    #[expect(clippy::disallowed_methods, reason = "the place of an external folder")]
    let folder = std::env::var_os(VARIABLE).map(PathBuf::from);
    // Without the folder the test is not even listed: no run of all tests has to have one.
    let trials = folder.map(|folder| {
        Trial::test("skills_of_public_repositories_load", move || {
            check(&folder);
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.into_iter().collect()).exit_code()
}

/// Reads each folder of a repository that has skills as a source of its own, as a person would name it.
fn check(root: &Path) {
    let (mut loaded, mut seen, mut faulty) = (0, 0, Vec::new());
    for repository in folders(root) {
        let mut parents = HashSet::new();
        collect(&repository, &mut parents, DEPTH);
        for parent in parents {
            if is_skill(&parent) {
                // What lies in a skill is its files.
                continue;
            }
            let mains = folders(&parent).into_iter().filter(|folder| is_skill(folder));
            let mains: HashSet<_> = mains.collect();
            let set = SkillSet::read(&SkillFolder::at(&parent)).unwrap();
            let own = set.skills().iter().filter(|skill| {
                let path = parent.join(skill.path());
                path.parent().is_some_and(|folder| mains.contains(folder))
            });
            let own: Vec<_> = own.collect();
            for skill in &own {
                for file in &skill.files {
                    let content = file.content(1 << 24).unwrap();
                    assert_eq!(content.len() as u64, file.size, "{} {}", skill.name, file.path);
                }
                assert!(!skill.text().unwrap().body.is_empty(), "{}", skill.name);
            }
            seen += mains.len();
            loaded += own.len();
            let names: HashSet<_> = own.iter().map(|skill| parent.join(skill.path())).collect();
            for main in &mains {
                let path = main.join("SKILL.md");
                if !names.contains(&path) {
                    let relative = path.strip_prefix(&parent).unwrap().display().to_string();
                    let why = set.faults().find(|fault| {
                        fault.path == relative || relative.starts_with(&format!("{}/", fault.path))
                    });
                    let why = why.unwrap_or_else(|| panic!("{} has no reason", path.display()));
                    faulty.push(format!("{}/{why}", parent.strip_prefix(root).unwrap().display()));
                }
            }
        }
    }
    faulty.sort();
    println!("{loaded} of {seen} skills load; the others:");
    for fault in &faulty {
        println!("  {fault}");
    }
    assert_eq!(loaded + faulty.len(), seen, "each skill loads or has its reason");
    assert!(loaded >= LEAST, "only {loaded} skills: put more repositories into the folder");
}

/// The folders that have a skill right in them.
fn collect(folder: &Path, parents: &mut HashSet<PathBuf>, depth: usize) {
    if depth == 0 {
        return;
    }
    for inner in folders(folder) {
        if is_skill(&inner) {
            parents.insert(folder.to_owned());
        } else {
            collect(&inner, parents, depth - 1);
        }
    }
}

fn is_skill(folder: &Path) -> bool {
    folder.join("SKILL.md").symlink_metadata().is_ok()
}

/// The folders in a folder, without hidden ones and links.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let is_plain = |entry: &fs::DirEntry| {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        entry.file_type().unwrap().is_dir() && !is_hidden
    };
    let mut folders: Vec<_> = entries.filter(is_plain).map(|entry| entry.path()).collect();
    folders.sort();
    folders
}
