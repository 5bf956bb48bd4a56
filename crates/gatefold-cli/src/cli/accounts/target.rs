//! The source that a command is about, and whose sign-in there.

use gatefold::App;
use gatefold::config::SourceSection;
use gatefold_core::{UpstreamIdentity, UserId};
use gatefold_dispatch::IdentityScope;
use gatefold_oauth::{GrantPlace, SignInNeed, SiteSettings};

use crate::cli::failure::{usage, with_help};

/// The longest name of a user, in bytes.
const USER_LIMIT: usize = 256;

pub(super) struct AccountTarget {
    pub(super) site: SiteSettings,
    pub(super) place: GrantPlace,
}

/// Finds a source by its name in the configuration, or by its domain.
pub(super) fn find(app: &App, name: &str, user: Option<&str>) -> anyhow::Result<AccountTarget> {
    let config = app.config();
    let by_key = config.sources.iter().find(|source| source.origin.key == name);
    let found = by_key.or_else(|| config.sources.iter().find(|it| it.domain.as_str() == name));
    let Some(source) = found else {
        let names: Vec<_> = config
            .sources
            .iter()
            .filter(|source| app.site(source).is_some())
            .map(|source| source.origin.key.as_str())
            .collect();
        let help = match names.as_slice() {
            [] => "add the server first: `gatefold add NAME URL`".to_owned(),
            names => format!("one can sign in at {}", names.join(", ")),
        };
        return Err(with_help(format!("there is no source `{name}`"), help));
    };
    let Some(site) = app.site(source) else {
        return Err(match &source.section {
            SourceSection::Disabled => with_help(
                format!("`{name}` is disabled"),
                format!("enable it first: `gatefold enable {name}`"),
            ),
            SourceSection::Unusable(unusable) => {
                let fault = unusable.fault.on_one_line();
                with_help(format!("`{name}` cannot be used"), fault)
            }
            SourceSection::Usable(section) if section.client_headers().is_some() => clients(name),
            SourceSection::Usable(_) => usage(format!(
                "nobody signs in at `{name}`: only a server over HTTP without a header \
                 `Authorization` wants it, and an API with `authorization_code` in its `auth`"
            )),
        });
    };
    let identity = identity(name, &site, user)?;
    Ok(AccountTarget { place: GrantPlace { domain: source.domain.clone(), identity }, site })
}

fn clients(name: &str) -> anyhow::Error {
    usage(format!(
        "nobody signs in at `{name}`: its `credentials` are the clients' own, and they send them"
    ))
}

fn identity(
    name: &str,
    site: &SiteSettings,
    user: Option<&str>,
) -> anyhow::Result<UpstreamIdentity> {
    match (site.scope, user.map(str::trim)) {
        (IdentityScope::Client, _) => Err(usage(format!(
            "nobody signs in at `{name}`: its tokens come from those that its callers send"
        ))),
        (IdentityScope::Shared, None) => Ok(UpstreamIdentity::Shared),
        (IdentityScope::Shared, Some(_)) => Err(usage(format!(
            "everybody shares one sign-in at `{name}`\n  help: leave `--for` out, or set \
             `credentials = \"per_user\"` in the source"
        ))),
        (IdentityScope::PerUser, Some(user)) if (1..=USER_LIMIT).contains(&user.len()) => {
            Ok(UpstreamIdentity::User(UserId::new(user)))
        }
        (IdentityScope::PerUser, Some(_)) => {
            Err(usage(format!("a user's name has 1 to {USER_LIMIT} bytes")))
        }
        // Whoever uses a gateway without accounts.
        (IdentityScope::PerUser, None) => {
            Ok(UpstreamIdentity::User(gatefold_core::Principal::local().user))
        }
    }
}

impl AccountTarget {
    pub(super) fn refuse_machines(&self) -> anyhow::Result<()> {
        if self.site.sign_in != SignInNeed::Machine {
            return Ok(());
        }
        let name = &self.site.name;
        Err(usage(format!(
            "nobody signs in at `{name}`: Gatefold proves itself there\n  help: `gatefold check` shows \
             whether that works"
        )))
    }

    /// Whose sign-in it is, for people. None if it is everybody's.
    pub(super) fn user(&self) -> Option<&str> {
        self.place.identity.user().map(UserId::as_str)
    }
}
