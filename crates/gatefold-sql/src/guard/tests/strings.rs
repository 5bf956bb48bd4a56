use super::*;

#[test]
fn a_string_can_be_read_in_one_way_only() {
    let check = |dialect: Dialect, sql: &str, expected: &str| {
        assert_eq!(sent(dialect, sql), expected, "{dialect}");
    };
    check(
        Dialect::MySql,
        r#"SELECT 'it\'s', "it's", "a ""b"" \"c\"""#,
        r#"SELECT 'it''s', 'it''s', 'a "b" "c"'"#,
    );
    check(Dialect::MySql, r"SELECT 'a\\', 'b\\''c', '\n\%'", r"SELECT 'a\\', 'b\\''c', '\n\%'");
    check(Dialect::MySql, r#"SELECT "a\\", 'x'"#, r"SELECT 'a\\', 'x'");
    check(Dialect::Postgres, r"SELECT 'a\', E'it\'s \x41'", r"SELECT E'a\\', 'it''s A'");
    check(Dialect::Postgres, "SELECT $$it's$$, $t$a $$ b$t$", "SELECT 'it''s', 'a $$ b'");
    check(Dialect::Postgres, r"SELECT U&'\0041''', N'n'", "SELECT 'A''', 'n'");
    check(
        Dialect::Sqlite,
        "SELECT 'a\\', [b c] FROM (SELECT 1 AS `b c`)",
        "SELECT 'a\\', \"b c\" FROM (SELECT 1 AS \"b c\")",
    );
    check(Dialect::Sqlite, "SELECT 0x1F, x'1F'", "SELECT 0x1F, X'1F'");
}

#[test]
fn what_could_join_is_kept_apart() {
    assert_eq!(sent(Dialect::MySql, "SELECT 3--1"), "SELECT 3- -1");
    assert_eq!(sent(Dialect::MySql, "SELECT 1/**/-/**/-/**/1"), "SELECT 1 - - 1");
    assert_eq!(
        sent(Dialect::Postgres, "SELECT d.u&d.id FROM (SELECT 1 AS u, 2 AS id) d"),
        "SELECT d.u & d.id FROM (SELECT 1 AS u, 2 AS id) d"
    );
    assert_eq!(sent(Dialect::Postgres, "SELECT/**/1"), "SELECT 1");
}
