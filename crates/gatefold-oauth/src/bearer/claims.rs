//! What a token says (RFC 7519, section 4; RFC 9068; RFC 7662, section 2.2).

use std::time::Duration;

use gatefold_core::Timestamp;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::{CLOCK_SKEW_S, TokenFault};

/// The longest subject, in bytes: what a user of ours may be called.
const SUBJECT_BYTES: usize = 255;
/// The most audiences, scopes and groups of a token that are looked at, each.
const LISTED: usize = 256;
/// The longest of them, in bytes.
const LISTED_BYTES: usize = 1024;

#[derive(Debug, Clone)]
pub(crate) struct Claims {
    times: Times,
    all: Map<String, Value>,
}

#[derive(Debug, Clone, Deserialize)]
struct Times {
    #[serde(default)]
    exp: Option<NumericDate>,
    #[serde(default)]
    nbf: Option<NumericDate>,
    #[serde(default)]
    iat: Option<NumericDate>,
}

/// Seconds since 1970, with fractions where an issuer has them (RFC 7519, section 2).
#[derive(Debug, Clone, Copy)]
struct NumericDate(Timestamp);

impl<'de> Deserialize<'de> for NumericDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = Duration::try_from_secs_f64(f64::deserialize(deserializer)?);
        let millis = seconds.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let millis = millis.map_err(serde::de::Error::custom)?;
        Ok(Self(Timestamp::from_millis(millis)))
    }
}

impl Claims {
    pub(crate) fn read(body: &[u8]) -> Result<Self, TokenFault> {
        // Read strictly as well: a time that is no number, or is there twice, is none.
        let times = serde_json::from_slice(body).map_err(|_| TokenFault::Malformed)?;
        let all = serde_json::from_slice(body).map_err(|_| TokenFault::Malformed)?;
        Ok(Self { times, all })
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.all.get(name)?.as_str()
    }

    pub(crate) fn issuer(&self) -> Option<&str> {
        self.text("iss")
    }

    /// Whether an issuer that was asked says that the token is good.
    pub(crate) fn is_active(&self) -> bool {
        self.all.get("active") == Some(&Value::Bool(true))
    }

    /// Whether it has what only ID tokens have (OpenID Connect Core, sections 2 and 3).
    pub(crate) fn is_of_id_token(&self) -> bool {
        ["nonce", "at_hash", "c_hash"].iter().any(|claim| self.all.contains_key(*claim))
    }

    /// What ties it to the request that it answers (OpenID Connect Core, section 2).
    pub(crate) fn nonce(&self) -> Option<&str> {
        self.text("nonce")
    }

    /// Whether it says when it was issued, as ID tokens have to.
    pub(crate) fn has_begin(&self) -> bool {
        self.times.iat.is_some()
    }

    /// Whether it is for this client, and for others only if it was issued to this one (OpenID Connect
    /// Core, section 3.1.3.7).
    pub(crate) fn is_for_client(&self, client: &str) -> bool {
        let is_ours = |value: &Value| value.as_str() == Some(client);
        let (is_for_us, is_for_others) = match self.all.get("aud") {
            Some(Value::Array(items)) => (items.iter().any(is_ours), !items.iter().all(is_ours)),
            Some(only) => (is_ours(only), false),
            None => return false,
        };
        match self.all.get("azp") {
            Some(party) => is_for_us && is_ours(party),
            None => is_for_us && !is_for_others,
        }
    }

    /// A signed token has to end at some time.
    pub(crate) fn has_end(&self) -> bool {
        self.times.exp.is_some()
    }

    pub(crate) fn check_times(&self, now: Timestamp) -> Result<(), TokenFault> {
        if self.over_at().is_some_and(|over| over <= now) {
            return Err(TokenFault::Expired);
        }
        let mut begins = [self.times.nbf, self.times.iat].into_iter().flatten();
        if begins.any(|NumericDate(begin)| begin > skewed(now)) {
            return Err(TokenFault::Early);
        }
        Ok(())
    }

    /// When it is over, even by a clock that is late.
    pub(crate) fn over_at(&self) -> Option<Timestamp> {
        self.times.exp.map(|NumericDate(exp)| skewed(exp))
    }

    pub(crate) fn subject(&self) -> Result<String, TokenFault> {
        let subject = self.text("sub").ok_or(TokenFault::Subject)?;
        let is_legal = !subject.trim().is_empty()
            && subject.len() <= SUBJECT_BYTES
            && !subject.contains(char::is_control);
        is_legal.then(|| subject.to_owned()).ok_or(TokenFault::Subject)
    }

    pub(crate) fn client(&self) -> Option<String> {
        // The claims of RFC 9068, of OpenID Connect, and of two large providers.
        let names = ["client_id", "azp", "cid", "appid"];
        let client = names.into_iter().find_map(|name| self.text(name))?;
        (client.len() <= LISTED_BYTES).then(|| client.to_owned())
    }

    /// How sure the issuer was of the person.
    pub(crate) fn assurance(&self) -> Option<String> {
        let assurance = self.text("acr")?;
        (assurance.len() <= LISTED_BYTES).then(|| assurance.to_owned())
    }

    pub(crate) fn audiences(&self) -> Vec<String> {
        self.all.get("aud").map(|value| texts(value, &[])).unwrap_or_default()
    }

    /// `scope` is a text with spaces; `scp` is a list at some issuers.
    pub(crate) fn scopes(&self) -> Vec<String> {
        let value = self.all.get("scope").or_else(|| self.all.get("scp"));
        value.map(|value| texts(value, &[' '])).unwrap_or_default()
    }

    /// The groups in a claim, by its name, or by a path of names with dots between them.
    pub(crate) fn groups(&self, claim: &str) -> Vec<String> {
        let found = self.all.get(claim).or_else(|| {
            let mut names = claim.split('.');
            let first = self.all.get(names.next()?)?;
            names.try_fold(first, |value, name| value.get(name))
        });
        found.map(|value| texts(value, &[' ', ','])).unwrap_or_default()
    }
}

fn skewed(time: Timestamp) -> Timestamp {
    Timestamp::from_millis(time.as_millis().saturating_add(CLOCK_SKEW_S * 1000))
}

/// The texts of a list, or the parts of a single one.
fn texts(value: &Value, separators: &[char]) -> Vec<String> {
    let whole: Vec<&str> = match value {
        Value::String(text) if separators.is_empty() => vec![text.as_str()],
        Value::String(text) => text.split(separators).collect(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let legal = whole.into_iter().filter(|text| !text.is_empty() && text.len() <= LISTED_BYTES);
    legal.take(LISTED).map(str::to_owned).collect()
}
