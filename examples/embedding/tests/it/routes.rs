use gatefold::config::{Inputs, load};
use gatefold::{App, Environment};
use gatefold_core::{AgentId, UserId};
use gatefold_identity::NewAccessToken;

use crate::world::{World, answer, serve};

/// A gateway with access tokens of its own.
const WITH_TOKENS: &str = "[server]\nauthentication = 'token'";

#[tokio::test]
async fn an_added_route_asks_the_authenticator_unless_it_is_public() {
    let world = World::of("").await;
    let url = |path: &str| format!("{}{path}", world.origin());
    let refused = answer(&url("/whoami"), None).await;
    assert_eq!(
        (refused.status, &*refused.body),
        (401, "send a token: `Authorization: Bearer TOKEN`")
    );
    assert_eq!(refused.headers["www-authenticate"], "Bearer");
    assert_eq!(answer(&url("/whoami"), Some("token-of-nobody")).await.status, 401);
    let known = answer(&url("/whoami"), Some("token-of-ann")).await;
    assert_eq!((known.status, &*known.body), (200, "ann"));
    let public = answer(&url("/health"), None).await;
    assert_eq!((public.status, &*public.body), (200, "well"));
    assert_eq!(answer(&url("/nowhere"), None).await.status, 404);
}

#[tokio::test]
async fn a_gateway_that_requires_tokens_requires_them_for_added_routes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gatefold.toml");
    std::fs::write(&file, WITH_TOKENS).unwrap();
    let inputs = Inputs { config: Some(file), ..Inputs::default() };
    let config = load(&inputs, &Environment::of_process()).unwrap();
    let app = App::builder(config, folder.path().join("state")).build().await.unwrap();
    let token = async |name: &str, agent: Option<&str>| {
        let new = NewAccessToken {
            name: name.to_owned(),
            user: UserId::new("ann"),
            agent: agent.map(AgentId::new),
            tools: Vec::new(),
            read_only: false,
            expires_at: None,
        };
        app.store().create_access_token(new).await.unwrap().1
    };
    let (own, agents) = (token("laptop", None).await, token("sales", Some("sales")).await);
    let (origin, _stop) = serve(&app).await;
    let url = |path: &str| format!("{origin}{path}");
    let refused = answer(&url("/whoami"), None).await;
    let of_mcp = answer(&url("/mcp"), None).await;
    assert_eq!((refused.status, of_mcp.status), (401, 401));
    assert_eq!(refused.headers["www-authenticate"], of_mcp.headers["www-authenticate"]);
    // The gateway looks for new tokens twice a second.
    let known = async || answer(&url("/whoami"), Some(own.expose())).await;
    while known().await.status == 401 {
        tokio::task::yield_now().await;
    }
    assert_eq!((known().await.status, &*known().await.body), (200, "ann"));
    let refused = answer(&url("/whoami"), Some(agents.expose())).await;
    assert_eq!(refused.status, 401, "an agent's token is good for its address alone");
    assert_eq!(answer(&url("/health"), None).await.status, 200);
}
