//! Signing in at the gateway itself, where `server.sign_in` says so.

use std::sync::Arc;

use gatefold_core::Clock;
use gatefold_egress::{Egress, IpNet, PrivateNetworks, Reach};
use gatefold_issuer::{DocumentAccess, Issuer, IssuerSettings, PasswordSignIn, Registration};
use gatefold_store::Store;

use super::people::ConfiguredPeople;
use crate::config::ServerConfig;

mod provider;

use provider::ConfiguredProvider;
pub(super) use provider::openid;

/// What the issuer's key is derived for.
const KEY_PURPOSE: &str = "gatefold issuer";

/// The issuer of a configuration, if people sign in here.
pub(super) fn issuer(
    server: &ServerConfig,
    store: &Store,
    egress: &Egress,
    clock: &Arc<dyn Clock>,
    people: &Arc<ConfiguredPeople>,
) -> Option<Issuer> {
    let sign_in = server.sign_in.as_ref()?;
    let public_url = server.public_url.clone()?;
    // Clients on this machine, such as those under development, only where nobody else comes.
    let is_near = !public_url.is_secure();
    let loopback = ["127.0.0.0/8", "::1/128"].map(str::parse::<IpNet>);
    let loopback = loopback.into_iter().filter_map(Result::ok).filter(|_| is_near).collect();
    let reach = Reach::public().allowing(PrivateNetworks::Listed(loopback));
    let settings = IssuerSettings {
        public_url,
        registration: if sign_in.registration { Registration::On } else { Registration::Off },
        password: if sign_in.password { PasswordSignIn::On } else { PasswordSignIn::Off },
        provider: ConfiguredProvider::of(server, egress, clock, people.clone()),
        documents: DocumentAccess { client: egress.client_for(reach), allows_loopback: is_near },
        key: store.seal_key().derive(KEY_PURPOSE),
    };
    Some(Issuer::new(settings, Arc::new(store.clone()), clock.clone()))
}
