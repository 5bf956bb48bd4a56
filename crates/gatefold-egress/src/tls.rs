//! How connections are secured: with the machine's CA certificates, and a date that rustls can use.

use std::sync::{Arc, Once};
use std::time::Duration;

use gatefold_core::{Clock as _, SystemClock};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::UnixTime;
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

/// The configuration that reqwest would make itself, apart from the date, and whether the machine has CA
/// certificates. Without any, every certificate is refused.
pub(crate) fn config() -> (ClientConfig, bool) {
    install_crypto();
    let provider = CryptoProvider::get_default().expect("one was installed").clone();
    let builder = ClientConfig::builder_with_details(provider.clone(), Arc::new(SystemDate));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.expect("every provider has a version that is safe");
    // A verifier without certificates is an error, even for those who only want plain HTTP.
    let (builder, has_roots) = match Verifier::new(provider) {
        Ok(platform) => {
            (builder.dangerous().with_custom_certificate_verifier(Arc::new(platform)), true)
        }
        Err(_) => (builder.with_root_certificates(RootCertStore::empty()), false),
    };
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    (config, has_roots)
}

/// Makes ring the process's TLS cryptography provider, unless an embedder has already installed
/// one.
fn install_crypto() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let _ = ring::default_provider().install_default();
    });
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
