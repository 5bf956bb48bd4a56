//! A browser: it keeps a cookie, names its origin, and reads forms out of pages.

use std::net::SocketAddr;

use crate::ask::{Ask, PUBLIC, form};
use crate::http::{Answer, send};

pub(crate) struct Browser {
    to: SocketAddr,
    pub(crate) from: [u8; 4],
    pub(crate) cookie: Option<String>,
    /// The one of a browser that is away at a provider.
    pub(crate) visit: Option<String>,
}

impl Browser {
    pub(crate) fn new(to: SocketAddr) -> Self {
        Self { to, from: [127, 0, 0, 1], cookie: None, visit: None }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Answer {
        let answer = self.request("GET", path, &[], "").await;
        self.keep(&answer);
        answer
    }

    pub(crate) async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Answer {
        let answer = self.post_from(Some(PUBLIC), path, fields).await;
        self.keep(&answer);
        answer
    }

    /// Sends a form that a page of another origin holds.
    pub(crate) async fn post_from(
        &self,
        origin: Option<&str>,
        path: &str,
        fields: &[(&str, &str)],
    ) -> Answer {
        let mut headers = vec![("content-type", "application/x-www-form-urlencoded")];
        headers.extend(origin.map(|origin| ("origin", origin)));
        self.request("POST", path, &headers, &form(fields)).await
    }

    async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut headers = headers.to_vec();
        let cookies: Vec<_> = [&self.cookie, &self.visit].into_iter().flatten().cloned().collect();
        let cookies = cookies.join("; ");
        if !cookies.is_empty() {
            headers.push(("cookie", &cookies));
        }
        send(self.to, self.from, &format!("{method} {path}"), &headers, body).await
    }

    fn keep(&mut self, answer: &Answer) {
        for set in answer.all("set-cookie") {
            let (cookie, _) = set.split_once(';').unwrap();
            let own =
                if cookie.contains("gatefold-visit=") { &mut self.visit } else { &mut self.cookie };
            *own = (!set.contains("Max-Age=0")).then(|| cookie.to_owned());
        }
    }

    /// Fills in the page to sign in.
    pub(crate) async fn sign_in(&mut self, ask: &Ask, user: &str, password: &str) -> Answer {
        let fields = [("request", &*ask.query()), ("user", user), ("password", password)];
        self.post("/oauth/sign-in", &fields).await
    }

    /// The page that asks for consent.
    pub(crate) async fn consent_page(&mut self, ask: &Ask) -> String {
        let answer = self.get(&ask.path()).await;
        assert_eq!(answer.status, 200, "{} {}", answer.header("location"), answer.body);
        assert!(answer.body.contains("/oauth/consent"), "{}", answer.body);
        answer.body
    }

    /// Answers a page that asks for consent. Returns where the browser goes.
    pub(crate) async fn decide(&mut self, page: &str, more: &[(&str, &str)]) -> Answer {
        let (request, seal) = (hidden(page, "request"), hidden(page, "seal"));
        let fields = [&[("request", &*request), ("seal", &*seal)], more].concat();
        self.post("/oauth/consent", &fields).await
    }

    /// Agrees to a request. Returns the code.
    pub(crate) async fn code(&mut self, ask: &Ask) -> String {
        let page = self.consent_page(ask).await;
        let answer = self.decide(&page, &[("decision", "allow")]).await;
        assert_eq!(answer.status, 303, "{}", answer.body);
        parameter(answer.header("location"), "code").expect("it goes back with a code")
    }
}

/// The first hidden field of a name in a page.
pub(crate) fn hidden(page: &str, name: &str) -> String {
    let start = format!("name=\"{name}\" value=\"");
    let (_, rest) = page.split_once(&start).unwrap_or_else(|| panic!("no `{name}` in {page}"));
    let (value, _) = rest.split_once('"').unwrap();
    value.replace("&amp;", "&").replace("&#39;", "'").replace("&quot;", "\"")
}

/// A parameter of an address.
pub(crate) fn parameter(address: &str, name: &str) -> Option<String> {
    let url: url::Url = address.parse().ok()?;
    url.query_pairs().find(|(own, _)| own == name).map(|(_, value)| value.into_owned())
}
