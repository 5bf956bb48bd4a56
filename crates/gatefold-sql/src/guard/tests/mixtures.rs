use std::sync::LazyLock;

use proptest::prelude::*;
use sqlparser::tokenizer::Token;

use super::corpus::statements;
use super::*;

/// Parts of the corpora, put together at random.
fn mixture(parts: &[Vec<String>], picks: &[(usize, usize, usize)]) -> String {
    let mut text = String::new();
    for (which, from, length) in picks {
        let words = &parts[which % parts.len()];
        let from = from % words.len();
        let to = (from + length).min(words.len());
        text.push_str(&words[from..to].join(" "));
        text.push(' ');
    }
    text
}

/// A dialect with the parts of its corpora and what may be seen.
type Case = (Dialect, Vec<Vec<String>>, VisibleSchema);

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let dialects =
        [("sqlite", Dialect::Sqlite), ("postgres", Dialect::Postgres), ("mysql", Dialect::MariaDb)];
    let case = |(file, dialect)| (dialect, parts(file), visible(dialect, Rules::Open));
    dialects.into_iter().map(case).collect()
});

/// The words of every statement, apart at spaces and beside parentheses and commas.
fn parts(file: &str) -> Vec<Vec<String>> {
    let mut all = statements(&format!("harmless.{file}.sql"));
    all.extend(statements(&format!("attacks.{file}.sql")));
    let spaced = |sql: &str| {
        sql.replace('(', " ( ").replace(')', " ) ").replace(',', " , ").replace(';', " ; ")
    };
    let words = |sql: &str| spaced(sql).split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let words = all.iter().map(|(_, sql)| words(sql));
    words.filter(|words| !words.is_empty() && words.len() < 200).collect()
}

/// Calls nothing that acts, and reads no table that is not visible. Any of the names may be an alias.
fn is_clean(dialect: Dialect, sent: &str) -> bool {
    const FUNCTIONS: [&str; 8] = [
        "pg_sleep",
        "sleep",
        "benchmark",
        "load_file",
        "load_extension",
        "set_config",
        "pg_read_file",
        "nextval",
    ];
    let tokens = tokens::read(dialect, sent).unwrap();
    let name = |token: &Token| match token {
        Token::Word(word) => word.value.to_lowercase(),
        token => token.to_string(),
    };
    let names: Vec<_> = tokens
        .iter()
        .filter(|token| !matches!(token.token, Token::Whitespace(_)))
        .map(|token| name(&token.token))
        .collect();
    let calls = names.windows(2).any(|two| FUNCTIONS.contains(&&*two[0]) && two[1] == "(");
    let secret = [default_schema(dialect), ".", "secrets"];
    let reads = names.windows(3).any(|three| three == secret);
    !calls && !reads && !names.iter().any(|name| name == ";")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_passes_is_clean_and_passes_again(
        picks in prop::collection::vec((0_usize..1_000, 0_usize..40, 1_usize..12), 1..5),
    ) {
        for (dialect, parts, visible) in &*CASES {
            let sql = mixture(parts, &picks);
            if let Ok(passed) = Guard::new(visible).check(&sql) {
                prop_assert!(is_clean(*dialect, &passed.sql), "{sql}\n{}", passed.sql);
                let again = Guard::new(visible).check(&passed.sql).map(|again| again.sql);
                prop_assert_eq!(again, Ok(passed.sql));
            }
        }
    }
}
