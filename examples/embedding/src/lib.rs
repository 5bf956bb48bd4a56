//! Gatefold embedded, with a part of one's own in every joint. `docs/embedding.md` walks through it.
//!
//! - [`greetings`]: a kind of source
//! - [`concierge`]: a source that asks its client, and goes on as a task
//! - [`desk`]: an approval backend
//! - [`tokens`]: an authenticator
//! - [`routes`]: routes beside those of MCP
//! - [`menu`]: a disclosure
//! - [`vault`]: credentials for upstreams
//! - [`diary`]: a reader of journals
//! - [`poet`]: a model
//!
//! None of it is part of the product, and each fits on a page: `tests/it` holds it to that, and calls
//! each through a gateway over HTTP.

pub mod concierge;
pub mod desk;
pub mod diary;
pub mod greetings;
pub mod menu;
pub mod poet;
pub mod routes;
pub mod tokens;
pub mod vault;

use std::path::Path;
use std::sync::Arc;

use gatefold::config::kinds::Kinds;
use gatefold::config::{DisclosureNames, Inputs, load};
use gatefold::{App, AppError, Environment};
use gatefold_core::{Principal, UserId};
use gatefold_exchange::NamingScheme;

use concierge::Concierges;
use desk::Desk;
use greetings::Greetings;
use menu::Menu;
use tokens::BearerTokens;
use vault::Vault;

/// The name that clients ask for the disclosure by.
const MENU: &str = "menu";

/// Puts a gateway together out of a configuration file and all of these parts.
pub async fn gateway(
    config: &Path,
    state_dir: &Path,
    desk: Arc<Desk>,
    vault: Arc<Vault>,
) -> Result<App, AppError> {
    let inputs = Inputs {
        config: Some(config.to_owned()),
        kinds: Kinds::default().with(Greetings).with(Concierges),
        disclosures: DisclosureNames::default().with(MENU),
        ..Inputs::default()
    };
    let config = load(&inputs, &Environment::of_process())?;
    let user = |name| Principal::user(UserId::new(name));
    let tokens =
        BearerTokens::default().with("token-of-ann", user("ann")).with("token-of-bob", user("bob"));
    App::builder(config, state_dir)
        .authenticator(Arc::new(tokens))
        .approvals(desk)
        .credentials(vault)
        .disclosure(MENU, NamingScheme::Public, |_| Arc::new(Menu))
        .build()
        .await
}
