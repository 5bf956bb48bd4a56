//! How connections are secured: with the machine's CA certificates, and a date that rustls can use.

use std::fmt;
use std::sync::{Arc, Once};
use std::time::Duration;

use gatefold_core::{Clock as _, SystemClock};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::time_provider::TimeProvider;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::EgressError;

/// The most certificates of one client that are read.
const CHAIN_LIMIT: usize = 16;

/// What verifies servers. Every client shares it, since reading the machine's certificates takes
/// milliseconds.
pub(crate) struct Trust {
    provider: Arc<CryptoProvider>,
    /// None where the machine has no CA certificates. Every certificate is refused then.
    verifier: Option<Arc<Verifier>>,
}

impl Trust {
    pub(crate) fn of_machine() -> Self {
        install_crypto();
        let provider = CryptoProvider::get_default().expect("one was installed").clone();
        // A verifier without certificates is an error, even for those who only want plain HTTP.
        let verifier = Verifier::new(provider.clone()).ok().map(Arc::new);
        Self { provider, verifier }
    }

    /// Whether the machine has CA certificates.
    pub(crate) fn has_roots(&self) -> bool {
        self.verifier.is_some()
    }

    /// The configuration that reqwest would make itself, apart from the date.
    pub(crate) fn config(&self, identity: Option<&Identity>) -> ClientConfig {
        let date = Arc::new(SystemDate);
        let builder = ClientConfig::builder_with_details(self.provider.clone(), date);
        let builder = builder.with_safe_default_protocol_versions();
        let builder = builder.expect("every provider has a version that is safe");
        let builder = match self.verifier.clone() {
            Some(verifier) => builder.dangerous().with_custom_certificate_verifier(verifier),
            None => builder.with_root_certificates(RootCertStore::empty()),
        };
        let mut config = match identity {
            Some(identity) => builder.with_client_cert_resolver(identity.resolver.clone()),
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        config
    }
}

/// A client certificate with its key, which fits it. Its `Debug` shows neither.
#[derive(Clone)]
pub struct Identity {
    resolver: Arc<SingleCertAndKey>,
}

impl Identity {
    /// Reads the certificate, followed by those of its issuers, and its key, both as PEM.
    pub fn from_pem(cert: &str, key: &str) -> Result<Self, EgressError> {
        install_crypto();
        let wrong = |reason| EgressError::Identity { reason };
        let certs = CertificateDer::pem_slice_iter(cert.as_bytes()).take(CHAIN_LIMIT);
        let certs: Result<Vec<_>, _> = certs.collect();
        let certs = certs.map_err(|_| wrong("it is not PEM"))?;
        if certs.is_empty() {
            return Err(wrong("it contains no certificate"));
        }
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes());
        let key = key.map_err(|_| wrong("it has no private key as PEM"))?;
        let provider = CryptoProvider::get_default().expect("one was installed");
        let certified = CertifiedKey::from_der(certs, key, provider);
        let certified = certified.map_err(|_| wrong("its key does not fit it"))?;
        Ok(Self { resolver: Arc::new(certified.into()) })
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

/// Makes ring the process's TLS cryptography provider, unless an embedder has already installed
/// one.
fn install_crypto() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let _ = ring::default_provider().install_default();
    });
}

/// The system's date, for rustls. One before 1970 counts as 1970, so that a certificate is refused as not valid yet;
/// rustls's own clock panics.
#[derive(Debug, Clone, Copy)]
pub struct SystemDate;

impl TimeProvider for SystemDate {
    fn current_time(&self) -> Option<UnixTime> {
        let since_1970 = Duration::from_millis(SystemClock.now().as_millis());
        Some(UnixTime::since_unix_epoch(since_1970))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_that_cannot_be_used_says_why_and_shows_nothing() {
        let cert = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for (cert_pem, reason) in [
            ("s3cret", "it contains no certificate"),
            ("-----BEGIN CERTIFICATE-----\ns3cret", "it is not PEM"),
            (cert, "it has no private key as PEM"),
        ] {
            let error = Identity::from_pem(cert_pem, "s3cret").unwrap_err();
            let expected = format!("the client certificate cannot be used: {reason}");
            assert_eq!(error.to_string(), expected);
            assert!(!format!("{error:?}").contains("s3cret"));
        }
    }
}
