//! An HTTP API as a source.

mod credentials;
mod description;
mod failures;
mod outgoing;
mod own_names;
mod prepared;
mod signing;
mod streams;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_catalog::{Manifest, ToolDefinition};
use gatefold_core::{
    BoxError, BusyResource, CallEffect, CallError, Clock, Digest, Domain, Payload, RecentMap,
    Secret, Target, Timestamp, UnsentCause, with_causes,
};
use gatefold_dispatch::{AdmittedCall, CallContext, Credentials, StatelessSource};
use gatefold_egress::{FirstRedirect, HttpClient, HttpResponse, Rate, RateLimiter};
use gatefold_secrecy::{KnownSecrets, SecretValues};
use gatefold_worker::WorkerPool;
use http::StatusCode;
use http::header::AUTHORIZATION;
use serde_json::{Map, Value};
use url::Url;

use crate::actions::{self, WrittenAction};
use crate::answer::{AnswerReading, ReceivedAnswer, extract};
use crate::auth::{Auth, SchemeCredentials, SignIn};
use crate::openapi::Overlay;
use crate::request::{OperationPaths, OutgoingRequest, Routing};
use description::DescriptionReading;
use prepared::PreparedAction;

/// How many prepared actions one source keeps.
const PREPARED: usize = 256;

/// What a source is made of.
pub struct HttpApiSettings {
    pub domain: Domain,
    /// The URL of the server. It takes the place of the ones that a description names.
    pub base: Option<Url>,
    pub auth: Option<Auth>,
    /// Credentials for single schemes of the description.
    pub schemes: SchemeCredentials,
    /// Whether the client signs in by a certificate.
    pub has_certificate: bool,
    /// How often it may be called.
    pub rate: Option<Rate>,
    /// Headers that every request carries.
    pub headers: Vec<(String, Secret)>,
    /// What else must not be shown, whatever it is used for.
    pub secrets: Vec<Secret>,
    pub definition: ApiDefinition,
    pub routing: Routing,
    /// What was offered when the description was last read.
    pub known: Option<Arc<Manifest>>,
}

/// Where an API's operations come from.
pub enum ApiDefinition {
    Described(DescribedOperations),
    Written(Arc<[WrittenAction]>),
}

/// An OpenAPI description, and what a person adds to it.
#[derive(Debug, Clone)]
pub struct DescribedOperations {
    pub place: DescriptionPlace,
    /// Values for the variables in the addresses of servers.
    pub server_variables: BTreeMap<String, String>,
    pub overlay: Arc<Overlay>,
}

/// Where a description is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DescriptionPlace {
    File(PathBuf),
    Url(Url),
}

impl DescriptionPlace {
    pub fn url(&self) -> Option<&Url> {
        match self {
            Self::File(_) => None,
            Self::Url(url) => Some(url),
        }
    }

    /// Whether nothing says that it changed since it was read. Of files that it leads to nobody knows.
    fn is_unchanged_since(&self, read_at: Timestamp) -> bool {
        let Self::File(path) = self else { return true };
        let Ok(changed_at) = path.metadata().and_then(|it| it.modified()) else { return false };
        changed_at
            .duration_since(UNIX_EPOCH)
            .is_ok_and(|at| at.as_millis() < u128::from(read_at.as_millis()))
    }
}

impl fmt::Display for DescriptionPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Url(url) => url.fmt(f),
        }
    }
}

/// An HTTP API.
pub struct HttpApi {
    settings: HttpApiSettings,
    client: HttpClient,
    /// Gives the credentials for each request, beside those of the settings.
    credentials: Option<Arc<dyn Credentials>>,
    /// Run the programs of actions.
    workers: WorkerPool,
    clock: Arc<dyn Clock>,
    limiter: Option<RateLimiter>,
    /// Masked in whatever the API says.
    secrets: Arc<KnownSecrets>,
    /// The same with the credentials that were used last.
    with_credentials: Mutex<Option<LastCredentials>>,
    /// Where all operations are, as the description last had them.
    operations: Mutex<Arc<OperationPaths>>,
    /// At most [`PREPARED`], by the digests of their definitions.
    prepared: Mutex<RecentMap<Digest, Arc<PreparedAction>>>,
}

/// The credentials that are not in the settings and were used last, and what to mask with them.
struct LastCredentials {
    credentials: Arc<[Secret]>,
    secrets: Arc<KnownSecrets>,
}

/// A request that was answered.
struct SentRequest {
    answer: HttpAnswer,
    /// Where the answer came from.
    url: Url,
    /// The credentials that are not in the settings.
    signed_with: Vec<Secret>,
}

enum HttpAnswer {
    Response(Box<HttpResponse>),
    /// It was carried out, and where to read of it is not looked at.
    Redirect(FirstRedirect),
}

impl HttpApiSettings {
    fn secret_values(&self) -> SecretValues {
        let mut values = SecretValues::default();
        if let Some(auth) = &self.auth {
            auth.collect_secrets(&mut values);
        }
        for credential in self.schemes.values() {
            credential.collect_secrets(&mut values);
        }
        for secret in &self.secrets {
            values.add(secret.expose());
        }
        for (name, value) in &self.headers {
            values.add_named(name, value.expose());
        }
        let described = match &self.definition {
            ApiDefinition::Described(described) => described.place.url(),
            ApiDefinition::Written(_) => None,
        };
        for url in self.base.iter().chain(described) {
            values.add_text(url.as_str());
        }
        values
    }

    fn sign_in(&self) -> SignIn<'_> {
        SignIn {
            auth: self.auth.as_ref(),
            schemes: &self.schemes,
            headers: &self.headers,
            base: self.base.as_ref(),
            has_certificate: self.has_certificate,
        }
    }
}

impl HttpApi {
    pub fn new(
        settings: HttpApiSettings,
        client: HttpClient,
        credentials: Option<Arc<dyn Credentials>>,
        workers: WorkerPool,
        clock: Arc<dyn Clock>,
    ) -> Self {
        if let ApiDefinition::Written(actions) = &settings.definition
            && !workers.is_available()
        {
            for action in actions.iter().filter(|action| action.extract.is_some()) {
                let (domain, action) = (&settings.domain, &action.name);
                tracing::warn!(%domain, action, "an action was left out: this program has no workers for its `extract`");
            }
        }
        Self {
            limiter: settings.rate.map(RateLimiter::new),
            client,
            credentials,
            workers,
            clock,
            secrets: Arc::new(KnownSecrets::new(&settings.secret_values())),
            with_credentials: Mutex::default(),
            operations: Mutex::new(Arc::new(settings.operations(settings.known.as_deref()))),
            prepared: Mutex::new(RecentMap::new(PREPARED)),
            settings,
        }
    }

    async fn answer(
        &self,
        call: AdmittedCall,
        mut context: CallContext,
    ) -> Result<Payload, CallError> {
        let target = call.target().clone();
        let Some(definition) = call.definition() else {
            let reason = "its description of this tool has just changed; look it up again";
            return Err(self.not_sent(UnsentCause::Changed, reason));
        };
        let prepared = self.prepared(&target, definition)?;
        // The definition may be of an earlier start.
        if prepared.action.extract.is_some() && !self.workers.is_available() {
            let reason = "this program has no workers, which its `extract` needs";
            return Err(self.not_sent(UnsentCause::SetUp, reason));
        }
        let arguments = arguments(&call, &prepared, &target)?;
        let request = self.request(&prepared.action, &arguments, &target)?;
        self.take_turn(&context).await?;
        let mut sent = self.send(&prepared, request.clone(), &context, &target).await;
        // Nothing was done for a caller without a sign-in.
        if matches!(sent, Err(CallError::NeedsSignIn { .. }))
            && let Some(port) = &self.credentials
            && context.sign_in_by_link(&**port, &self.settings.domain).await
        {
            self.take_turn(&context).await?;
            sent = self.send(&prepared, request, &context, &target).await;
        }
        let SentRequest { answer, url, signed_with } = sent?;
        let secrets = self.secrets_with(signed_with);
        let answer = match answer {
            HttpAnswer::Response(response) => {
                self.received(*response, &context, &target, &secrets).await?
            }
            HttpAnswer::Redirect(redirect) => ReceivedAnswer::of_redirect(&redirect),
        };
        // It is given the text without secrets: of one that it takes apart, no mask finds the pieces.
        let program = prepared.action.extract.as_deref();
        let text = program.and_then(|_| answer.extractable(&prepared.action, &secrets));
        let extracted = match program.zip(text.as_deref()) {
            Some(job) => {
                let effect = CallEffect::of_answered(&target.hints);
                let (workers, principal) = (&self.workers, call.principal());
                Some(extract(workers, principal, job, effect, context.deadline).await)
            }
            None => None,
        };
        Ok(answer.payload(&AnswerReading {
            action: &prepared.action,
            url: &url,
            extracted: extracted.as_ref(),
            credential: self.credential(),
            secrets: &secrets,
            now: self.clock.now(),
        }))
    }

    /// Waits for a turn, if calls are limited.
    async fn take_turn(&self, context: &CallContext) -> Result<(), CallError> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        limiter.turn(context.deadline).await.map_err(|exceeded| {
            let retry_after_s = exceeded.retry_after.as_millis().div_ceil(1000);
            let retry_after_s = u64::try_from(retry_after_s).unwrap_or(u64::MAX);
            let domain = self.settings.domain.clone();
            CallError::Busy { domain, of: BusyResource::Rate { retry_after_s } }
        })
    }

    /// The action of a tool, which is read once for each definition.
    fn prepared(
        &self,
        target: &Target,
        definition: &ToolDefinition,
    ) -> Result<Arc<PreparedAction>, CallError> {
        let kept = || self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(prepared) = kept().get(&target.digest) {
            return Ok(prepared.clone());
        }
        let prepared = PreparedAction::of(definition);
        let prepared = prepared.map_err(|reason| self.not_sent(UnsentCause::SetUp, reason))?;
        let prepared = Arc::new(prepared);
        kept().insert(target.digest, prepared.clone());
        Ok(prepared)
    }

    /// Sends a request with its credentials, and tells which of them are not in the settings. A token
    /// that the API refuses is renewed once: a request that was refused for it had no effect.
    async fn send(
        &self,
        prepared: &PreparedAction,
        request: OutgoingRequest,
        context: &CallContext,
        target: &Target,
    ) -> Result<SentRequest, CallError> {
        let mut own = self.own_credentials(prepared, &context.identity).await?;
        let origin = request.url.origin();
        for is_last in [false, true] {
            let token = self.token(prepared, context).await?;
            let outgoing = self.signed(prepared, request.clone(), own.as_ref(), token.as_ref())?;
            let signed_with = || {
                let own = own.iter().flat_map(|set| set.iter()).map(|own| own.value.clone());
                own.chain(token.clone()).collect()
            };
            let response = match self.client.send(outgoing, context.deadline).await {
                Ok(response) => response,
                Err(error) => {
                    // What it tells may repeat what the request was signed with.
                    let secrets = self.secrets_with(signed_with());
                    let redirect = error.first_redirect().cloned();
                    let redirect = redirect.filter(|it| it.follows_effect(&request.method));
                    let Some(redirect) = redirect else {
                        return Err(self.unanswered(&error, target, &secrets));
                    };
                    let domain = &self.settings.domain;
                    let reason = secrets.mask(&with_causes(&error)).into_owned();
                    tracing::info!(%domain, reason, "a redirect behind an effect was not followed");
                    let answer = HttpAnswer::Redirect(redirect);
                    return Ok(SentRequest {
                        answer,
                        url: request.url,
                        signed_with: signed_with(),
                    });
                }
            };
            let is_refused = response.status() == StatusCode::UNAUTHORIZED;
            if let (Some(Auth::ClientCredentials(account)), Some(token)) =
                (&self.settings.auth, &token)
                && is_refused
                && !is_last
            {
                account.forget(token).await;
                continue;
            }
            // Where a redirect led, nobody saw them.
            if let Some(carried) = &own
                && response.url().origin() == origin
                && let Some(other) = self.refused(carried, &response, &context.identity).await?
                && !is_last
            {
                own = Some(other);
                continue;
            }
            let (url, signed_with) = (response.url().clone(), signed_with());
            let answer = HttpAnswer::Response(Box::new(response));
            return Ok(SentRequest { answer, url, signed_with });
        }
        unreachable!("the last round returns")
    }

    async fn token(
        &self,
        prepared: &PreparedAction,
        context: &CallContext,
    ) -> Result<Option<Secret>, CallError> {
        let is_used = self.settings.sign_in().uses_auth(&prepared.action);
        let Some(Auth::ClientCredentials(account)) =
            self.settings.auth.as_ref().filter(|_| is_used)
        else {
            return Ok(None);
        };
        let token = account.token(&self.client, context.deadline).await;
        token.map(Some).map_err(|error| self.without_token(&error))
    }

    /// What calls sign in with, in the words of a message.
    fn credential(&self) -> &'static str {
        match (&self.settings.auth, &self.credentials) {
            _ if !self.settings.schemes.is_empty() => {
                "it was called with the credentials of its configuration; `gatefold check` names schemes \
                 without one"
            }
            (Some(auth), _) => auth.told(),
            (None, Some(_)) => "it was called with the credentials of its user",
            (None, None) if self.settings.has_certificate => {
                "it was called with the client certificate of its configuration"
            }
            (None, None) => "the source has no `auth` in its configuration",
        }
    }

    /// The secrets to mask, with those that a call was signed with.
    fn secrets_with(&self, signed_with: Vec<Secret>) -> Arc<KnownSecrets> {
        if signed_with.is_empty() {
            return self.secrets.clone();
        }
        let mut last = self.with_credentials.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref().filter(|last| *last.credentials == *signed_with) {
            return known.secrets.clone();
        }
        let mut values = self.settings.secret_values();
        for secret in &signed_with {
            values.add_named(AUTHORIZATION.as_str(), secret.expose());
            values.add(secret.expose());
        }
        let secrets = Arc::new(KnownSecrets::new(&values));
        let credentials = signed_with.into();
        *last = Some(LastCredentials { credentials, secrets: secrets.clone() });
        secrets
    }
}

impl StatelessSource for HttpApi {
    fn describe(&self) -> BoxFuture<'_, Result<Manifest, BoxError>> {
        let now = self.clock.now();
        let manifest = match &self.settings.definition {
            ApiDefinition::Described(described) => {
                let reading = DescriptionReading {
                    described,
                    base_url: self.settings.base.clone(),
                    sign_in: self.settings.sign_in(),
                    has_callers_credentials: self.credentials.is_some()
                        && self.settings.auth.is_none(),
                    client: &self.client,
                    secrets: self.secrets.clone(),
                };
                reading.manifest(now).boxed()
            }
            ApiDefinition::Written(written) => {
                let usable = written
                    .iter()
                    .filter(|action| action.extract.is_none() || self.workers.is_available());
                let manifest = actions::manifest(usable, now);
                std::future::ready(Ok(manifest)).boxed()
            }
        };
        async move {
            self.check_sign_in().await?;
            let manifest = manifest.await?;
            *self.operations() = Arc::new(self.settings.operations(Some(&manifest)));
            Ok(manifest)
        }
        .boxed()
    }

    fn trusts(&self, known: &Manifest) -> bool {
        match &self.settings.definition {
            ApiDefinition::Described(described) => {
                described.place.is_unchanged_since(known.fetched_at())
            }
            ApiDefinition::Written(_) => false,
        }
    }

    fn call(
        &self,
        call: AdmittedCall,
        context: CallContext,
    ) -> BoxFuture<'_, Result<Payload, CallError>> {
        self.answer(call, context).boxed()
    }
}

/// The arguments, checked before anything is sent.
fn arguments(
    call: &AdmittedCall,
    prepared: &PreparedAction,
    target: &Target,
) -> Result<Map<String, Value>, CallError> {
    let text = call.arguments().map_or("{}", |arguments| arguments.get());
    let arguments: Value =
        serde_json::from_str(text).map_err(|error| invalid(target, error.to_string()))?;
    prepared.check.check(&arguments).map_err(|fault| invalid(target, fault))?;
    match arguments {
        Value::Object(arguments) => Ok(arguments),
        Value::Null => Ok(Map::new()),
        _ => Err(invalid(target, "the arguments are no object".to_owned())),
    }
}

fn invalid(target: &Target, message: String) -> CallError {
    CallError::InvalidArguments { tool: target.id.clone(), message, data: None }
}
