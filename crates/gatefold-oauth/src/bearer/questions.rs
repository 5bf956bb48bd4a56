//! Whose turn it is to have an issuer asked about a token. Anybody can make up tokens.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::TokenBearer;

/// The most questions at a time about tokens that nobody has seen yet.
const NEW_QUESTIONS: usize = 16;
/// The most of these for one network. Its further ones wait, and the others' do not wait for them.
const QUESTIONS_PER_NETWORK: usize = 4;
/// The most questions at a time about tokens that were good a while ago.
const KNOWN_QUESTIONS: usize = 16;

/// The questions that an issuer is asked at a time.
pub(super) struct QuestionPlaces {
    known: Arc<Semaphore>,
    new: Arc<Semaphore>,
    /// Those that have or wait for a place: at most [`NEW_QUESTIONS`], and one for each connection that waits.
    networks: Mutex<HashMap<IpAddr, Arc<Semaphore>>>,
}

/// A place of one question.
pub(super) struct QuestionPlace {
    _of_all: Option<OwnedSemaphorePermit>,
    _of_network: Option<OwnedSemaphorePermit>,
}

impl Default for QuestionPlaces {
    fn default() -> Self {
        let places = |count| Arc::new(Semaphore::new(count));
        Self {
            known: places(KNOWN_QUESTIONS),
            new: places(NEW_QUESTIONS),
            networks: Mutex::default(),
        }
    }
}

impl QuestionPlaces {
    pub(super) async fn take(&self, bearer: TokenBearer) -> QuestionPlace {
        let (all, network) = match bearer {
            TokenBearer::Known => (&self.known, None),
            TokenBearer::Stranger(network) => (&self.new, Some(self.of(network))),
        };
        // The network's own first: whoever waits for it must not keep a place from others.
        let of_network = match network {
            Some(own) => own.acquire_owned().await.ok(),
            None => None,
        };
        let of_all = all.clone().acquire_owned().await.ok();
        QuestionPlace { _of_all: of_all, _of_network: of_network }
    }

    fn of(&self, network: IpAddr) -> Arc<Semaphore> {
        let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        networks.retain(|_, places| Arc::strong_count(places) > 1);
        let new = || Arc::new(Semaphore::new(QUESTIONS_PER_NETWORK));
        networks.entry(network).or_insert_with(new).clone()
    }
}
