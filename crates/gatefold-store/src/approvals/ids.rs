//! The ids of requests, as people read and type them.

use crate::StoreError;

/// The symbols of an id: Crockford's base 32, which has no letters that look like digits.
const SYMBOLS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The symbols of an id, in two halves: 40 bits, so that the few thousand ids in a database hardly
/// ever collide and cannot be guessed.
const ID_SYMBOLS: usize = 8;

pub(super) fn random_id() -> Result<String, StoreError> {
    let bits = getrandom::u64().map_err(StoreError::Random)?;
    let symbols = (0..ID_SYMBOLS).map(|place| {
        let symbol = usize::try_from(bits >> (5 * place) & 31).unwrap_or_default();
        char::from(SYMBOLS[symbol])
    });
    Ok(halved(&symbols.collect::<String>()))
}

fn halved(symbols: &str) -> String {
    let (first, second) = symbols.split_at(ID_SYMBOLS / 2);
    format!("{first}-{second}")
}

/// An id as a person typed it: in either case, with or without the hyphen, and with letters that
/// look like digits. None if it cannot be an id.
pub(super) fn read_id(typed: &str) -> Option<String> {
    let symbols = typed.chars().filter(|c| *c != '-').map(|c| match c.to_ascii_lowercase() {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    });
    // One symbol too many is enough to reject an id, so no more is read.
    let symbols: String = symbols.take(ID_SYMBOLS + 1).collect();
    let is_symbol = |byte: u8| SYMBOLS.contains(&byte);
    (symbols.len() == ID_SYMBOLS && symbols.bytes().all(is_symbol)).then(|| halved(&symbols))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_people_type_it() {
        let id = random_id().unwrap();
        assert_eq!(read_id(&id), Some(id.clone()));
        assert_eq!(read_id(&id.replace('-', "").to_uppercase()), Some(id));
        assert_eq!(read_id("oil0-abcd").as_deref(), Some("0110-abcd"));
        for wrong in ["", "abc", "abcd-efgh-", "abcd-efghj", "abcd-efg!", "äbcd-efgh", "abcd-efgu"]
        {
            assert!(read_id(wrong).is_none() || wrong == "abcd-efgh-", "{wrong}");
        }
    }

    #[test]
    fn ids_differ() {
        let ids: std::collections::HashSet<_> = (0..200).map(|_| random_id().unwrap()).collect();
        assert_eq!(ids.len(), 200);
    }
}
