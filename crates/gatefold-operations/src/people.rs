//! The people who sign in at the gateway itself.

use gatefold::config::Config;
use gatefold_core::{Timestamp, UserId};
use gatefold_identity::PersonRecord;
use serde::{Deserialize, Serialize};

use crate::{Fault, OperationError, StateOperations};

/// A link to set a password, good once. Whoever opens it is that user.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PasswordLink {
    pub user: UserId,
    pub link: String,
    pub expires_at: Timestamp,
}

/// The address at which people sign in, if they do with a password.
pub fn sign_in_address(config: &Config) -> Result<String, OperationError> {
    let nobody = |text, help: &str| OperationError::Refused(Fault::new(text).with_help(help));
    let server = &config.server;
    let has_passwords = server.sign_in.as_ref().map(|own| own.password);
    if has_passwords == Some(false) {
        return Err(nobody(
            "nobody signs in at this gateway with a password",
            "write `password = true` into `sign_in`, beside `provider`",
        ));
    }
    let url = server.public_url.as_ref().filter(|_| has_passwords.is_some());
    let url = url.ok_or_else(|| {
        nobody(
            "nobody signs in at this gateway",
            "write `authentication = \"token\"`, `public_url = \"https://tools.example\"` and \
             `sign_in = { password = true }` under `[server]`",
        )
    })?;
    Ok(url.as_str().to_owned())
}

impl StateOperations {
    /// Everybody who signs in here, or may.
    pub async fn people(&self) -> Result<Vec<PersonRecord>, OperationError> {
        self.asker.require_operator("list who signs in")?;
        Ok(self.store.people().await?)
    }

    /// Makes a link to set a password, instead of the one before. `address` is where people sign in.
    pub async fn create_password_link(
        &self,
        user: UserId,
        address: &str,
    ) -> Result<PasswordLink, OperationError> {
        self.asker.require_operator("make a link to set a password")?;
        let made = self.store.create_password_link(&user).await?;
        let link = format!("{address}/oauth/password?link={}", made.text.expose());
        Ok(PasswordLink { user, link, expires_at: made.expires_at })
    }

    /// Removes a person's password and sessions, and ends the access of all clients they let in.
    pub async fn remove_person(&self, user: &UserId) -> Result<(), OperationError> {
        self.asker.require_operator("remove a person")?;
        if self.store.remove_person(user).await? {
            return Ok(());
        }
        let fault = Fault::new(format!("nobody called `{user}` signs in here"));
        Err(OperationError::NotFound(fault.with_help(
            "`gatefold user list` shows who does; `gatefold token revoke` ends made tokens",
        )))
    }
}
