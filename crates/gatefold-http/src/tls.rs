//! TLS for the connections of clients: a certificate with its key, which can be replaced while
//! connections are open.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use gatefold_egress::SystemDate;
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{Error as PemError, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::time_provider::TimeProvider as _;
use rustls::{CertificateError, Error as TlsError, RootCertStore, ServerConfig};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// The most certificates of one chain.
const CHAIN_LIMIT: usize = 16;

/// The content type of a TLS record that holds a part of a handshake (RFC 8446, section 5.1). No
/// request over plain HTTP begins with it.
const HANDSHAKE_RECORD: u8 = 22;

/// Why a certificate and a key cannot be used together. It says nothing of what is in them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlsPairError {
    #[error("the certificate is not PEM")]
    CertificateNotPem,
    #[error("the certificate's file has no certificate as PEM")]
    NoCertificate,
    #[error("the certificate's file has more than {CHAIN_LIMIT} certificates")]
    LongChain,
    #[error("the certificate cannot be read")]
    UnreadableCertificate,
    #[error("the key's file has no private key as PEM: PKCS #8, SEC1 or PKCS #1")]
    NoKey,
    #[error("the key is protected by a passphrase, which nobody can type in here")]
    EncryptedKey,
    #[error("the key is of a kind that cannot be used: RSA from 2,048 bits, ECDSA and Ed25519 can")]
    UnsuitableKey,
    #[error("the key does not fit the certificate, which has to come first in its file")]
    OtherKey,
}

/// What a certificate's dates say of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateAge {
    NotYetValid,
    Valid,
    Expired,
}

/// A certificate, followed by those of its issuers, and its key, which fits it. Its `Debug` shows
/// neither.
#[derive(Clone)]
pub struct TlsPair {
    config: Arc<ServerConfig>,
    certificate: CertificateDer<'static>,
}

impl TlsPair {
    /// Reads both from PEM.
    pub fn from_pem(cert: &[u8], key: &[u8]) -> Result<Self, TlsPairError> {
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(cert).take(CHAIN_LIMIT + 1).collect();
        let chain = chain.map_err(|_| TlsPairError::CertificateNotPem)?;
        if chain.len() > CHAIN_LIMIT {
            return Err(TlsPairError::LongChain);
        }
        let certificate = chain.first().cloned().ok_or(TlsPairError::NoCertificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| no_key(&error, key))?;
        let provider = provider();
        let certified = CertifiedKey::from_der(chain, key, &provider).map_err(|e| unfit(&e))?;
        let builder = ServerConfig::builder_with_details(provider, Arc::new(SystemDate))
            .with_safe_default_protocol_versions()
            .expect("every provider has a version that is safe");
        let resolver = Arc::new(SingleCertAndKey::from(certified));
        let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { config: Arc::new(config), certificate })
    }

    /// What the certificate's dates will say of it after a while.
    pub fn age_after(&self, time: Duration) -> CertificateAge {
        let Some(now) = SystemDate.current_time() else { return CertificateAge::Valid };
        let then = UnixTime::since_unix_epoch(Duration::from_secs(now.as_secs()) + time);
        // Dates are looked at before issuers, so the certificate may stand for its own.
        let mut roots = RootCertStore::empty();
        let _ = roots.add(self.certificate.clone());
        let Ok(parsed) = ParsedCertificate::try_from(&self.certificate) else {
            return CertificateAge::Valid;
        };
        let algorithms = provider().signature_verification_algorithms.all;
        let judged =
            verify_server_cert_signed_by_trust_anchor(&parsed, &roots, &[], then, algorithms);
        match judged {
            Err(TlsError::InvalidCertificate(
                CertificateError::Expired | CertificateError::ExpiredContext { .. },
            )) => CertificateAge::Expired,
            Err(TlsError::InvalidCertificate(
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. },
            )) => CertificateAge::NotYetValid,
            _ => CertificateAge::Valid,
        }
    }
}

impl fmt::Debug for TlsPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsPair").finish_non_exhaustive()
    }
}

/// The process's cryptography, if an embedder has chosen one.
fn provider() -> Arc<CryptoProvider> {
    let chosen = CryptoProvider::get_default().cloned();
    chosen.unwrap_or_else(|| Arc::new(ring::default_provider()))
}

fn no_key(error: &PemError, key: &[u8]) -> TlsPairError {
    const ENCRYPTED: [&[u8]; 2] = [b"ENCRYPTED PRIVATE KEY", b"Proc-Type: 4,ENCRYPTED"];
    let is_encrypted = |mark: &&[u8]| key.windows(mark.len()).any(|part| part == *mark);
    match error {
        _ if ENCRYPTED.iter().any(is_encrypted) => TlsPairError::EncryptedKey,
        _ => TlsPairError::NoKey,
    }
}

fn unfit(error: &TlsError) -> TlsPairError {
    match error {
        TlsError::InconsistentKeys(_) => TlsPairError::OtherKey,
        TlsError::InvalidCertificate(_) => TlsPairError::UnreadableCertificate,
        _ => TlsPairError::UnsuitableKey,
    }
}

/// What secures the connections of an endpoint. New ones get the pair that was put in last; those
/// that are open go on with theirs.
#[derive(Debug)]
pub struct ListenerTls {
    pair: ArcSwap<TlsPair>,
}

impl ListenerTls {
    pub fn new(pair: TlsPair) -> Self {
        Self { pair: ArcSwap::from_pointee(pair) }
    }

    /// Secures new connections with another pair.
    pub fn replace(&self, pair: TlsPair) {
        self.pair.store(Arc::new(pair));
    }

    /// The handshake of a new connection.
    pub(crate) async fn handshake(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let config = self.pair.load().config.clone();
        TlsAcceptor::from(config).accept(stream).await
    }
}

/// Whether a client begins with a handshake. It waits until the client has sent something.
pub(crate) async fn begins_handshake(stream: &TcpStream) -> io::Result<bool> {
    let mut first = [0];
    match stream.peek(&mut first).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(first[0] == HANDSHAKE_RECORD),
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};

    use super::*;

    fn certificate(key: &KeyPair, years: (i32, i32)) -> String {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.not_before = date_time_ymd(years.0, 1, 1);
        params.not_after = date_time_ymd(years.1, 1, 1);
        params.self_signed(key).unwrap().pem()
    }

    fn pem(label: &str, der: &[u8]) -> String {
        use base64::Engine as _;
        let body = base64::engine::general_purpose::STANDARD.encode(der);
        format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
    }

    /// The key inside of PKCS #8, as SEC1 has it (RFC 5958, section 2): the octets after the
    /// algorithm.
    fn sec1(key: &KeyPair) -> String {
        let der = key.serialize_der();
        let at = der.windows(2).position(|octets| octets == [0x04, 0x6d]).unwrap();
        pem("EC PRIVATE KEY", &der[at + 2..])
    }

    #[track_caller]
    fn check(cert: &str, key: &str, expected: Result<(), TlsPairError>) {
        let read = TlsPair::from_pem(cert.as_bytes(), key.as_bytes());
        assert_eq!(read.map(|_| ()), expected);
    }

    #[test]
    fn a_pair_says_what_is_wrong_with_it() {
        let (key, other) = (KeyPair::generate().unwrap(), KeyPair::generate().unwrap());
        let cert = certificate(&key, (2020, 2400));
        let (key_pem, other_pem) = (key.serialize_pem(), other.serialize_pem());
        let encrypted = key_pem.replace("PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
        let truncated = cert.split_once("-----END").unwrap().0;
        for (cert, key, expected) in [
            (cert.as_str(), key_pem.as_str(), Ok(())),
            (&cert, &sec1(&key), Ok(())),
            (&format!("{cert}{key_pem}"), &format!("{cert}{key_pem}"), Ok(())),
            (&format!("{cert}{}", certificate(&other, (2020, 2400))), &key_pem, Ok(())),
            (&cert, &other_pem, Err(TlsPairError::OtherKey)),
            (&cert, &encrypted, Err(TlsPairError::EncryptedKey)),
            (&cert, &cert, Err(TlsPairError::NoKey)),
            (&cert, "", Err(TlsPairError::NoKey)),
            (&cert, &pem("PRIVATE KEY", b"s3cret"), Err(TlsPairError::UnsuitableKey)),
            ("", &key_pem, Err(TlsPairError::NoCertificate)),
            (&key_pem, &key_pem, Err(TlsPairError::NoCertificate)),
            (truncated, &key_pem, Err(TlsPairError::CertificateNotPem)),
            (&pem("CERTIFICATE", b"x"), &key_pem, Err(TlsPairError::UnreadableCertificate)),
            (&cert.repeat(CHAIN_LIMIT + 1), &key_pem, Err(TlsPairError::LongChain)),
        ] {
            check(cert, key, expected);
        }
    }

    #[test]
    fn an_rsa_key_is_read_from_pkcs_1() {
        let files = ["rsa-cert.pem", "rsa-key.pem"];
        let [cert, key] = files.map(|name| {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pairs/");
            std::fs::read_to_string(format!("{folder}{name}")).unwrap()
        });
        assert!(key.starts_with("-----BEGIN RSA PRIVATE KEY-----"));
        check(&cert, &key, Ok(()));
    }

    #[test]
    fn a_certificate_is_good_within_its_dates() {
        let key = KeyPair::generate().unwrap();
        let age = |years, time| {
            let cert = certificate(&key, years);
            let pair = TlsPair::from_pem(cert.as_bytes(), key.serialize_pem().as_bytes());
            pair.unwrap().age_after(time)
        };
        let (now, much_later) = (Duration::ZERO, Duration::from_hours(24 * 365 * 500));
        assert_eq!(age((2020, 2400), now), CertificateAge::Valid);
        assert_eq!(age((2020, 2400), much_later), CertificateAge::Expired);
        assert_eq!(age((2020, 2021), now), CertificateAge::Expired);
        assert_eq!(age((2300, 2400), now), CertificateAge::NotYetValid);
        assert_eq!(age((2300, 2400), Duration::from_hours(24 * 365 * 300)), CertificateAge::Valid);
    }

    #[test]
    fn a_pair_shows_neither_part() {
        let key = KeyPair::generate().unwrap();
        let cert = certificate(&key, (2020, 2400));
        let pair = TlsPair::from_pem(cert.as_bytes(), key.serialize_pem().as_bytes()).unwrap();
        assert_eq!(format!("{pair:?}"), "TlsPair { .. }");
    }
}
