//! Skills as the format has them.

use gatefold_skills::Severity;

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
    assert_eq!(set.text(notes).unwrap().body, "Write it down.");
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
    scratch.put("other-name/SKILL.md", skill_text("name", "D"));
    scratch.put("Capital/SKILL.md", skill_text("Capital", "D"));
    scratch.put("small/skill.md", skill_text("small", "D"));
    scratch.put("nameless/SKILL.md", "---\ndescription: D\n---\n");
    scratch.put("a/good/SKILL.md", skill_text("good", "The first of two"));
    let set = scratch.read();
    assert_eq!(names(&set), ["good"]);
    assert_eq!(set.skills()[0].path(), "a/good/SKILL.md");
    assert_eq!(
        findings(&set),
        [
            "Capital/SKILL.md:2: the name `Capital` has `C`, and only lower-case letters, digits and `-` \
             are allowed",
            "bare/SKILL.md:1: it does not begin with front matter: a line `---`, YAML, and a line `---`",
            "nameless/SKILL.md:2: its front matter has no `name`: write `name: nameless`",
            "open/SKILL.md:1: its front matter has no end: close it with a line `---`",
            "other-name/SKILL.md:2: the name `name` is not that of its folder, `other-name`: make them \
             the same",
            "small/skill.md: it must be called `SKILL.md`, in capitals",
            "good/SKILL.md: `good` is also the name of `a/good/SKILL.md`",
        ]
    );
    assert!(set.findings().iter().all(|one| one.severity == Severity::Fault));
}

#[test]
fn the_folder_itself_may_be_a_link_and_must_exist() {
    let scratch = Scratch::new();
    scratch.put_skill("a");
    let linked = scratch.outside().with_file_name("linked");
    link(scratch.root(), &linked);
    assert_eq!(names(&gatefold_skills::SkillSet::read(&linked).unwrap()), ["a"]);
    let error = gatefold_skills::SkillSet::read(&scratch.path("none")).unwrap_err().to_string();
    assert!(error.contains("none` cannot be read: "), "{error}");
}
