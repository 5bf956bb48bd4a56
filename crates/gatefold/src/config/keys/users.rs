use super::super::key::{Key, Kind};
use super::FixedSection;

pub(super) const USERS: FixedSection = FixedSection {
    path: "users.NAME",
    summary: "One person: who they are at an issuer, and their groups.",
    details: "`NAME` is who they are here: the user of `gatefold token create --for NAME`, of sessions, \
              results, notes and records. `users.local` is whoever reaches a gateway without tokens, and \
              who runs `gatefold stdio`. A person of an issuer who is not here is called \
              `SUBJECT@HOST`, with the issuer's host and path.",
    keys: &[
        Key {
            details: "The claim `sub` of their tokens and ID tokens, which stays the same when a name changes.",
            unset: "known by tokens of `gatefold token create` alone",
            example: "\"00u1a2b3c4\"",
            ..Key::new("subject", Kind::Text, "What the issuer calls the person.")
        },
        Key {
            unset: "the only one in `[[server.issuers]]` and `server.sign_in`",
            example: "\"https://id.example\"",
            needs: &["subject"],
            ..Key::new("issuer", Kind::Text, "Which issuer that is.")
        },
        Key {
            details: "Beside those that the issuer names. `sources.NAME.visible_to` asks for them.",
            unset: "none but the issuer's",
            example: "[\"finance\"]",
            ..Key::new("groups", Kind::Texts, "The groups that the person is in.")
        },
    ],
};
