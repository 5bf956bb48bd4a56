//! What `connect` reports: what it did with each client's file and servers, and what comes next.

use gatefold::Environment;
use gatefold::config::user_config_file;
use gatefold_clients::{Entry, Launch};
use gatefold_setup::{ConnectReport, KeptServer};
use serde_json::{Value, json};

use super::{Outcome, Plan, shown_names};
use crate::cli::arguments::{Connect, SharedOptions};
use crate::cli::output::Output;
use crate::cli::{paths, visible};

/// Reports what was done.
pub(super) struct ConnectSummary<'a> {
    pub(super) connect: &'a Connect,
    pub(super) shared: &'a SharedOptions,
    pub(super) entry: &'a Entry,
    /// Whether a gateway listens on the configured address. Only `--http` needs one.
    pub(super) is_running: bool,
    pub(super) environment: &'a Environment,
    pub(super) output: &'a Output,
}

impl ConnectSummary<'_> {
    pub(super) fn all(&self, plans: &[Plan]) {
        if self.output.is_json() {
            let plans: Vec<_> = plans.iter().map(|plan| self.json(plan)).collect();
            let mut report = json!({ "connected": plans });
            if self.connect.http {
                report["running"] = self.is_running.into();
            }
            self.output.json(&report);
            return;
        }
        for plan in plans {
            self.one(plan);
            if let Some(error) = plan.outcome.error() {
                self.output.error(error);
            }
        }
        self.unpassed_by_all(plans);
        if self.connect.http && !self.is_running {
            self.nothing_runs();
        }
        let written: Vec<_> = plans.iter().filter(|plan| plan.outcome.is_written()).collect();
        if written.is_empty() {
            return;
        }
        let titles: Vec<_> = written.iter().map(|plan| plan.client.title()).collect();
        let them = if let [_] = *titles { "it read its" } else { "them read their" };
        self.output.line("");
        self.output
            .paragraph("", &format!("restart {}, or have {them} servers again", titles.join(", ")));
        let ids: Vec<_> = written.iter().map(|plan| plan.client.id()).collect();
        let project = if self.connect.project { " --project" } else { "" };
        let config = config_option(self.shared, self.environment);
        let paint = self.output.style();
        let undo = format!("gatefold disconnect {}{project}{config}", ids.join(" "));
        self.output.line(&format!("undo with `{}`", paint.accent(&undo)));
    }

    /// The outcome for one client, and for its servers.
    fn one(&self, plan: &Plan) {
        let (output, client, result) = (self.output, plan.client, &plan.result);
        let path = paths::shown(&result.path, self.environment);
        let name = &result.name;
        let has_name = if name == "gatefold" { String::new() } else { format!(", as `{name}`") };
        let is_dry = self.connect.caution.dry_run;
        if matches!(plan.outcome, Outcome::Failed(_)) {
            output.line(&format!("{} {client}: {path}", output.style().bad("did not connect")));
            return;
        }
        let title = if result.is_unchanged {
            format!("{client} already has `{name}` in {path}")
        } else if !plan.is_wanted {
            format!("{client}: {path} is unchanged")
        } else if is_dry {
            format!("would connect {client}: {path}{has_name}")
        } else {
            format!("{} {client}: {path}{has_name}", output.style().good("connected"))
        };
        output.line(&title);
        if !plan.is_wanted || result.is_unchanged {
            return;
        }
        if result.is_replaced {
            let act = if is_dry { "would replace" } else { "replaced" };
            output.line(&format!("  {act} the existing Gatefold entry `{name}`"));
        }
        let act = if is_dry { "would be removed" } else { "removed" };
        if !result.taken_out.is_empty() {
            let names = shown_names(&result.taken_out);
            output.paragraph("  ", &format!("{act}, because Gatefold serves them: {names}"));
        }
        for KeptServer { name, reason } in &plan.overlap.kept {
            let why = visible::on_one_line(&reason.to_string());
            output.paragraph("  ", &format!("kept {}: {why}", visible::on_one_line(name)));
        }
        if plan.is_shared() {
            output.paragraph("  ", &self.effect_on_others(result));
        }
    }

    /// What a change of a project's file means for those who share it.
    fn effect_on_others(&self, result: &ConnectReport) -> String {
        let entry = match &self.entry.launch {
            Launch::Stdio { command, .. } => format!("starts `{command}`"),
            Launch::Http { url } => format!("leads to `{url}`"),
        };
        let gone = if result.taken_out.is_empty() {
            String::new()
        } else {
            "; the removed servers are gone for them too, unless you use `--keep`".to_owned()
        };
        format!("others may share this file: its entry {entry} on their machines as well{gone}")
    }

    /// What is missing for clients that connect to a gateway instead of starting one.
    fn nothing_runs(&self) {
        let Launch::Http { url } = &self.entry.launch else {
            return;
        };
        let config = config_option(self.shared, self.environment);
        let serve = self.output.style().accent(&format!("gatefold serve{config}"));
        self.output.line("");
        self.output.paragraph(
            "",
            &format!("no gateway runs at {url}, and clients find none until you start `{serve}`"),
        );
    }

    /// Which clients do not pass on the variables that Gatefold needs, and what helps.
    fn unpassed_by_all(&self, plans: &[Plan]) {
        let without: Vec<_> = plans.iter().filter(|p| !self.unpassed(p).is_empty()).collect();
        let Some(first) = without.first() else {
            return;
        };
        let titles: Vec<_> = without.iter().map(|plan| plan.client.title()).collect();
        let s = if titles.len() == 1 { "s" } else { "" };
        self.output.line("");
        self.output.paragraph(
            "",
            &format!(
                "{} start{s} programs without your shell's variables: {}; store each with `gatefold \
                 secret set NAME` and write `${{secret:NAME}}` for `${{NAME}}` in the configuration, or \
                 set them for the whole session",
                titles.join(", "),
                self.unpassed(first).join(", ")
            ),
        );
    }

    /// The variables that Gatefold needs and this client does not pass on.
    fn unpassed(&self, plan: &Plan) -> &[String] {
        match &self.entry.launch {
            Launch::Stdio { variables, .. }
                if plan.is_to_be_written()
                    && !matches!(plan.outcome, Outcome::Failed(_))
                    && !plan.client.refers_to_variables() =>
            {
                variables
            }
            _ => &[],
        }
    }

    fn json(&self, plan: &Plan) -> Value {
        let result = &plan.result;
        let kept = plan.overlap.kept.iter();
        let left_in: Vec<_> = kept
            .map(|KeptServer { name, reason }| {
                json!({ "name": name, "reason": reason.id(), "why": reason.to_string() })
            })
            .collect();
        json!({
            "client": plan.client.id(),
            "file": result.path,
            "name": result.name,
            "taken_out": result.taken_out,
            "replaced": result.is_replaced,
            "shared": plan.is_shared(),
            "left_in": left_in,
            "missing_variables": self.unpassed(plan),
            "written": plan.outcome.is_written(),
            "backup": result.backup,
            "error": plan.outcome.error(),
        })
    }
}

/// The option with which later commands find this configuration, if they need one.
fn config_option(shared: &SharedOptions, environment: &Environment) -> String {
    let chosen = shared.config.as_ref().map(|path| environment.directory().join(path));
    let chosen = chosen.filter(|path| user_config_file(environment).as_ref() != Some(path));
    chosen.map_or_else(String::new, |path| {
        format!(" --config {}", paths::as_argument(&path, environment))
    })
}
