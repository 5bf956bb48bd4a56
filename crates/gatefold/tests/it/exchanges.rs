//! `credentials = "exchange"` in a configuration: what it needs beside it, and who exchanges what.

use gatefold_oauth::{ClientSecret, TokenExchange};

use crate::scratch::toml;

const ISSUERS: &str = "[server]\nauthentication = 'token'\npublic_url = 'https://tools.example'\n\
                       [[server.issuers]]\nissuer = 'https://id.example'\nclient_id = 'own'\n\
                       client_secret = 'planted'\n[[server.issuers]]\nissuer = 'https://b.example'\n";

/// The exchange of the only source.
fn exchange(text: &str) -> TokenExchange {
    let config = toml(text).unwrap();
    let section = config.sources[0].section.usable().unwrap();
    section.sign_in().unwrap().exchange.unwrap().of(&config.server)
}

/// Whose tokens go to whom, as which client with which secret.
fn exchangers(exchange: &TokenExchange) -> Vec<[String; 4]> {
    let secret = |secret: &Option<ClientSecret>| match secret {
        Some(ClientSecret::Text(text)) => text.expose().to_owned(),
        other => format!("{other:?}"),
    };
    let all = exchange.exchangers.iter().map(|own| {
        let id = own.client.id.clone().unwrap_or_default();
        [own.issuer.clone(), own.provider.clone(), id, secret(&own.client.secret)]
    });
    all.collect()
}

#[test]
fn each_issuer_exchanges_its_own_tokens_where_gatefold_is_its_client() {
    let source = "[sources.a]\nurl = 'https://a.example/mcp'\ncredentials = 'exchange'\n";
    let own = exchange(&format!("{ISSUERS}{source}"));
    let id = "https://id.example";
    assert_eq!(exchangers(&own), [[id, id, "own", "planted"]], "it is no client of the second");
    assert_eq!(own.resource.as_deref(), Some("https://a.example/mcp"));
    assert_eq!((own.audience, own.scopes), (None, Vec::new()));
}

#[test]
fn a_source_names_a_client_of_one_issuer_and_what_its_tokens_are_for() {
    let source = "[sources.a]\nurl = 'https://a.example/mcp'\n[sources.a.credentials.exchange]\n\
                  client_id = 'c'\nclient_secret = 's'\naudience = 'a'\nscopes = ['x', 'y']\n";
    let ambiguous = toml(&format!("{ISSUERS}{source}")).unwrap_err();
    insta::assert_snapshot!(ambiguous, @r#"
    gatefold.toml:12:12: `sources.a.credentials` does not say at which issuer its client is
      help: write the `issuer` beside it, one of those in `[[server.issuers]]`
    "#);
    let b = "https://b.example";
    let own = exchange(&format!("{ISSUERS}{source}issuer = '{b}'\n"));
    assert_eq!(
        exchangers(&own),
        [[b, b, "c", "s"]],
        "nobody else sees its secret, nor other tokens"
    );
    assert_eq!((own.audience.as_deref(), own.resource), (Some("a"), None));
    assert_eq!(own.scopes, ["x", "y"]);
}

#[test]
fn all_tokens_go_to_another_provider_only_if_the_source_names_it() {
    let source = "[sources.a]\nopenapi = 'https://a.example/openapi.json'\n\
                  base_url = 'https://a.example'\n[sources.a.credentials.exchange]\n\
                  issuer = 'https://c.example'\nclient_id = 'c'\nresource = 'https://r.example'\n";
    let own = exchange(&format!("{ISSUERS}{source}"));
    let c = "https://c.example";
    let expected = [["https://id.example", c, "c", "None"], ["https://b.example", c, "c", "None"]];
    assert_eq!(exchangers(&own), expected);
    assert_eq!(own.resource.as_deref(), Some("https://r.example"));
    let source = "[sources.a]\nopenapi = 'https://a.example/openapi.json'\n\
                  base_url = 'https://a.example'\ncredentials = 'exchange'\n";
    let own = exchange(&format!("{ISSUERS}{source}"));
    assert_eq!(own.resource, None, "an API's tokens are for what the provider thinks");
}

#[test]
fn what_an_exchange_lacks_has_its_place_and_hint() {
    let mcp = |name: &str, more: &str| {
        format!("[sources.{name}]\nurl = 'https://{name}.example/mcp'\n{more}\n")
    };
    let alone = toml(&mcp("a", "credentials = 'exchange'")).unwrap_err();
    insta::assert_snapshot!(alone, @r#"
    gatefold.toml:3:1: `sources.a.credentials` exchanges tokens of an identity provider, and none is trusted
      help: name the provider in `[[server.issuers]]`: `issuer = "https://id.example"`
    "#);
    let no_client = "[server]\nauthentication = 'token'\npublic_url = 'https://tools.example'\n\
                     [[server.issuers]]\nissuer = 'https://id.example'\n";
    let text = [
        mcp("a", "credentials = 'exchange'"),
        mcp("b", "credentials = { exchange = { client_secret = 'x' } }"),
        mcp("c", "credentials = { exchange = { client_id = 'x', issuer = 'http://c.example' } }"),
        mcp("d", "credentials = { exchange = { client_id = 'x' }, client_header = 'X-D' }"),
        mcp("e", "credentials = { exchange = { client_id = 'x' } }\noauth = { client_id = 'x' }"),
        mcp(
            "f",
            "credentials = { exchange = { client_id = 'x' } }\nheaders = { authorization = 'x' }",
        ),
        "[sources.g]\nopenapi = 'https://g.example'\nbase_url = 'https://g.example'\n\
         credentials = { exchange = { client_id = 'x' } }\nauth = { bearer = 'x' }\n"
            .to_owned(),
        "[sources.h]\nopenapi = 'https://h.example'\n\
         credentials = { exchange = { client_id = 'x' } }\n"
            .to_owned(),
        "[sources.i]\ncommand = 'x'\ncredentials = 'exchange'\n".to_owned(),
    ];
    let wrong = toml(&format!("{no_client}{}", text.concat())).unwrap_err();
    insta::assert_snapshot!(wrong, @r#"
    gatefold.toml:8:1: `sources.a.credentials` needs Gatefold's client at the identity provider
      help: write it: `credentials = { exchange = { client_id = "gatefold", client_secret = "${secret:gatefold-client}" } }`
    gatefold.toml:11:30: `sources.b.credentials.exchange.client_secret` needs `client_id`
      help: write the `client_id` that the provider gave you
    gatefold.toml:14:56: `sources.c.credentials.exchange.issuer` is not encrypted, which is for addresses of this machine alone
      help: write it in full: "https://id.example"
    gatefold.toml:17:49: `sources.d.credentials.client_header` is set beside `exchange`
      help: keep one of the two
    gatefold.toml:21:1: `sources.e.oauth` is set beside `credentials = "exchange"`
      help: keep one of the two
    gatefold.toml:24:1: `sources.f.credentials` is set beside the header `Authorization`, which signs in already
      help: keep one of the two
    gatefold.toml:30:1: `sources.g.auth` is set beside `credentials = "exchange"`
      help: keep one of the two
    gatefold.toml:33:1: `sources.h.credentials` needs `base_url`
      help: write `base_url = "https://api.example.com"` beside it: the credentials go there and nowhere else
    gatefold.toml:36:1: `sources.i.credentials` belongs to `url`, not to `command`
      help: remove it
    "#);
}
