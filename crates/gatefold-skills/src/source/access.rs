use gatefold_catalog::{View, address};
use gatefold_core::Domain;
use gatefold_dispatch::{NestedCaller, ResourceAccess};

use crate::uris;
use crate::{Skill, SkillFile, SkillSet};

/// What the principal of one call may have: a skill is a resource, and rules about resources hold for
/// it however it is read.
pub(super) struct Access<'a> {
    domain: &'a Domain,
    nested: &'a NestedCaller,
}

impl<'a> Access<'a> {
    pub(super) fn new(domain: &'a Domain, nested: &'a NestedCaller) -> Self {
        Self { domain, nested }
    }

    pub(super) fn view(&self) -> &View {
        self.nested.view()
    }

    fn of(&self, uri: &str) -> ResourceAccess {
        self.nested.resource_access(&address(self.domain, uri))
    }

    pub(super) fn sees(&self, skill: &Skill) -> bool {
        self.of(&uris::of_skill(skill)) != ResourceAccess::Hidden
    }

    pub(super) fn sees_file(&self, skill: &Skill, file: &SkillFile) -> bool {
        self.of(&uris::of_file(skill, file)) != ResourceAccess::Hidden
    }

    pub(super) fn skills<'s>(&'s self, set: &'s SkillSet) -> impl Iterator<Item = &'s Skill> {
        set.skills().iter().filter(|skill| self.sees(skill))
    }

    pub(super) fn files<'s>(&'s self, skill: &'s Skill) -> impl Iterator<Item = &'s SkillFile> {
        skill.files.iter().filter(|file| self.sees_file(skill, file))
    }

    /// A rule may want a person to approve each reading. That is asked about the resource, so it has
    /// to be read as one.
    pub(super) fn must_be_open(&self, skill: &Skill, file: &SkillFile) -> Result<(), String> {
        let uri = uris::of_file(skill, file);
        match self.of(&uri) {
            ResourceAccess::Asks => Err(format!(
                "A person has to approve this: read the resource '{}' instead.",
                address(self.domain, &uri)
            )),
            ResourceAccess::Open | ResourceAccess::Hidden => Ok(()),
        }
    }
}
