//! `gatefold skills`: what lies in folders of skills. They are read from the disk, whether or not a
//! gateway runs.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use gatefold::Environment;
use gatefold::config::kinds::skill_folder;
use gatefold::config::load;
use gatefold_catalog::{is_same_name, nearest_texts};
use gatefold_skills::{Finding, Skill, SkillFolder, SkillSet, language};
use serde_json::json;

use super::arguments::{Format, SharedOptions};
use super::failure::{usage, with_help};
use super::output::Output;
use super::table::{Table, number_of};

/// The largest file that is shown, in bytes: as much as one skill may have.
const SHOWN_BYTES: u64 = gatefold_skills::SKILL_BYTES;

#[derive(Debug, Subcommand)]
pub(crate) enum Skills {
    /// List the skills of all sources
    #[command(after_long_help = "Example:\n  gatefold skills list --json")]
    List(SkillList),
    /// Check every skill, and name what is wrong by file and line; exit code 1 if a skill is faulty
    #[command(after_long_help = "Example:\n  gatefold skills check ./skills")]
    Check(SkillCheck),
    /// Show a skill as a model reads it, or one of its files
    #[command(after_long_help = "Example:\n  gatefold skills show refunds scripts/refund.py")]
    Show(SkillShow),
}

#[derive(Debug, Args)]
pub(crate) struct SkillList {
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct SkillCheck {
    /// A folder of skills [default: those of the configuration]
    folder: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct SkillShow {
    /// The skill
    name: String,
    /// One of its files
    file: Option<String>,
    /// The source, if several have a skill of this name
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    #[command(flatten)]
    format: Format,
}

impl Skills {
    pub(super) fn format(&self) -> &Format {
        match self {
            Self::List(list) => &list.format,
            Self::Check(check) => &check.format,
            Self::Show(show) => &show.format,
        }
    }
}

/// A folder of skills, under the name of its source or of the folder itself.
struct ReadFolder {
    name: String,
    path: PathBuf,
    set: SkillSet,
}

pub(super) fn run(
    skills: &Skills,
    shared: &SharedOptions,
    environment: &Environment,
    output: &Output,
) -> anyhow::Result<ExitCode> {
    match skills {
        Skills::List(_) => {
            list(&configured(shared, environment)?, output);
            Ok(ExitCode::SUCCESS)
        }
        Skills::Check(SkillCheck { folder: Some(folder), .. }) => {
            let path = environment.directory().join(folder);
            let read = ReadFolder::read(folder.display().to_string(), &SkillFolder::at(path))?;
            Ok(check(&[read], output))
        }
        Skills::Check(_) => Ok(check(&configured(shared, environment)?, output)),
        Skills::Show(it) => show(it, &configured(shared, environment)?, output),
    }
}

impl ReadFolder {
    fn read(name: String, folder: &SkillFolder) -> anyhow::Result<Self> {
        let set = SkillSet::read(folder)?;
        Ok(Self { name, path: folder.path.clone(), set })
    }
}

/// The folders of skills that are configured.
fn configured(
    shared: &SharedOptions,
    environment: &Environment,
) -> anyhow::Result<Vec<ReadFolder>> {
    let config = load(&shared.inputs().located(environment)?, environment)?;
    let folders = config.sources.iter().filter_map(|source| {
        let folder = skill_folder(source.section.usable()?)?;
        Some(ReadFolder::read(source.origin.key.clone(), folder))
    });
    let folders = folders.collect::<anyhow::Result<Vec<_>>>()?;
    if folders.is_empty() {
        let help = "run `gatefold add skills --skills DIR`";
        return Err(with_help("no source is a folder of skills", help));
    }
    Ok(folders)
}

fn list(folders: &[ReadFolder], output: &Output) {
    let all = || folders.iter().flat_map(|own| own.set.skills().iter().map(move |it| (own, it)));
    if output.is_json() {
        let skills: Vec<_> = all().map(|(own, skill)| as_json(own, skill)).collect();
        output.json(&json!({ "skills": skills }));
        return;
    }
    let style = output.style();
    let mut table = Table::new(&["skill", "source", "description"]).spare(&[2]);
    for (own, skill) in all() {
        table.row([style.strong(&skill.name), own.name.clone(), skill.description.clone()]);
    }
    output.lines(&table.lines(style));
    let faults: usize = folders.iter().map(|own| own.set.faults().count()).sum();
    if faults > 0 {
        output.warning(&format!(
            "{} in other skills, which are not offered; `gatefold skills check` names them",
            number_of(faults, "fault")
        ));
    }
}

fn as_json(own: &ReadFolder, skill: &Skill) -> serde_json::Value {
    json!({
        "name": skill.name,
        "source": own.name,
        "description": skill.description,
        "file": own.path.join(skill.path()),
        "files": skill.files.len(),
        "for": skill.domains,
    })
}

fn check(folders: &[ReadFolder], output: &Output) -> ExitCode {
    let is_faulty = folders.iter().any(|own| own.set.faults().next().is_some());
    let code = ExitCode::from(u8::from(is_faulty));
    let all = || folders.iter().flat_map(|own| own.set.findings().iter().map(move |it| (own, it)));
    if output.is_json() {
        let finding = |(own, it): (&ReadFolder, &Finding)| {
            json!({
                "source": own.name,
                "severity": if it.is_fault() { "fault" } else { "warning" },
                "file": own.path.join(&it.path),
                "line": it.line,
                "message": it.message,
            })
        };
        let skills: usize = folders.iter().map(|own| own.set.skills().len()).sum();
        let findings: Vec<_> = all().map(finding).collect();
        let linked: usize = folders.iter().map(|own| own.set.linked_skills()).sum();
        let left_out: usize = folders.iter().map(|own| own.set.left_out_links()).sum();
        output.json(&json!({
            "skills": skills,
            "linked_skills": linked,
            "left_out_links": left_out,
            "findings": findings,
        }));
        return code;
    }
    let style = output.style();
    for (own, finding) in all() {
        let word = if finding.is_fault() { style.bad("fault") } else { style.faint("warning") };
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let path = own.path.join(&finding.path);
        output.paragraph("", &format!("{word}: {}{line}: {}", path.display(), finding.message));
    }
    for own in folders {
        let (good, bad) = (own.set.skills().len(), own.set.faults().count());
        let skills = number_of(good, "skill");
        let faults = if bad == 0 { String::new() } else { number_of(bad, "fault") + ", " };
        let links = links_text(&own.set);
        output.line(&format!("{}: {faults}{skills} without fault{links}", style.strong(&own.name)));
    }
    code
}

/// ", 2 of them by links, 1 link not followed"
pub(super) fn links_text(set: &SkillSet) -> String {
    let mut text = String::new();
    if set.linked_skills() > 0 {
        let _ = write!(text, ", {} of them by links", set.linked_skills());
    }
    if set.left_out_links() > 0 {
        let _ = write!(text, ", {} not followed", number_of(set.left_out_links(), "link"));
    }
    text
}

fn show(it: &SkillShow, folders: &[ReadFolder], output: &Output) -> anyhow::Result<ExitCode> {
    let is_wanted = |own: &&ReadFolder| it.source.as_ref().is_none_or(|name| *name == own.name);
    let mut found = folders
        .iter()
        .filter(is_wanted)
        .filter_map(|own| named(&own.set, &it.name).map(|skill| (own, skill)));
    let Some((own, skill)) = found.next() else {
        let names = folders.iter().filter(is_wanted).flat_map(|own| own.set.skills());
        let near = nearest_texts(&it.name, names.map(|skill| skill.name.as_str()));
        let help = near.first().map_or_else(
            || "`gatefold skills list` shows all; `gatefold skills check` what is wrong".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(with_help(format!("there is no skill `{}`", it.name), help));
    };
    if let Some((other, _)) = found.next() {
        return Err(usage(format!(
            "`{}` and `{}` both have a skill `{}`\n  help: choose one with `--source {}`",
            own.name, other.name, it.name, own.name
        )));
    }
    match &it.file {
        Some(path) => show_file(own, skill, path, output)?,
        None => show_skill(own, skill, output)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The skill of this name, or the only one of it in another spelling.
fn named<'s>(set: &'s SkillSet, name: &str) -> Option<&'s Skill> {
    set.skill(name).or_else(|| {
        let mut alike = set.skills().iter().filter(|skill| is_same_name(&skill.name, name));
        alike.next().filter(|_| alike.next().is_none())
    })
}

fn show_file(own: &ReadFolder, skill: &Skill, path: &str, output: &Output) -> anyhow::Result<()> {
    let Some(file) = skill.file(path) else {
        let near = nearest_texts(path, skill.files.iter().map(|file| file.path.as_str()));
        let help = near.first().map_or_else(
            || format!("`gatefold skills show {}` lists its files", skill.name),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(with_help(format!("`{}` has no file `{path}`", skill.name), help));
    };
    let content = file.content(SHOWN_BYTES)?;
    let text = String::from_utf8(content).ok();
    if output.is_json() {
        let language = language(path);
        output
            .json(&json!({ "file": path, "size": file.size, "language": language, "text": text }));
        return Ok(());
    }
    let Some(text) = text else {
        let help = format!("open {}", own.path.join(skill.path()).with_file_name(path).display());
        return Err(with_help(format!("`{path}` is no text"), help));
    };
    print_text(&text, output);
    Ok(())
}

fn show_skill(own: &ReadFolder, skill: &Skill, output: &Output) -> anyhow::Result<()> {
    let text = skill.text()?;
    let files: Vec<_> = skill.files.iter().skip(1).collect();
    if output.is_json() {
        let mut shown = as_json(own, skill);
        let file = |file: &&gatefold_skills::SkillFile| json!({ "file": file.path, "size": file.size, "language": language(&file.path) });
        shown["files"] = files.iter().map(file).collect();
        shown["text"] = text.body.into();
        output.json(&shown);
        return Ok(());
    }
    let style = output.style();
    output.paragraph("", &format!("{}: {}", style.strong(&skill.name), skill.description));
    output.line(&style.faint(&own.path.join(skill.path()).display().to_string()));
    output.line("");
    print_text(&text.body, output);
    output.line("");
    for file in files {
        let bytes = usize::try_from(file.size).unwrap_or(usize::MAX);
        let size = number_of(bytes, "byte");
        output.line(&format!("{} ({}, {size})", file.path, language(&file.path)));
    }
    Ok(())
}

/// A text of somebody else's, which must not control a terminal.
fn print_text(text: &str, output: &Output) {
    text.lines().for_each(|line| output.verbatim(line));
}
