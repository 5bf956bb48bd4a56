use std::path::Path;

use serde_json::{Value, json};
use url::Url;

use super::super::key::{ApplyMode, Key, Kind, duration};
use super::super::{IssuerConfig, ProviderConfig, TlsFiles};
use super::FixedSection;
use super::sections::strings;

pub(super) const SERVER: FixedSection = FixedSection {
    path: "server",
    summary: "The HTTP endpoint of `gatefold serve`.",
    details: "On a loopback address, whoever can reach it may use it. On any other it starts only \
              where `authentication` says who may.",
    keys: &[
        Key {
            details: "`--listen` wins over it.",
            value: |config| Some(config.server.listen.to_string().into()),
            example: "\"127.0.0.1:9000\"",
            applies: ApplyMode::Restart,
            ..Key::new("listen", Kind::Address, "Where to listen.")
        },
        Key {
            details: "With \"token\" every request needs an access token, on a loopback address too; \
                      `gatefold token create` makes one. With \"none\" whoever can reach the endpoint \
                      may use it. Without either, only a loopback address is served, and whoever can \
                      reach it may use it.",
            value: |config| Some(config.server.authentication?.as_str().into()),
            unset: "nobody has to, and only a loopback address is served",
            example: "\"token\"",
            applies: ApplyMode::Restart,
            ..Key::new(
                "authentication",
                Kind::Choice(&["none", "token"]),
                "Whether callers have to say who they are.",
            )
        },
        Key {
            details: "Then it speaks HTTPS and nothing else, with TLS 1.2 or 1.3. `cert` has the \
                      certificate, followed by those of its issuers; `key` has its key: PKCS #8, SEC1 \
                      or PKCS #1, without a passphrase. Both are read again when they change and on \
                      SIGHUP; a pair that cannot be used leaves the one in use, and the log says why. \
                      The certificate's name has to be in `public_url` or `allowed_hosts`. It says \
                      nothing about who may come in: see `authentication`.",
            value: |config| {
                let TlsFiles { cert, key } = config.server.tls.as_ref()?;
                let text = |path: &Path| path.display().to_string();
                Some(json!({ "cert": text(cert), "key": text(key) }))
            },
            unset: "plain HTTP",
            example: "{ cert = \"tls/fullchain.pem\", key = \"tls/privkey.pem\" }",
            applies: ApplyMode::Restart,
            ..Key::new("tls", Kind::TlsFiles, "The certificate and key that secure the endpoint.")
        },
        Key {
            details: "Scheme, host and port, as behind a proxy, and the path that the proxy takes off: \
                      `https://apps.example/gatefold`. It is what tokens of `[[server.issuers]]` \
                      are for, and one of the `allowed_hosts`. `http` is for addresses of this machine.",
            value: |config| Some(config.server.public_url.as_ref()?.as_str().into()),
            unset: "clients do not have to know it",
            example: "\"https://tools.example\"",
            applies: ApplyMode::Restart,
            ..Key::new("public_url", Kind::Url, "The address by which clients know the gateway.")
        },
        Key {
            details: "An identity provider that people sign in at. Clients find it by the gateway's metadata \
                      (RFC 9728). Its tokens are JWTs, signed with RS256, ES256 or EdDSA, whose audience is \
                      `audience` or the address of the gateway; or opaque ones, about which it is asked \
                      (RFC 7662) as `client_id`, which also exchanges tokens where a source says so. `jwks_uri` and `introspection_endpoint` are found in its \
                      metadata if they are not here. A token has to have all `scopes`. `groups_claim` is \
                      the claim with a person's groups, by default `groups`; dots lead into objects. \
                      It needs `authentication = \"token\"`.",
            value: |config| issuers(&config.server.issuers),
            unset: "only tokens of `gatefold token create`",
            example: "[{ issuer = \"https://id.example\", audience = \"gatefold\" }]",
            needs: &["public_url"],
            applies: ApplyMode::Restart,
            ..Key::new("issuers", Kind::Issuers, "Whose tokens let people in, beside our own.")
        },
        Key {
            details: "People sign in, see what a client wants, and let it in or not; clients find it by the \
                      gateway's metadata. With `password`, they have a password here: `gatefold user link \
                      NAME` makes a link with which a person sets one. With `provider`, they sign in at an \
                      OpenID provider, where the gateway is the client `client_id`, and comes back to \
                      `/oauth/callback` below `public_url`. `name` is what the button says, by default the \
                      issuer's host; `scopes` are asked for beside `openid`; `groups_claim` is the claim of \
                      ID tokens with a person's groups, by default `groups`, and dots lead into objects. \
                      `password` is on by default where there is no provider. With `registration = true` clients may register themselves (RFC 7591), and anybody \
                      can make one look like another; without it, they publish a metadata document. It \
                      needs `authentication = \"token\"`.",
            value: |config| {
                let own = config.server.sign_in.as_ref()?;
                let mut shown =
                    json!({ "password": own.password, "registration": own.registration });
                if let Some(provider) = &own.provider {
                    shown["provider"] = self::provider(provider);
                }
                Some(shown)
            },
            unset: "nobody signs in here",
            example: "{ password = true }",
            needs: &["public_url"],
            applies: ApplyMode::Restart,
            ..Key::new("sign_in", Kind::SignIn, "How people sign in at the gateway itself.")
        },
        Key {
            details: "`Host` headers to accept. A name without a port allows any port.",
            value: |config| Some(strings(&config.server.allowed_hosts)),
            example: "[\"gatefold.example\"]",
            applies: ApplyMode::Restart,
            ..Key::new(
                "allowed_hosts",
                Kind::Texts,
                "Names by which the endpoint may be addressed, beside those of the loopback.",
            )
        },
        Key {
            details: "`Origin` headers to accept.",
            value: |config| Some(strings(&config.server.allowed_origins)),
            example: "[\"https://console.example\"]",
            applies: ApplyMode::Restart,
            ..Key::new(
                "allowed_origins",
                Kind::Origins,
                "Web pages that may use the endpoint, beside those of the loopback.",
            )
        },
        Key {
            details: "A request from one comes from where its `X-Forwarded-For` says, which decides on limits \
                      on addresses: guesses at passwords, registrations, new sessions. What the header says \
                      before the last address of no proxy is not believed.",
            value: |config| {
                let proxies = config.server.trusted_proxies.iter();
                Some(proxies.map(ToString::to_string).collect())
            },
            example: "[\"127.0.0.1\", \"10.0.0.0/8\"]",
            applies: ApplyMode::Restart,
            ..Key::new(
                "trusted_proxies",
                Kind::Networks,
                "The proxies that say where requests come from.",
            )
        },
        Key {
            details: "Only clients that begin with `initialize` have sessions, and hardly any says \
                      goodbye. A session with a stream or a call under way is not silent.",
            value: |config| Some(duration(config.server.session_idle)),
            example: "\"1h\"",
            applies: ApplyMode::Restart,
            ..Key::new(
                "session_idle",
                Kind::Duration,
                "How long a session may be silent before it is forgotten.",
            )
        },
    ],
};

/// A provider without its secret.
fn provider(provider: &ProviderConfig) -> Value {
    let mut shown = json!({
        "issuer": provider.issuer,
        "client_id": provider.client_id,
        "client_secret": "***",
        "name": provider.name,
        "groups_claim": provider.groups_claim,
    });
    if !provider.scopes.is_empty() {
        shown["scopes"] = provider.scopes.clone().into();
    }
    shown
}

/// The issuers without their secrets.
fn issuers(issuers: &[IssuerConfig]) -> Option<Value> {
    let shown = issuers.iter().map(|own| {
        let mut shown = json!({ "issuer": own.issuer });
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                shown[key] = value;
            }
        };
        let text = |url: &Url| Value::from(url.as_str());
        set("audience", own.audience.clone().map(Value::from));
        set("jwks_uri", own.jwks_uri.as_ref().map(text));
        set("scopes", (!own.scopes.is_empty()).then(|| own.scopes.clone().into()));
        set("groups_claim", Some(own.groups_claim.clone().into()));
        if let Some(asked) = &own.introspection {
            set("introspection_endpoint", asked.endpoint.as_ref().map(text));
            set("client_id", Some(asked.client_id.clone().into()));
            set("client_secret", Some("***".into()));
        }
        shown
    });
    (!issuers.is_empty()).then(|| shown.collect::<Vec<_>>().into())
}
