//! The gateways that requests come through, so that a source that leads back to its own gateway is
//! recognised: its list would grow with each refresh, and its calls would call themselves.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ::http::header::{HeaderMap, HeaderName, HeaderValue};
use tokio::time::Instant;

/// Names the gateways that a request came through, with commas between them.
const GATEWAYS: HeaderName = HeaderName::from_static("gatefold-gateways");
/// The most gateways in front of this one that are remembered. Rows of gateways are short.
const FRONTS: usize = 16;
/// How long a gateway is remembered that asks nothing any more.
const FRONT_AGE: Duration = Duration::from_hours(1);
/// The random bytes of an id.
const ID_BYTES: usize = 16;

/// This gateway and those that ask it.
pub struct GatewayPath {
    /// Random, so that it says nothing of its gateway to the servers that read it.
    id: String,
    /// At most [`FRONTS`], and when they last asked, the latest at the end.
    fronts: Mutex<Vec<(String, Instant)>>,
}

/// A request that has come through this gateway before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GatewayLoop;

impl GatewayLoop {
    pub(crate) const REASON: &str = "this leads back to the gateway that asks: it is a source of itself, \
                                     directly or by way of another gateway; remove the source";
}

impl Default for GatewayPath {
    fn default() -> Self {
        let mut random = [0; ID_BYTES];
        // Without randomness, it is recognised by nobody, itself included.
        let id = getrandom::fill(&mut random).map(|()| u128::from_ne_bytes(random));
        let id = id.map_or_else(|_| String::new(), |id| format!("{id:032x}"));
        Self { id, fronts: Mutex::default() }
    }
}

impl GatewayPath {
    /// Notes the gateways that a request came through, unless this one is among them.
    pub(crate) fn enter(&self, headers: &HeaderMap) -> Result<(), GatewayLoop> {
        let named = headers.get(GATEWAYS).and_then(|value| value.to_str().ok());
        let named = named.into_iter().flat_map(|value| value.split(','));
        let ids = || named.clone().take(FRONTS + 1).filter(|id| is_id(id));
        if ids().any(|id| id == self.id) {
            return Err(GatewayLoop);
        }
        for id in ids() {
            let mut fronts = self.lock();
            fronts.retain(|(front, _)| front != id);
            if fronts.len() == FRONTS {
                fronts.remove(0);
            }
            fronts.push((id.to_owned(), Instant::now()));
        }
        Ok(())
    }

    /// Names this gateway and those in front of it in a request to a server.
    pub(crate) fn name_in(&self, headers: &mut HeaderMap) {
        let mut fronts = self.lock();
        let mut named = self.id.clone();
        fronts.retain(|(_, asked)| asked.elapsed() < FRONT_AGE);
        for (id, _) in &*fronts {
            named.push(',');
            named.push_str(id);
        }
        drop(fronts);
        if let Ok(value) = HeaderValue::try_from(named) {
            headers.insert(GATEWAYS, value);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(String, Instant)>> {
        self.fronts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_id(text: &str) -> bool {
    text.len() == 2 * ID_BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(from: &GatewayPath) -> HeaderMap {
        let mut headers = HeaderMap::new();
        from.name_in(&mut headers);
        headers
    }

    #[test]
    fn a_way_back_is_recognised_however_long_it_is() {
        let [one, other, third] = [(); 3].map(|()| GatewayPath::default());
        assert_eq!(one.enter(&headers(&one)), Err(GatewayLoop));
        assert_eq!(other.enter(&headers(&one)), Ok(()));
        assert_eq!(third.enter(&headers(&other)), Ok(()));
        assert_eq!(one.enter(&headers(&third)), Err(GatewayLoop));
        assert_eq!(other.enter(&headers(&one)), Ok(()), "what was refused is not remembered");
    }

    #[tokio::test(start_paused = true)]
    async fn a_gateway_that_asks_nothing_any_more_is_forgotten() {
        let [one, other] = [(); 2].map(|()| GatewayPath::default());
        other.enter(&headers(&one)).unwrap();
        tokio::time::advance(FRONT_AGE).await;
        assert_eq!(one.enter(&headers(&other)), Ok(()));
    }

    #[test]
    fn what_is_no_id_is_ignored_and_many_are_not_remembered() {
        let own = GatewayPath::default();
        let many: Vec<_> = (0..1000).map(|at: u128| format!("{at:032x}")).collect();
        for value in ["", "x,y", &many.join(",")] {
            let mut sent = HeaderMap::new();
            sent.insert(GATEWAYS, HeaderValue::try_from(value).unwrap());
            assert_eq!(own.enter(&sent), Ok(()));
        }
        assert_eq!(own.lock().len(), FRONTS);
    }
}
