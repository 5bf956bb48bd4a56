//! What a version of a document is called.

use std::fmt::{self, Display};
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// A version of a document: the first bytes of the SHA-256 of its canonical text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version([u8; 6]);

/// A text that is not a version, which has 12 lower-case hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a version has 12 lower-case hex digits")]
pub struct InvalidVersion;

impl Version {
    pub fn of(text: &str) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        let mut bytes = [0; 6];
        for (byte, of_digest) in bytes.iter_mut().zip(digest.iter()) {
            *byte = *of_digest;
        }
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 6] {
        &self.0
    }

    pub fn from_bytes(bytes: [u8; 6]) -> Self {
        Self(bytes)
    }
}

impl Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, InvalidVersion> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 12 || !text.bytes().all(is_hex) {
            return Err(InvalidVersion);
        }
        let mut bytes = [0; 6];
        for (index, byte) in bytes.iter_mut().enumerate() {
            let digits = &text[2 * index..2 * index + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| InvalidVersion)?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_reads_back_as_it_is_written() {
        let version = Version::of("a text");
        assert_eq!(version.to_string().parse(), Ok(version));
        for wrong in ["", "12", "ABCDEF012345", "abcdef01234g", "äbcdef01234", "abcdef0123456"] {
            assert_eq!(wrong.parse::<Version>(), Err(InvalidVersion), "{wrong}");
        }
    }
}
