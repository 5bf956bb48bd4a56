//! The text of Gatefold's own tokens: `gf_`, a letter for the kind, an id of 8 symbols, a secret of 52,
//! a check of 6.
//!
//! What a token is good for, and where its hash is kept, is others' to know.

use sha2::{Digest as _, Sha256};

use crate::{Digest, Secret, TokenId};

const PREFIX: &str = "gf_";

/// The symbols of a token, each of five bits: Crockford's base 32, which has no letters that look
/// like digits, and nothing at which a double click stops.
const SYMBOLS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// 40 bits. Ids are unique in a database, and are drawn again until they are.
const ID_SYMBOLS: usize = 8;

/// 32 random bytes; the last symbol has only one bit of them.
const SECRET_SYMBOLS: usize = 52;
/// How many bytes the secret of a token has.
const SECRET_BYTES: usize = 32;

/// 30 bits of SHA-256 over all that comes before: of a thousand million mistyped tokens, one passes.
const CHECK_SYMBOLS: usize = 6;

const BODY: usize = PREFIX.len() + 1 + ID_SYMBOLS + SECRET_SYMBOLS;
const LENGTH: usize = BODY + CHECK_SYMBOLS;

/// What a token is for. Its letter is in the text, so none passes for one of another kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// Access to the gateway, made from the shell.
    Access,
    /// Access to the gateway that somebody signed in for.
    SignedIn,
    /// Gets the next of the kind before.
    Refresh,
    /// Gets the first ones.
    Code,
    /// Sets a password, once.
    Link,
    /// A browser whose user has signed in.
    Browser,
    /// A browser whose user is on the way to sign in elsewhere.
    Visit,
    /// Comes back with that browser, once.
    Return,
}

impl TokenKind {
    const ALL: [Self; 8] = [
        Self::Access,
        Self::SignedIn,
        Self::Refresh,
        Self::Code,
        Self::Link,
        Self::Browser,
        Self::Visit,
        Self::Return,
    ];

    const fn letter(self) -> char {
        match self {
            Self::Access => 'a',
            Self::SignedIn => 'o',
            Self::Refresh => 'r',
            Self::Code => 'c',
            Self::Link => 'l',
            Self::Browser => 'b',
            Self::Visit => 'v',
            Self::Return => 's',
        }
    }
}

/// A new token, and what is kept of it.
#[derive(Debug)]
pub struct DrawnToken {
    pub id: TokenId,
    pub text: Secret,
    pub hash: Digest,
}

impl DrawnToken {
    /// A token with an id of its own.
    pub fn draw(kind: TokenKind) -> Result<Self, getrandom::Error> {
        let mut id = [0; ID_SYMBOLS];
        getrandom::fill(&mut id)?;
        let id: String = id.iter().map(|byte| symbol(usize::from(*byte))).collect();
        Self::draw_for(kind, &shown_id(&id))
    }

    /// A token with the id of another one.
    pub fn draw_for(kind: TokenKind, id: &TokenId) -> Result<Self, getrandom::Error> {
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret)?;
        Ok(Self::of(kind, id, &secret))
    }

    /// The token with this id and this secret.
    pub fn of(kind: TokenKind, id: &TokenId, secret: &[u8; SECRET_BYTES]) -> Self {
        let (letter, symbols_of_id) = (kind.letter(), id.as_str().replace('-', ""));
        let secret = symbols(secret, SECRET_SYMBOLS);
        let body = format!("{PREFIX}{letter}{symbols_of_id}{secret}");
        let text = format!("{body}{}", check_of(&body));
        Self { id: id.clone(), hash: digest(&text), text: Secret::new(text) }
    }
}

/// A token that is whole, as far as it can be told without looking it up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentedToken {
    pub kind: TokenKind,
    pub id: TokenId,
    /// The SHA-256 of the whole token.
    pub hash: Digest,
}

impl PresentedToken {
    /// Reads a token of any kind. `None` for a text that is none, and for a token that was cut off or
    /// mistyped.
    pub fn read(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX)?;
        if text.len() != LENGTH || !rest.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let kind = TokenKind::ALL.into_iter().find(|kind| rest.starts_with(kind.letter()))?;
        let rest = &rest[1..];
        let (body, check) = text.split_at(BODY);
        if !rest.bytes().all(|symbol| SYMBOLS.contains(&symbol)) || check != check_of(body) {
            return None;
        }
        Some(Self { kind, id: shown_id(&rest[..ID_SYMBOLS]), hash: digest(text) })
    }

    /// Reads a token of one kind.
    pub fn read_as(kind: TokenKind, text: &str) -> Option<Self> {
        Self::read(text).filter(|presented| presented.kind == kind)
    }
}

/// Whether a text means to be one of our tokens, whole or not.
pub fn is_like_token(text: &str) -> bool {
    text.starts_with(PREFIX)
}

/// Whether a text has the form of an id.
pub fn is_token_id(text: &str) -> bool {
    let is_half = |half: &str| {
        half.len() == ID_SYMBOLS / 2 && half.bytes().all(|symbol| SYMBOLS.contains(&symbol))
    };
    text.split_once('-').is_some_and(|(first, second)| is_half(first) && is_half(second))
}

/// An id as people see it, in two halves: `7hq2-m4xk`.
fn shown_id(symbols: &str) -> TokenId {
    let (first, second) = symbols.split_at(ID_SYMBOLS / 2);
    TokenId::new(format!("{first}-{second}"))
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
        for kind in TokenKind::ALL {
            let drawn = DrawnToken::draw(kind).unwrap();
            let text = drawn.text.expose();
            assert_eq!(text.len(), 70);
            let read = PresentedToken::read(text).unwrap();
            assert_eq!(read, PresentedToken { kind, id: drawn.id.clone(), hash: drawn.hash });
            assert!(is_token_id(drawn.id.as_str()), "{}", drawn.id);
            let again = DrawnToken::draw_for(kind, &drawn.id).unwrap();
            assert_eq!(PresentedToken::read(again.text.expose()).unwrap().id, drawn.id);
            assert_ne!(again.hash, drawn.hash);
        }
    }

    #[test]
    fn no_token_passes_for_one_of_another_kind() {
        let drawn = DrawnToken::draw(TokenKind::SignedIn).unwrap();
        let text = drawn.text.expose();
        assert!(PresentedToken::read_as(TokenKind::SignedIn, text).is_some());
        assert_eq!(PresentedToken::read_as(TokenKind::Access, text), None);
        assert_eq!(PresentedToken::read(&text.replacen("gf_o", "gf_a", 1)), None);
        assert_eq!(PresentedToken::read(&text.replacen("gf_o", "gf_x", 1)), None);
    }

    #[test]
    fn a_mistyped_or_cut_token_is_recognised_without_a_look() {
        let drawn = DrawnToken::draw(TokenKind::Access).unwrap();
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
