//! `[server.sign_in]`: whether people sign in at the gateway itself.

use gatefold_config::Field;
use serde::Deserialize;

/// How people sign in at the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignInConfig {
    /// Whether clients may register themselves.
    pub registration: bool,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PeopleSignInKeys {
    password: Option<bool>,
    registration: Option<bool>,
}

/// Reads the table. Without a way to sign in, nobody could.
pub(super) fn read(field: &Field<'_>) -> Option<SignInConfig> {
    let mut table = field.table()?;
    let keys: PeopleSignInKeys = table.read()?;
    let way = table.peek("password").filter(|_| keys.password == Some(false));
    if let Some(field) = way {
        let hint = "a password is the one way there is: remove `sign_in` if nobody should";
        field.fault("leaves no way to sign in", hint);
    }
    table.finish();
    Some(SignInConfig { registration: keys.registration.unwrap_or(false) })
}
