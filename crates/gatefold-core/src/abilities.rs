use serde::{Deserialize, Serialize};

/// What a client can be asked: one bit for each capability that a server may list its tools by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientAbilities(u8);

impl ClientAbilities {
    pub const NONE: Self = Self(0);
    pub const ELICITATION: Self = Self(1);
    pub const SAMPLING: Self = Self(2);
    pub const ROOTS: Self = Self(4);
    pub const ALL: Self = Self(7);
    /// Each of them alone.
    pub const SINGLE: [Self; 3] = [Self::ELICITATION, Self::SAMPLING, Self::ROOTS];

    /// These and others.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }
}

/// The clients to which a source lists something: one bit for each combination of abilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AbleClients(u8);

impl Default for AbleClients {
    fn default() -> Self {
        Self::EVERYBODY
    }
}

impl AbleClients {
    pub const EVERYBODY: Self = Self(u8::MAX);

    pub const fn include(self, client: ClientAbilities) -> bool {
        self.0 >> client.0 & 1 == 1
    }

    pub fn are_everybody(&self) -> bool {
        *self == Self::EVERYBODY
    }

    pub const fn to_bits(self) -> u8 {
        self.0
    }

    /// Fills in what was not asked for. `is_listed` is known for no ability, for all and for each
    /// alone. Of a client with two, one is enough to be listed what clients without any are not
    /// listed, or not to be listed what they are.
    pub fn infer(is_listed: impl Fn(ClientAbilities) -> bool) -> Self {
        let is_usual = is_listed(ClientAbilities::NONE);
        let includes = |bits: u8| {
            let client = ClientAbilities(bits);
            if client == ClientAbilities::ALL {
                return is_listed(client);
            }
            let mut own = ClientAbilities::SINGLE.into_iter().filter(|one| client.has(*one));
            own.any(|one| is_listed(one) != is_usual) != is_usual
        };
        let bits = (0..=ClientAbilities::ALL.0).filter(|bits| includes(*bits));
        Self(bits.fold(0, |all, bits| all | 1 << bits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listed_to: &[ClientAbilities], expected: &[u8]) {
        let clients = AbleClients::infer(|client| listed_to.contains(&client));
        let included = (0..8).filter(|bits| clients.include(ClientAbilities(*bits)));
        assert_eq!(included.collect::<Vec<_>>(), expected, "{listed_to:?}");
    }

    #[test]
    fn what_is_listed_to_some_clients_is_inferred_for_all() {
        let (none, all) = (ClientAbilities::NONE, ClientAbilities::ALL);
        let [elicitation, sampling, roots] = ClientAbilities::SINGLE;
        check(&[elicitation, all], &[1, 3, 5, 7]);
        check(&[elicitation, sampling, all], &[1, 2, 3, 5, 6, 7]);
        check(&[all], &[7]);
        check(&[none, sampling, roots], &[0, 2, 4, 6]);
        check(&[none, elicitation, sampling, roots, all], &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(AbleClients::infer(|_| true).are_everybody());
    }
}
