//! What connections are secured with: the machine's CA certificates, and a date that rustls can use.

use std::sync::Arc;
use std::time::Duration;

use gatefold_core::{Clock as _, SystemClock};
use rustls::ClientConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;
use rustls_platform_verifier::BuilderVerifierExt as _;

/// The configuration that reqwest would make itself, but for the date. None on a machine without CA
/// certificates.
pub(crate) fn config() -> Option<ClientConfig> {
    let provider = CryptoProvider::get_default()?.clone();
    let builder = ClientConfig::builder_with_details(provider, Arc::new(SystemDate));
    let builder = builder.with_safe_default_protocol_versions().ok()?;
    let mut config = builder.with_platform_verifier().ok()?.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(config)
}

/// The system's date. One before 1970 counts as 1970, so that a certificate is refused as not valid yet;
/// rustls's own clock panics.
#[derive(Debug)]
struct SystemDate;

impl TimeProvider for SystemDate {
    fn current_time(&self) -> Option<UnixTime> {
        let since_1970 = Duration::from_millis(SystemClock.now().as_millis());
        Some(UnixTime::since_unix_epoch(since_1970))
    }
}
