//! Skills as the format has them.

use std::fs;

use gatefold_skills::{SkillFolder, SkillSet};

use crate::scratch::{Scratch, findings, link, names, skill_text};

#[test]
fn folders_and_single_files_are_skills_wherever_they_lie() {
    let scratch = Scratch::new();
    scratch.put_skill("refunds");
    scratch.put("team/plans/SKILL.md", skill_text("plans", "Plan it"));
    scratch.put("notes.md", "---\ndescription: Take notes\n---\nWrite it down.\n");
    scratch.put("README.md", "# For people\n");
    scratch.put("team/deep.md", "---\ndescription: Only at the top\n---\n");
    let set = scratch.read();
    assert_eq!(names(&set), ["notes", "plans", "refunds"]);
    assert_eq!(findings(&set), [""; 0]);
    assert_eq!(set.skill("plans").unwrap().path(), "team/plans/SKILL.md");
    let notes = set.skill("notes").unwrap();
    assert_eq!(notes.text().unwrap().body, "Write it down.");
    assert_eq!(notes.front_matter["name"], "notes");
}

#[test]
fn a_folder_with_a_main_file_is_one_skill() {
    let scratch = Scratch::new();
    scratch.put("SKILL.md", skill_text("skills", "About skills"));
    scratch.put("scripts/run.py", "print(1)");
    let set = scratch.read();
    assert_eq!(names(&set), ["skills"]);
    assert_eq!(set.skills()[0].files[1].path, "scripts/run.py");
}

#[test]
fn everything_of_a_skill_is_kept() {
    let scratch = Scratch::new();
    let text = "---\nname: pdf\ndescription: |\n  Read PDFs.\n  Use it for forms.\nlicense: MIT\n\
                compatibility: Needs poppler\nallowed-tools: files__read Bash(pdftotext *)\nmetadata:\n  \
                version: \"1.0\"\n  for: files shop\n---\n\n# PDF\n## Forms\n```\n# no heading\n```\n";
    scratch.put("pdf/SKILL.md", text);
    scratch.put("pdf/references/forms.md", "# Forms");
    scratch.put("pdf/assets/logo.png", [0xff, 0xd8, 0]);
    scratch.put("pdf/.env", "KEY=1");
    let set = scratch.read();
    let pdf = set.skill("pdf").unwrap();
    assert_eq!(findings(&set), [""; 0]);
    assert_eq!(pdf.description, "Read PDFs.\nUse it for forms.");
    assert_eq!(pdf.license.as_deref(), Some("MIT"));
    assert_eq!(pdf.compatibility.as_deref(), Some("Needs poppler"));
    assert_eq!(pdf.allowed_tools, ["files__read", "Bash(pdftotext *)"]);
    assert_eq!(pdf.domains, ["files", "shop"]);
    assert_eq!(pdf.front_matter["metadata"]["version"], "1.0");
    assert_eq!(pdf.headings, ["PDF", "Forms"]);
    let files: Vec<_> =
        pdf.files.iter().map(|file| (file.path.as_str(), file.size, file.is_text)).collect();
    let size = text.len() as u64;
    assert_eq!(
        files,
        [("SKILL.md", size, true), ("assets/logo.png", 3, false), ("references/forms.md", 7, true)]
    );
    let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    scratch.put("pdf/references/forms.md", "hello");
    let again = scratch.read();
    assert_eq!(again.skills()[0].files[2].digest.to_string(), hello);
}

#[test]
fn one_bad_skill_costs_only_itself() {
    let scratch = Scratch::new();
    scratch.put_skill("good");
    scratch.put("bare/SKILL.md", "# No front matter\n");
    scratch.put("open/SKILL.md", "---\nname: open\n");
    scratch.put("mute/SKILL.md", "---\nname: mute\n---\n");
    scratch.put("a/good/SKILL.md", skill_text("good", "The first of two"));
    let set = scratch.read();
    assert_eq!(names(&set), ["good"]);
    assert_eq!(set.skills()[0].path(), "a/good/SKILL.md");
    assert_eq!(
        findings(&set),
        [
            "bare/SKILL.md:1: it does not begin with front matter: a line `---`, YAML, and a line `---`",
            "mute/SKILL.md:2: its front matter has no `description`: say what the skill does and when to \
             use it",
            "open/SKILL.md:1: its front matter has no end: close it with a line `---`",
            "good/SKILL.md: `good` is also the name of `a/good/SKILL.md`",
        ]
    );
    assert_eq!(set.faults().count(), 4);
}

#[test]
fn a_skill_that_other_clients_load_is_loaded_with_a_warning() {
    let scratch = Scratch::new();
    let long = "x".repeat(65);
    scratch.put("other-name/SKILL.md", skill_text("name", "D"));
    scratch.put("Capital/SKILL.md", skill_text("Capital", "D"));
    scratch.put("pay-back/SKILL.md", skill_text("Pay Back", "D"));
    scratch.put(&format!("{long}/SKILL.md"), skill_text(&long, "D"));
    scratch.put("small/skill.md", skill_text("small", "D"));
    scratch.put("nameless/SKILL.md", "---\ndescription: D\n---\n");
    scratch.put("dots/SKILL.md", skill_text("\"..\"", "D"));
    scratch.put("Single File.md", skill_text("single", "D"));
    let set = scratch.read();
    assert_eq!(
        names(&set),
        ["Capital", "Pay Back", "dots", "name", "nameless", "single", "small", long.as_str()]
    );
    assert_eq!(set.skill("small").unwrap().path(), "small/skill.md");
    assert_eq!(set.skill("small").unwrap().files[0].path, "SKILL.md");
    assert_eq!(set.skill("small").unwrap().text().unwrap().body, "# small\nDo this.");
    let letters =
        "and only lower-case letters, digits and `-` are allowed; other clients may refuse it";
    let same = "make them the same";
    assert_eq!(
        findings(&set),
        [
            format!("Capital/SKILL.md:2: the name `Capital` has `C`, {letters}"),
            format!(
                "Single File.md:2: the name `single` is not that of its folder or file, `Single File`: {same}"
            ),
            "dots/SKILL.md:2: `name` has neither a letter nor a digit".to_owned(),
            "dots/SKILL.md:2: its front matter has no `name`: write `name: dots`".to_owned(),
            "nameless/SKILL.md:2: its front matter has no `name`: write `name: nameless`"
                .to_owned(),
            format!(
                "other-name/SKILL.md:2: the name `name` is not that of its folder or file, `other-name`: {same}"
            ),
            format!("pay-back/SKILL.md:2: the name `Pay Back` has `P`, {letters}"),
            format!(
                "pay-back/SKILL.md:2: the name `Pay Back` is not that of its folder or file, `pay-back`: {same}"
            ),
            "small/skill.md: other clients may not find it: call it `SKILL.md`, in capitals"
                .to_owned(),
            format!(
                "{long}/SKILL.md:2: the name `{long}` has 65 characters, and at most 64 are allowed; other \
                 clients may refuse it"
            ),
        ]
    );
    assert_eq!(set.faults().count(), 0);
}

/// A folder of skills with links into `store`, which lies beside it.
fn linked() -> Scratch {
    let scratch = Scratch::new();
    scratch.put("../store/notes/SKILL.md", skill_text("notes", "Linked as a folder"));
    scratch.put("../store/notes/run.py", "print(1)");
    scratch.put("../store/branches.md", skill_text("branches", "Linked as a file"));
    scratch.put("../store/kit/one/SKILL.md", skill_text("one", "The first of a kit"));
    scratch.put("../store/kit/two/SKILL.md", skill_text("two", "The second of a kit"));
    scratch.put_skill("plain");
    link("../store/notes", scratch.path("notes"));
    fs::create_dir(scratch.path("branches")).unwrap();
    link("../../store/branches.md", scratch.path("branches/SKILL.md"));
    link(scratch.path("../store/kit"), scratch.path("kit"));
    link("kit", scratch.path("again"));
    link("../../store/notes/run.py", scratch.path("plain/run.py"));
    link("../../store/kit", scratch.path("plain/kit"));
    scratch
}

#[test]
fn links_are_followed_into_the_folders_that_are_named() {
    let scratch = linked();
    link("/", scratch.path("disk"));
    link("..", scratch.path("parent"));
    link("../store/gone", scratch.path("gone"));
    link("../other", scratch.path("other"));
    link("../../skills", scratch.path("../store/kit/back"));
    fs::write(scratch.path("../store/.env"), "KEY=planted").unwrap();
    link("../../store/.env", scratch.path("plain/notes.txt"));
    let named = SkillFolder {
        path: scratch.root(),
        link_targets: vec![scratch.path("../store"), scratch.path("nowhere")],
    };
    let set = SkillSet::read(&named).unwrap();
    assert_eq!(names(&set), ["branches", "notes", "one", "plain", "two"]);
    assert_eq!((set.linked_skills(), set.left_out_links()), (4, 7));
    assert_eq!(set.skill("notes").unwrap().path(), "notes/SKILL.md");
    let plain = set.skill("plain").unwrap();
    let paths: Vec<_> = plain.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["SKILL.md", "kit/one/SKILL.md", "kit/two/SKILL.md", "run.py"]);
    assert_eq!(plain.file("run.py").unwrap().content(100).unwrap(), b"print(1)");
    let found = findings(&set);
    let around = "which holds the folder that the link lies in";
    let other = scratch.outside().canonicalize().unwrap();
    let other = other.parent().unwrap().display();
    for expected in [
        format!("disk: left out: it is a link to `/`, {around}"),
        format!("parent: left out: it is a link to `..`, {around}"),
        format!("again/back: left out: it is a link to `../../skills`, {around}"),
        "kit: left out: a link leads to its folder, which was read already".to_owned(),
        "plain/notes.txt: left out: it is a link to `../../store/.env`, and hidden files and folders are no \
         part of a skill"
            .to_owned(),
        format!(
            "other: left out: it is a link to `../other`, and links are not followed there; to follow it, \
             write `follow_links_to = [\"{other}\"]` for the source"
        ),
    ] {
        assert!(found.contains(&expected), "{expected}\n{found:#?}");
    }
    let is_told = |start: &str, end: &str| {
        found.iter().any(|one| one.starts_with(start) && one.contains(end))
    };
    assert!(is_told("gone: left out: it is a link to `../store/gone`, which leads nowhere: ", ""));
    assert!(is_told(&format!("{}: ", scratch.path("nowhere").display()), "cannot be read"));
}

#[test]
fn links_are_named_and_not_followed_where_nothing_is_said() {
    let scratch = linked();
    let set = scratch.read();
    assert_eq!(names(&set), ["plain"]);
    assert_eq!(set.skills()[0].files.len(), 1);
    assert_eq!((set.linked_skills(), set.left_out_links()), (0, 6));
    let store = scratch.path("../store").canonicalize().unwrap();
    let key = format!("write `follow_links_to = [\"{}\"]` for the source", store.display());
    let found = findings(&set);
    let main = found.iter().find(|one| one.starts_with("branches/SKILL.md: ")).unwrap();
    assert!(
        main.contains("it is a link to `../../store/branches.md`") && main.ends_with(&key),
        "{main}"
    );
    assert_eq!(set.faults().count(), 1, "{found:#?}");
}

#[test]
fn the_folder_itself_may_be_a_link_and_must_exist() {
    let scratch = Scratch::new();
    scratch.put_skill("a");
    let linked = scratch.outside().with_file_name("linked");
    link(scratch.root(), &linked);
    assert_eq!(names(&SkillSet::read(&SkillFolder::at(&linked)).unwrap()), ["a"]);
    let error = SkillSet::read(&SkillFolder::at(scratch.path("none"))).unwrap_err().to_string();
    assert!(error.contains("none` cannot be read: "), "{error}");
}
