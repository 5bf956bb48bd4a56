//! Routes, each with whom it is for.

use std::sync::Arc;

use axum::Router;
use tokio_util::task::TaskTracker;

use crate::{AuthenticationLayer, Authenticator, RefusalFormat, RequestBodies, RequiredCaller};

/// What added routes share with the endpoint that they are beside. Their handlers find it among a
/// request's extensions.
#[derive(Clone)]
pub struct SharedEndpoint {
    /// One budget bounds the bodies of all routes.
    pub bodies: Arc<RequestBodies>,
    /// The requests that a shutdown waits for.
    pub requests: TaskTracker,
}

/// Routes beside those of MCP. A plain router becomes routes that need a principal.
#[derive(Debug, Clone, Default)]
pub struct Routes {
    public: Router,
    /// Each with how those are refused who are not known.
    principals: Vec<(Router, RefusalFormat)>,
    operators: Router,
}

impl From<Router> for Routes {
    fn from(router: Router) -> Self {
        Self::default().for_principals(router)
    }
}

impl Routes {
    /// Adds routes that answer everybody, such as those at which a client learns how to sign in.
    #[must_use]
    pub fn public(self, router: Router) -> Self {
        Self { public: self.public.merge(router), ..self }
    }

    /// Adds routes that answer those whom the authenticator knows. Their handlers take an
    /// `Extension<Arc<Principal>>`.
    #[must_use]
    pub fn for_principals(self, router: Router) -> Self {
        self.for_principals_in(RefusalFormat::PLAIN, router)
    }

    /// The same for routes whose clients read refusals in a format of their own.
    #[must_use]
    pub fn for_principals_in(mut self, refusals: RefusalFormat, router: Router) -> Self {
        self.principals.push((router, refusals));
        self
    }

    /// Adds routes that answer those who run the gateway, see [`Authenticator::is_operator`].
    #[must_use]
    pub fn for_operators(self, router: Router) -> Self {
        Self { operators: self.operators.merge(router), ..self }
    }

    /// The routes, each behind what it needs.
    pub fn into_router(self, authenticator: &Arc<dyn Authenticator>) -> Router {
        // A router's own fallback is behind the layer too, unlike with `route_layer`.
        let behind = |router: Router, required, refusals| {
            router.layer(AuthenticationLayer::new(authenticator.clone(), required, refusals))
        };
        let operators = behind(self.operators, RequiredCaller::Operator, RefusalFormat::PLAIN);
        let principals = self.principals.into_iter();
        let principals = principals
            .map(|(router, refusals)| behind(router, RequiredCaller::Principal, refusals));
        // The public ones come last: their answer to unknown paths counts, which needs no principal.
        principals.fold(operators, Router::merge).merge(self.public)
    }
}

#[cfg(test)]
mod tests {
    use axum::Extension;
    use axum::body::Body;
    use axum::routing::get;
    use futures::future::{BoxFuture, ready};
    use gatefold_core::{Principal, UserId};
    use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
    use http::request::Parts;
    use http::{HeaderValue, Request, StatusCode};
    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;
    use crate::{Authenticated, Unauthenticated};

    /// Believes the name in `Authorization`. `root` runs the gateway.
    struct ByName;

    impl Authenticator for ByName {
        fn authenticate<'a>(
            &'a self,
            request: &'a Parts,
        ) -> BoxFuture<'a, Result<Authenticated, Unauthenticated>> {
            let name = request.headers.get(AUTHORIZATION).and_then(|name| name.to_str().ok());
            let principal = name.map(|name| Arc::new(Principal::user(UserId::new(name))));
            let principal = principal.map(Authenticated::from);
            Box::pin(ready(principal.ok_or_else(|| Unauthenticated {
                status: StatusCode::UNAUTHORIZED,
                message: "say who you are".to_owned(),
                challenge: Some(HeaderValue::from_static("Name")),
            })))
        }

        fn is_operator(&self, principal: &Principal) -> bool {
            principal.user.as_str() == "root"
        }
    }

    fn routes() -> Routes {
        let whose = async |Extension(principal): Extension<Arc<Principal>>| {
            principal.user.as_str().to_owned()
        };
        Routes::from(Router::new().route("/own", get(whose)))
            .public(Router::new().route("/open", get(async || "open")))
            .for_operators(Router::new().route("/inside", get(whose)))
    }

    /// Status, challenge and body of an answer.
    async fn answer(routes: Routes, name: Option<&str>, path: &str) -> (u16, String, String) {
        let mut request = Request::get(path);
        if let Some(name) = name {
            request = request.header(AUTHORIZATION, name);
        }
        let served = routes.into_router(&(Arc::new(ByName) as Arc<dyn Authenticator>));
        let response = served.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let challenge = response.headers().get(WWW_AUTHENTICATE).map(|it| it.to_str().unwrap());
        let (status, challenge) = (response.status(), challenge.unwrap_or_default().to_owned());
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status.as_u16(), challenge, String::from_utf8(body.to_vec()).unwrap())
    }

    #[track_caller]
    fn check(told: &(u16, String, String), status: u16, challenge: &str, body: &str) {
        assert_eq!((told.0, told.1.as_str(), told.2.as_str()), (status, challenge, body));
    }

    #[tokio::test]
    async fn an_added_route_needs_a_principal_unless_it_says_otherwise() {
        let refusal = "say who you are";
        check(&answer(routes(), None, "/own").await, 401, "Name", refusal);
        check(&answer(routes(), Some("ann"), "/own").await, 200, "", "ann");
        check(&answer(routes(), None, "/open").await, 200, "", "open");
        check(&answer(routes(), None, "/inside").await, 401, "Name", refusal);
        check(
            &answer(routes(), Some("ann"), "/inside").await,
            403,
            "",
            "this is for those who run the gateway",
        );
        check(&answer(routes(), Some("root"), "/inside").await, 200, "", "root");
    }

    #[tokio::test]
    async fn routes_are_refused_in_the_format_of_their_clients() {
        let format = RefusalFormat {
            content_type: "text/html",
            body: |status, text| format!("{status}: {text}"),
        };
        let both =
            routes().for_principals_in(format, Router::new().route("/other", get(async || "")));
        check(
            &answer(both.clone(), None, "/other").await,
            401,
            "Name",
            "401 Unauthorized: say who you are",
        );
        check(&answer(both, None, "/own").await, 401, "Name", "say who you are");
    }

    #[tokio::test]
    async fn an_unknown_path_is_unknown_to_everybody_and_an_added_fallback_needs_a_principal() {
        check(&answer(routes(), None, "/nowhere").await, 404, "", "");
        let caught = || routes().for_principals(Router::new().fallback(async || "caught"));
        check(&answer(caught(), None, "/nowhere").await, 401, "Name", "say who you are");
        check(&answer(caught(), Some("ann"), "/nowhere").await, 200, "", "caught");
    }
}
