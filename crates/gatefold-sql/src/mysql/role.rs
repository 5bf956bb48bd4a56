//! What the user could do beyond reading, from the server's own `SHOW GRANTS`.

use sqlx::{Executor as _, MySqlConnection};

use super::bounds::ServerFacts;
use super::errors::own_failure;
use super::texts::text;
use crate::{DatabaseError, Dialect, Privilege, Role};

/// The most grants that are read of one user.
const MAX_GRANTS: usize = 10_000;

/// Privileges on everything with which a user could leave the database or undo what bounds it. The
/// list is in the order in which they are told.
const REFUSED: &[(&str, &str)] = &[
    ("ALL PRIVILEGES", "do everything on the server"),
    ("FILE", "read and write files of the server"),
    ("SUPER", "change the server's settings and stop others' statements"),
    ("SYSTEM_VARIABLES_ADMIN", "change the server's settings"),
    ("SET_USER_ID", "act as other users"),
    ("SET_ANY_DEFINER", "act as other users"),
    ("SET USER", "act as other users"),
];

/// Privileges that only read.
const READING: &[&str] = &["SELECT", "SHOW DATABASES", "SHOW VIEW", "USAGE"];

/// One line of `SHOW GRANTS`.
#[derive(Debug, PartialEq, Eq)]
struct Grant {
    /// In upper case.
    privileges: Vec<String>,
    /// As the server writes it, `*.*` for everything.
    object: String,
}

pub(super) async fn read(
    connection: &mut MySqlConnection,
    facts: &ServerFacts,
) -> Result<Role, DatabaseError> {
    let grants = grants(connection, facts).await?;
    Ok(Role {
        name: facts.user.clone(),
        server: facts.server(),
        privileges: privileges(&grants),
        better: better(facts),
    })
}

/// Refuses a user that could do more than a source needs.
pub(super) async fn refuse_privileged(
    connection: &mut MySqlConnection,
    facts: &ServerFacts,
) -> Result<(), DatabaseError> {
    let privileges = privileges(&grants(connection, facts).await?);
    let refused = privileges.iter().filter(|privilege| privilege.is_refused);
    let texts: Vec<_> = refused.map(|privilege| privilege.text.as_str()).collect();
    if texts.is_empty() {
        return Ok(());
    }
    Err(DatabaseError::Privileged { role: facts.user.clone(), could: texts.join(", ") })
}

async fn grants(
    connection: &mut MySqlConnection,
    facts: &ServerFacts,
) -> Result<Vec<Grant>, DatabaseError> {
    let mut rows = connection.fetch_all(sqlx::raw_sql("SHOW GRANTS")).await.map_err(own_failure)?;
    if facts.dialect == Dialect::MariaDb {
        let role = connection.fetch_one(sqlx::raw_sql("SELECT CURRENT_ROLE()")).await;
        if text(&role.map_err(own_failure)?, 0).is_some_and(|role| role != "NONE") {
            let of_role = sqlx::raw_sql("SHOW GRANTS FOR CURRENT_ROLE");
            rows.extend(connection.fetch_all(of_role).await.map_err(own_failure)?);
        }
    }
    let lines = rows.iter().take(MAX_GRANTS).filter_map(|row| text(row, 0));
    Ok(lines.filter_map(|line| Grant::parse(&line)).collect())
}

impl Grant {
    /// Reads `GRANT SELECT, INSERT (a, b) ON x.y TO z`. A line without an object grants a role.
    fn parse(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("GRANT ")?;
        let (privileges, rest) = split_outside(rest, " ON ")?;
        let (object, _) = split_outside(rest, " TO ")?;
        let mut privileges = privileges;
        let mut names = Vec::new();
        loop {
            let (first, others) = split_outside(privileges, ", ").unwrap_or((privileges, ""));
            // What stands in parentheses are columns.
            let name = first.split('(').next().unwrap_or_default().trim().to_ascii_uppercase();
            names.push(name);
            if others.is_empty() {
                break;
            }
            privileges = others;
        }
        Some(Self { privileges: names, object: object.to_owned() })
    }

    fn is_global(&self) -> bool {
        self.object == "*.*"
    }
}

/// Splits a text at the first of these separators that is in no quotes and no parentheses.
fn split_outside<'a>(text: &'a str, separator: &str) -> Option<(&'a str, &'a str)> {
    let mut quote = None;
    let mut depth = 0_usize;
    for (at, char) in text.char_indices() {
        if quote.is_none() && depth == 0 && text[at..].starts_with(separator) {
            return Some((&text[..at], &text[at + separator.len()..]));
        }
        match (quote, char) {
            (None, '`' | '\'' | '"') => quote = Some(char),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.saturating_sub(1),
            (Some(open), _) if open == char => quote = None,
            _ => {}
        }
    }
    None
}

fn privileges(grants: &[Grant]) -> Vec<Privilege> {
    let global = |name: &str| {
        let holds = |grant: &&Grant| grant.privileges.iter().any(|held| held == name);
        grants.iter().filter(|grant| grant.is_global()).any(|grant| holds(&grant))
    };
    let mut found = Vec::new();
    for (name, text) in REFUSED.iter().filter(|(name, _)| global(name)) {
        found.push(Privilege { text: format!("{text} (`{name}`)"), is_refused: true });
    }
    for grant in grants {
        let is_listed = |name: &String| {
            let is_refused =
                grant.is_global() && REFUSED.iter().any(|(refused, _)| refused == name);
            !is_refused && !READING.contains(&name.as_str())
        };
        let names: Vec<_> =
            grant.privileges.iter().filter(|name| is_listed(name)).cloned().collect();
        if !names.is_empty() {
            let text = format!("use `{}` on {}", names.join("`, `"), grant.object);
            found.push(Privilege { text, is_refused: false });
        }
    }
    found
}

/// Statements that make a user who can only read.
fn better(facts: &ServerFacts) -> Vec<String> {
    let object = match &facts.database {
        Some(database) => format!("{}.*", facts.dialect.quoted(database)),
        None => "*.*".to_owned(),
    };
    vec![
        "CREATE USER 'gatefold_reader'@'%' IDENTIFIED BY 'a password';".to_owned(),
        format!("GRANT SELECT, SHOW VIEW ON {object} TO 'gatefold_reader'@'%';"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grant_is_read_with_columns_and_quoted_names() {
        let check = |line: &str, privileges: &[&str], object: &str| {
            let grant = Grant::parse(line).expect(line);
            assert_eq!(
                (&grant.privileges[..], grant.object.as_str()),
                (&privileges.iter().map(ToString::to_string).collect::<Vec<_>>()[..], object)
            );
        };
        check("GRANT USAGE ON *.* TO `a`@`%`", &["USAGE"], "*.*");
        check(
            "GRANT SELECT (`a`, `b, c`), INSERT ON `x ON y`.`t` TO `u`@`%` WITH GRANT OPTION",
            &["SELECT", "INSERT"],
            "`x ON y`.`t`",
        );
        assert_eq!(Grant::parse("GRANT `reader` TO `a`@`%`"), None);
    }

    #[test]
    fn what_a_user_could_do_starts_with_the_gravest() {
        let lines = [
            "GRANT SELECT, FILE, PROCESS ON *.* TO `a`@`%`",
            "GRANT SELECT, INSERT ON `hr`.* TO `a`@`%`",
            "GRANT ALL PRIVILEGES ON `own`.* TO `a`@`%`",
        ];
        let grants: Vec<_> = lines.iter().filter_map(|line| Grant::parse(line)).collect();
        let found: Vec<_> =
            privileges(&grants).into_iter().map(|found| (found.text, found.is_refused)).collect();
        assert_eq!(
            found,
            [
                ("read and write files of the server (`FILE`)".to_owned(), true),
                ("use `PROCESS` on *.*".to_owned(), false),
                ("use `INSERT` on `hr`.*".to_owned(), false),
                ("use `ALL PRIVILEGES` on `own`.*".to_owned(), false),
            ]
        );
    }
}
