//! The text of an access token: `gf_a`, an id of 8 symbols, a secret of 52, a check of 6.

use gatefold_core::{Digest, Secret, TokenId};
use sha2::{Digest as _, Sha256};

use crate::StoreError;

/// What every token begins with. The letter is its kind: `a` for access.
const PREFIX: &str = "gf_a";

/// The symbols of a token, each of five bits: Crockford's base 32, which has no letters that look
/// like digits, and nothing at which a double click stops.
const SYMBOLS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// 40 bits. Ids are unique in a database, and are drawn again until they are.
pub(super) const ID_SYMBOLS: usize = 8;

/// 32 random bytes; the last symbol has only one bit of them.
const SECRET_SYMBOLS: usize = 52;
const SECRET_BYTES: usize = 32;

/// 30 bits of SHA-256 over all that comes before: of a thousand million mistyped tokens, one passes.
const CHECK_SYMBOLS: usize = 6;

const LENGTH: usize = PREFIX.len() + ID_SYMBOLS + SECRET_SYMBOLS + CHECK_SYMBOLS;

/// A new token, and what is kept of it.
pub(super) struct DrawnToken {
    pub(super) id: TokenId,
    pub(super) text: Secret,
    pub(super) hash: Digest,
}

/// A token that is whole, as far as it can be told without looking it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentedToken {
    pub id: TokenId,
    /// The SHA-256 of the whole token.
    pub hash: Digest,
}

/// Whether a text means to be one of our tokens, whole or not.
pub fn is_like_token(text: &str) -> bool {
    text.starts_with("gf_")
}

impl PresentedToken {
    /// Reads a token. `None` for a text that is none, and for a token that was cut off or mistyped.
    pub fn read(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX)?;
        if text.len() != LENGTH || !rest.bytes().all(|symbol| SYMBOLS.contains(&symbol)) {
            return None;
        }
        let (body, check) = text.split_at(LENGTH - CHECK_SYMBOLS);
        if check != check_of(body) {
            return None;
        }
        Some(Self { id: shown_id(&rest[..ID_SYMBOLS]), hash: digest(text) })
    }
}

pub(super) fn draw() -> Result<DrawnToken, StoreError> {
    let mut id = [0; ID_SYMBOLS];
    let mut secret = [0; SECRET_BYTES];
    getrandom::fill(&mut id).map_err(StoreError::Random)?;
    getrandom::fill(&mut secret).map_err(StoreError::Random)?;
    let id: String = id.iter().map(|byte| symbol(usize::from(*byte))).collect();
    let body = format!("{PREFIX}{id}{}", symbols(&secret, SECRET_SYMBOLS));
    let text = format!("{body}{}", check_of(&body));
    Ok(DrawnToken { id: shown_id(&id), hash: digest(&text), text: Secret::new(text) })
}

/// An id as people see it, in two halves: `7hq2-m4xk`.
fn shown_id(symbols: &str) -> TokenId {
    let (first, second) = symbols.split_at(ID_SYMBOLS / 2);
    TokenId::new(format!("{first}-{second}"))
}

/// Whether a text has the form of an id.
pub(super) fn is_id(text: &str) -> bool {
    let is_half = |half: &str| {
        half.len() == ID_SYMBOLS / 2 && half.bytes().all(|symbol| SYMBOLS.contains(&symbol))
    };
    text.split_once('-').is_some_and(|(first, second)| is_half(first) && is_half(second))
}

fn check_of(body: &str) -> String {
    symbols(digest(body).as_bytes(), CHECK_SYMBOLS)
}

fn digest(text: &str) -> Digest {
    Digest::new(Sha256::digest(text).into())
}

fn symbol(value: usize) -> char {
    char::from(SYMBOLS[value % SYMBOLS.len()])
}

/// The first bits of some bytes, five to a symbol. What is missing at the end is zero.
fn symbols(bytes: &[u8], count: usize) -> String {
    let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| usize::from(byte >> (7 - at % 8) & 1));
    let five = |at: usize| (at * 5..at * 5 + 5).fold(0, |value, at| value << 1 | bit(at));
    (0..count).map(|at| symbol(five(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_drawn() {
        let drawn = draw().unwrap();
        let text = drawn.text.expose();
        assert_eq!(text.len(), 70);
        let read = PresentedToken::read(text).unwrap();
        assert_eq!(read, PresentedToken { id: drawn.id.clone(), hash: drawn.hash });
        assert!(is_id(drawn.id.as_str()), "{}", drawn.id);
        assert_ne!(text, draw().unwrap().text.expose());
    }

    #[test]
    fn a_mistyped_or_cut_token_is_recognised_without_a_look() {
        let drawn = draw().unwrap();
        let text = drawn.text.expose();
        for at in 0..text.len() {
            let other = if text.as_bytes()[at] == b'0' { "1" } else { "0" };
            let typo = format!("{}{other}{}", &text[..at], &text[at + 1..]);
            assert_eq!(PresentedToken::read(&typo), None, "at {at}");
            assert_eq!(PresentedToken::read(&text[..at]), None, "cut at {at}");
        }
        for other in ["", "gf_", "gf_é", &text.to_uppercase(), &format!("{text}0")] {
            assert_eq!(PresentedToken::read(other), None, "{other}");
        }
    }

    #[test]
    fn bits_become_symbols_in_their_order() {
        assert_eq!(symbols(&[0b0000_1000, 0b1000_0110], 4), "1230");
        assert_eq!(symbols(&[0xff], 3), "zw0");
    }
}
