//! Requests for a code (RFC 6749, section 4.1.1; OAuth 2.1, section 4.1.1).

use gatefold_core::{DrawnToken, TokenKind};
use gatefold_identity::{BrowserSession, CodeRecord, Consent, KeepOutcome, Resource, Scopes};

use crate::IssuerError;
use crate::clients::{Client, ClientId};
use crate::documents::DocumentFault;
use crate::families::CODE_LIFE;
use crate::form::{FormFault, Parameters, with_parameters};
use crate::redirect::RedirectUri;
use crate::state::IssuerState;

/// How often to draw another id for a code if one is taken.
const DRAWS: usize = 4;

/// How long a challenge for S256 is: 32 bytes in base64url.
const CHALLENGE_BYTES: usize = 43;

/// Who asks, and where the answer goes. Until both are known to belong together, nobody is sent
/// anywhere.
pub(crate) struct Asker {
    pub(crate) id: ClientId,
    pub(crate) redirect: RedirectUri,
}

/// A request that a person may agree to.
pub(crate) struct AuthorizationRequest {
    pub(crate) client: Client,
    pub(crate) redirect: RedirectUri,
    pub(crate) state: Option<String>,
    pub(crate) challenge: String,
    pub(crate) resource: Resource,
    pub(crate) scopes: Scopes,
}

/// Why a request comes to nothing.
#[derive(Debug)]
pub(crate) enum AuthorizationFault {
    /// Only the person in front of the browser is told.
    Page(String),
    /// The client is told, at this address.
    Answer(String),
    Issuer(IssuerError),
}

impl From<IssuerError> for AuthorizationFault {
    fn from(error: IssuerError) -> Self {
        Self::Issuer(error)
    }
}

impl From<FormFault> for AuthorizationFault {
    fn from(fault: FormFault) -> Self {
        Self::Page(format!("{}.", capitalised(&fault.message())))
    }
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

impl Asker {
    pub(crate) fn read(
        parameters: &Parameters,
        allows_loopback: bool,
    ) -> Result<Self, AuthorizationFault> {
        let page = |text: String| AuthorizationFault::Page(text);
        let id = parameters.one("client_id")?;
        let id =
            id.ok_or_else(|| page("The request does not say which client it is of.".into()))?;
        let id = ClientId::read(id, allows_loopback)
            .map_err(|why| page(format!("The request's `client_id` {why}.")))?;
        let redirect = parameters.one("redirect_uri")?;
        let redirect =
            redirect.ok_or_else(|| page("The request has no address to go back to.".into()))?;
        let redirect = RedirectUri::parse(redirect).map_err(|expected| {
            page(format!(
                "The request's address to go back to is not a legal one, which {expected}."
            ))
        })?;
        Ok(Self { id, redirect })
    }
}

impl AuthorizationRequest {
    /// Reads all of a request but who asks, which is known.
    fn read(
        issuer: &IssuerState,
        parameters: &Parameters,
        client: Client,
        redirect: RedirectUri,
    ) -> Result<Self, AuthorizationFault> {
        let state = parameters.one("state").map_err(|fault| {
            let answer = RefusalAnswer { error: "invalid_request", why: &fault.message() };
            answer.at(issuer, &redirect, None)
        })?;
        let refused = |error, why: &str| RefusalAnswer { error, why }.at(issuer, &redirect, state);
        let invalid = |why: &str| refused("invalid_request", why);
        let one = |name| parameters.one(name).map_err(|fault| invalid(&fault.message()));
        for name in ["request", "request_uri"] {
            if parameters.count(name) > 0 {
                let error = if name == "request" {
                    "request_not_supported"
                } else {
                    "request_uri_not_supported"
                };
                return Err(refused(error, "requests have to be in the address"));
            }
        }
        match one("response_type")? {
            Some("code") => {}
            Some(_) => return Err(refused("unsupported_response_type", "only `code` is offered")),
            None => return Err(invalid("`response_type` is missing")),
        }
        if one("response_mode")?.is_some_and(|mode| mode != "query") {
            return Err(invalid("only the `response_mode` `query` is offered"));
        }
        let challenge = one("code_challenge")?.ok_or_else(|| invalid("PKCE is required"))?;
        if one("code_challenge_method")? != Some("S256") {
            return Err(invalid("only the `code_challenge_method` `S256` is offered"));
        }
        let is_base64 = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
        if challenge.len() != CHALLENGE_BYTES || !challenge.bytes().all(is_base64) {
            return Err(invalid("`code_challenge` is no SHA-256 in base64url"));
        }
        let target = |why| refused("invalid_target", why);
        if parameters.count("resource") > 1 {
            return Err(target("one request is for one `resource`"));
        }
        let public = &issuer.settings.public_url;
        let resource = match one("resource")? {
            Some(text) => Resource::read(public, text)
                .ok_or_else(|| target("`resource` is no part of this gateway"))?,
            None => Resource::everything(public),
        };
        let scopes = match one("scope")? {
            Some(text) => Scopes::read(text)
                .ok_or_else(|| refused("invalid_scope", "there are `mcp:read` and `mcp:write`"))?,
            None => Scopes::ReadAndWrite,
        };
        let (state, challenge) = (state.map(str::to_owned), challenge.to_owned());
        Ok(Self { client, redirect, state, challenge, resource, scopes })
    }

    /// Where the browser goes with a refusal.
    pub(crate) fn refused(&self, issuer: &IssuerState, error: &str, why: &str) -> String {
        RefusalAnswer { error, why }.address(issuer, &self.redirect, self.state.as_deref())
    }

    /// Keeps a code for what a person agreed to. Returns where the browser goes with it.
    pub(crate) async fn granted(
        &self,
        issuer: &IssuerState,
        session: &BrowserSession,
        scopes: Scopes,
    ) -> Result<String, IssuerError> {
        let now = issuer.clock.now();
        let consent = Consent {
            user: session.user.clone(),
            provided: session.provided.clone(),
            client: self.client.id.clone(),
            client_name: self.client.name.clone(),
            resource: self.resource.clone(),
            scopes,
        };
        for _ in 0..DRAWS {
            let drawn = DrawnToken::draw(TokenKind::Code).map_err(IssuerError::Random)?;
            let code = CodeRecord {
                id: drawn.id,
                hash: drawn.hash,
                consent: consent.clone(),
                redirect: self.redirect.as_str().to_owned(),
                challenge: self.challenge.clone(),
                expires_at: now.plus(CODE_LIFE),
            };
            match issuer.store.keep_code(code, now).await.map_err(IssuerError::Store)? {
                KeepOutcome::Refused => continue,
                KeepOutcome::Full => {
                    let why = "too many sign-ins are under way";
                    return Ok(self.refused(issuer, "temporarily_unavailable", why));
                }
                KeepOutcome::Kept => {}
            }
            if self.client.host.is_none() {
                let noted = issuer.store.note_client_use(&self.client.id, now).await;
                noted.map_err(IssuerError::Store)?;
            }
            let iss = issuer.settings.public_url.as_str();
            let mut answer = vec![("code", drawn.text.expose()), ("iss", iss)];
            answer.extend(self.state.as_deref().map(|state| ("state", state)));
            return Ok(with_parameters(self.redirect.as_str(), &answer));
        }
        Err(IssuerError::Busy)
    }
}

impl IssuerState {
    /// The request in a query, if its client may ask for it.
    pub(crate) async fn authorization(
        &self,
        query: &str,
    ) -> Result<AuthorizationRequest, AuthorizationFault> {
        let parameters = Parameters::read(query)?;
        let asker = Asker::read(&parameters, self.documents.allows_loopback())?;
        let client = self.client(&asker).await?;
        AuthorizationRequest::read(self, &parameters, client, asker.redirect)
    }

    /// What can be said against who asks, without asking anybody else. Strangers may have no documents
    /// fetched. Nor does a faulty request send them back: anybody can register a client and write a link
    /// to us that would lead to any place (RFC 9700, section 4.11.2).
    pub(crate) async fn judge_asker(&self, query: &str) -> Result<(), AuthorizationFault> {
        let parameters = Parameters::read(query)?;
        let asker = Asker::read(&parameters, self.documents.allows_loopback())?;
        if matches!(asker.id, ClientId::Registered(_)) {
            self.client(&asker).await?;
        }
        Ok(())
    }

    /// The client that asks, if it named the address that the answer is to go to.
    async fn client(&self, asker: &Asker) -> Result<Client, AuthorizationFault> {
        let unknown = |why: String| {
            AuthorizationFault::Page(format!("The client that asks is not known here. {why}"))
        };
        let client = match &asker.id {
            ClientId::Registered(id) => {
                let record = self.store.registered_client(id, self.clock.now()).await;
                let record = record.map_err(IssuerError::Store)?;
                let never = || unknown("It has never registered here, or too long ago.".to_owned());
                record.map(Client::from).ok_or_else(never)?
            }
            ClientId::Document(url) => {
                let client = self.documents.client(url, &*self.clock).await;
                client.map_err(|DocumentFault(why)| unknown(why))?
            }
        };
        if !client.allows(&asker.redirect) {
            let why = "The address to go back to is none that the client has named.";
            return Err(AuthorizationFault::Page(why.to_owned()));
        }
        Ok(client)
    }
}

/// A refusal that the client is told.
struct RefusalAnswer<'a> {
    error: &'a str,
    why: &'a str,
}

impl RefusalAnswer<'_> {
    fn at(
        &self,
        issuer: &IssuerState,
        redirect: &RedirectUri,
        state: Option<&str>,
    ) -> AuthorizationFault {
        AuthorizationFault::Answer(self.address(issuer, redirect, state))
    }

    /// The issuer is named in refusals too (RFC 9207).
    fn address(&self, issuer: &IssuerState, redirect: &RedirectUri, state: Option<&str>) -> String {
        let iss = issuer.settings.public_url.as_str();
        let mut answer = vec![("error", self.error), ("error_description", self.why), ("iss", iss)];
        answer.extend(state.map(|state| ("state", state)));
        with_parameters(redirect.as_str(), &answer)
    }
}
