use super::*;

pub(super) use crate::statements::statements;

fn file_dialects() -> [(&'static str, &'static [Dialect]); 3] {
    [
        ("sqlite", &[Dialect::Sqlite]),
        ("postgres", &[Dialect::Postgres]),
        ("mysql", &[Dialect::MySql, Dialect::MariaDb]),
    ]
}

#[test]
fn every_attack_is_refused() {
    for (file, dialects) in file_dialects() {
        let attacks = statements(&format!("attacks.{file}.sql"));
        let mut techniques: Vec<_> = attacks.iter().map(|(technique, _)| technique).collect();
        techniques.dedup();
        assert!(techniques.len() >= 60, "{file}: {} techniques", techniques.len());
        assert!(attacks.len() >= 140, "{file}: {} statements", attacks.len());
        for dialect in dialects {
            let visible = visible(*dialect, Rules::Closed);
            let passed: Vec<_> = attacks
                .iter()
                .filter_map(|(technique, sql)| {
                    let passed = Guard::new(&visible).check(sql).ok()?;
                    Some(format!("{dialect}, {technique}: {sql}\n    as {}", passed.sql))
                })
                .collect();
            assert!(passed.is_empty(), "{}", passed.join("\n"));
        }
    }
}

#[test]
fn every_harmless_statement_passes() {
    for (file, dialects) in file_dialects() {
        let harmless = statements(&format!("harmless.{file}.sql"));
        assert!(harmless.len() >= 60, "{file}: {} statements", harmless.len());
        for dialect in dialects {
            let visible = visible(*dialect, Rules::Open);
            let refused: Vec<_> = harmless
                .iter()
                .filter_map(|(_, sql)| {
                    let error = Guard::new(&visible).check(sql).err()?;
                    Some(format!("{dialect}: {sql}\n    {error}"))
                })
                .collect();
            assert!(refused.is_empty(), "{}", refused.join("\n"));
        }
    }
}

/// What is sent is judged alike: nothing is rewritten twice, and no comment or trick is left.
#[test]
fn what_is_sent_passes_again() {
    for (file, dialects) in file_dialects() {
        for dialect in dialects {
            let visible = visible(*dialect, Rules::Open);
            let guard = Guard::new(&visible);
            for (_, sql) in statements(&format!("harmless.{file}.sql")) {
                let once = guard.check(&sql).unwrap().sql;
                let twice = guard.check(&once).unwrap_or_else(|error| panic!("{once}: {error}"));
                assert_eq!(twice.sql, once);
            }
        }
    }
}

#[test]
fn corpora_hold_each_statement_once() {
    for (file, _) in file_dialects() {
        for kind in ["attacks", "harmless"] {
            let mut all = statements(&format!("{kind}.{file}.sql"));
            let count = all.len();
            all.sort_by(|left, right| left.1.cmp(&right.1));
            all.dedup_by(|left, right| left.1 == right.1);
            assert_eq!(all.len(), count, "{kind} {file}");
        }
    }
}
