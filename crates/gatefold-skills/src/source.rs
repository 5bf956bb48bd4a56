//! A folder of skills as a source: the tool `read_skill`, resources, and the skills extension of MCP.

mod access;
mod answers;
mod extension;
mod manifest;
mod named_tools;
mod resources;

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::{Manifest, is_same_name, nearest_texts};
use gatefold_core::{
    BoxError, CallError, Clock, Domain, EntryKind, ExtensionMethod, ExtensionRequest, Payload,
    Target,
};
use gatefold_dispatch::{AdmittedCall, CallContext, StatelessSource};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::watch::FolderWatch;
use crate::{Skill, SkillFile, SkillFolder, SkillFolderError, SkillSet};
use access::Access;
use answers::EmbeddedScript;
pub use manifest::READ_SKILL;

/// Whether everybody may see the resource with this URI of the source.
pub type SeenByAll = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// What a source of skills is made of.
#[derive(Clone)]
pub struct SkillSourceSettings {
    pub domain: Domain,
    pub folder: SkillFolder,
    /// The domains that all its skills are for.
    pub domains: Vec<Domain>,
    /// Which skills may stand in the definition of the tool, which is the same for everybody.
    pub seen_by_all: SeenByAll,
}

/// A folder of skills.
pub struct SkillSource {
    settings: SkillSourceSettings,
    clock: Arc<dyn Clock>,
    /// As it was last read.
    known: Mutex<Option<Arc<SkillSet>>>,
    watch: FolderWatch,
}

/// The arguments of `read_skill`.
#[derive(Deserialize)]
struct ReadArguments {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    file: Option<String>,
}

impl SkillSource {
    pub fn new(settings: SkillSourceSettings, clock: Arc<dyn Clock>) -> Self {
        Self { settings, clock, known: Mutex::default(), watch: FolderWatch::new() }
    }

    /// Reads the folder now.
    async fn read(&self) -> Result<Arc<SkillSet>, SkillFolderError> {
        let folder = self.settings.folder.clone();
        let set = on_disk(move || SkillSet::read(&folder)).await;
        let set = set.inspect_err(|_| self.watch.forget())?;
        self.watch.follow(set.folders());
        let set = Arc::new(set);
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(set.clone());
        Ok(set)
    }

    /// The skills as they were last read; they are read now if they never were.
    async fn skills(&self) -> Result<Arc<SkillSet>, CallError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match known {
            Some(known) => Ok(known),
            None => self.read().await.map_err(|error| self.unavailable(error.into())),
        }
    }

    fn unavailable(&self, error: BoxError) -> CallError {
        CallError::Unavailable {
            domain: self.settings.domain.clone(),
            reason: error.to_string(),
            source: Some(error),
        }
    }

    async fn read_skill(
        &self,
        call: &AdmittedCall,
        context: &CallContext,
    ) -> Result<Payload, CallError> {
        let target = call.target();
        let wrong = |message: String| CallError::InvalidArguments {
            tool: target.id.clone(),
            message,
            data: None,
        };
        let arguments = call.arguments().map_or("{}", RawValue::get);
        let ReadArguments { name, file } =
            serde_json::from_str(arguments).map_err(|error| wrong(error.to_string()))?;
        let set = self.skills().await?;
        let access = Access::new(&self.settings.domain, &context.nested);
        let Some(name) = name else {
            return Ok(answers::list(access.skills(&set)));
        };
        let exact = set.skill(&name).filter(|skill| access.sees(skill));
        let Some(skill) = exact.or_else(|| alike(&name, access.skills(&set))) else {
            let names = access.skills(&set).map(|skill| skill.name.as_str());
            return Err(wrong(unknown("skill", &name, names)));
        };
        access.must_be_open(skill, &skill.files[0]).map_err(wrong)?;
        match file.filter(|file| !file.is_empty()) {
            None => self.whole(skill, &access, target).await,
            Some(file) => {
                let seen = skill.file(&file).filter(|file| access.sees_file(skill, file));
                let Some(file) = seen else {
                    let paths = access.files(skill).map(|file| file.path.as_str());
                    return Err(wrong(unknown("file", &file, paths)));
                };
                access.must_be_open(skill, file).map_err(wrong)?;
                let bytes = self.content(file, context, target).await?;
                Ok(answers::file(skill, file, &bytes))
            }
        }
    }

    /// A skill's text, with its files and the tools that it names.
    async fn whole(
        &self,
        skill: &Skill,
        access: &Access<'_>,
        target: &Target,
    ) -> Result<Payload, CallError> {
        let wanted = skill.clone();
        let text = on_disk(move || wanted.text()).await;
        let text = text.map_err(|error| self.changed_meanwhile(target, &error))?;
        let tools = named_tools::of(access.view(), skill, &text.body, &target.id);
        let files: Vec<_> = access.files(skill).collect();
        let script =
            answers::only_script(&files).filter(|own| access.must_be_open(skill, own).is_ok());
        let script = match script {
            Some(file) => read_script(file).await,
            None => None,
        };
        Ok(answers::skill(skill, &text.body, &files, script.as_ref(), &tools))
    }

    async fn content(
        &self,
        file: &SkillFile,
        context: &CallContext,
        target: &Target,
    ) -> Result<Vec<u8>, CallError> {
        let limit = context.result_bytes;
        if file.size > limit {
            return Err(CallError::TooLarge { tool: target.id.clone(), size: file.size, limit });
        }
        let file = file.clone();
        let bytes = on_disk(move || file.content(limit)).await;
        bytes.map_err(|error| self.changed_meanwhile(target, &error))
    }

    /// A file that was listed cannot be read. The folder will be read again.
    fn changed_meanwhile(&self, target: &Target, error: &io::Error) -> CallError {
        tracing::warn!(domain = %self.settings.domain, %error, "a file of a skill could not be read");
        CallError::MissingResource {
            tool: target.id.clone(),
            message: "the file changed or went away since its folder was read; try again"
                .to_owned(),
            data: None,
        }
    }

    async fn answer(&self, call: AdmittedCall, context: CallContext) -> Result<Payload, CallError> {
        let target = call.target();
        match target.kind {
            EntryKind::Tool if &*target.name == READ_SKILL => {
                self.read_skill(&call, &context).await
            }
            EntryKind::Resource => {
                let set = self.skills().await?;
                let found = resources::find(&set, &target.name);
                let file = found.ok_or_else(|| resources::missing(target))?;
                let bytes = self.content(file, &context, target).await?;
                Ok(resources::answer(&target.name, file, &bytes))
            }
            kind => Err(CallError::Unknown { kind: kind.as_str(), name: target.name.to_string() }),
        }
    }

    async fn described(&self, call: AdmittedCall) -> Result<Payload, CallError> {
        let set = self.skills().await?;
        let target = call.target();
        match call.extension() {
            Some(ExtensionRequest { method: ExtensionMethod::SKILLS, cursor, .. }) => {
                Ok(extension::list(&set, cursor.as_deref()))
            }
            Some(ExtensionRequest { method: ExtensionMethod::DIRECTORY, .. }) => {
                extension::directory(&set, target)
            }
            _ => extension::get(&set, target),
        }
    }
}

impl StatelessSource for SkillSource {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        async move {
            let set = self.read().await?;
            let read = set.clone();
            let texts = on_disk(move || manifest::texts(&read)).await;
            Ok(manifest::of(&self.settings, &set, texts, self.clock.now()))
        }
        .boxed()
    }

    fn call(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        self.answer(call, context).boxed()
    }

    fn call_extension(
        &self,
        call: AdmittedCall,
        _: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        self.described(call).boxed()
    }

    fn tells_changes(&self) -> bool {
        true
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        self.watch.changed().boxed()
    }
}

/// Runs something that waits for the disk where that holds nobody up.
async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    match tokio::task::spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

/// The only skill of this name in another spelling.
fn alike<'s>(name: &str, skills: impl Iterator<Item = &'s Skill>) -> Option<&'s Skill> {
    let mut alike = skills.filter(|skill| is_same_name(&skill.name, name));
    alike.next().filter(|_| alike.next().is_none())
}

/// "unknown skill 'refund'. Did you mean 'refunds'?"
fn unknown<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str>) -> String {
    /// How much of a wrong name is repeated.
    const REPEATED: usize = 80;
    let shown: String = name.chars().take(REPEATED).collect();
    let near = nearest_texts(name, names);
    let near: Vec<_> = near.into_iter().map(|name| format!("'{name}'")).collect();
    let advice = match (near.is_empty(), what) {
        (false, _) => format!("Did you mean {}?", near.join(" or ")),
        (true, "skill") => "Without a name, they are listed.".to_owned(),
        (true, _) => "With the name alone, its files are listed.".to_owned(),
    };
    format!("Unknown {what} '{shown}'. {advice}")
}

/// A result object.
fn payload(result: &Value) -> Payload {
    let json = RawValue::from_string(result.to_string()).expect("a JSON value is valid JSON");
    Payload { json, is_error: false }
}

/// Reads a script. One that went away meanwhile is still named among the files.
async fn read_script(file: &SkillFile) -> Option<EmbeddedScript<'_>> {
    let wanted = file.clone();
    let content = on_disk(move || wanted.content(wanted.size)).await.ok()?;
    let text = String::from_utf8(content).ok()?;
    Some(EmbeddedScript { file, text })
}
