use std::fmt::Write as _;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use gatefold_sql::{
    Column, Database as _, Dialect, Schema, Table, TableKind, TableName, TablePattern, TableRules,
    VisibleSchema,
};

use crate::server::{Claim, HR, TestDatabase};

pub(crate) const ALL: &[(&str, Claim)] = &[
    ("a_schema_has_columns_keys_indexes_and_comments", a_schema_is_read),
    ("what_views_read_is_told", what_views_read_is_told),
    ("what_unites_a_denied_table_is_denied", what_unites_a_denied_table_is_denied),
    ("only_what_may_be_read_is_there", only_what_may_be_read_is_there),
    ("a_thousand_tables_are_read_in_time", a_thousand_tables_are_read_in_time),
];

fn table<'a>(schema: &'a Schema, name: &str) -> &'a Table {
    schema.tables.iter().find(|table| table.name.name == name).unwrap()
}

fn a_schema_is_read(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change(HR).await;
        let server = database.open();
        let schema = server.read_schema().await.unwrap();
        let is_mariadb = schema.version.contains("MariaDB");
        let dialect = if is_mariadb { Dialect::MariaDb } else { Dialect::MySql };
        assert_eq!(server.dialect(), dialect);
        assert_eq!(schema.default_schemas.join(" "), database.name);
        let names: Vec<_> = schema.tables.iter().map(|table| table.name.name.as_str()).collect();
        assert_eq!(names, ["departments", "employees", "names"]);
        let employees = table(&schema, "employees");
        assert_eq!(employees.comment.as_deref(), Some("who works here"));
        assert_eq!(employees.rows, Some(2));
        assert_eq!(employees.primary_key, ["id"]);
        let column =
            |name: &str| employees.columns.iter().find(|column| column.name == name).unwrap();
        let expected = Column {
            name: "name".to_owned(),
            column_type: "varchar(20)".to_owned(),
            nullable: false,
            default: Some("'no''body'".to_owned()),
            generated: false,
            comment: None,
        };
        assert_eq!(*column("name"), expected);
        assert_eq!(column("id").comment.as_deref(), Some("who"));
        assert_eq!(column("salary").default, None);
        assert!(column("initial").generated);
        assert!(column("initial").default.as_ref().unwrap().contains("left"));
        let key = &employees.foreign_keys[0];
        assert_eq!(key.table, TableName::new(&database.name, "departments"));
        assert_eq!((&key.columns[0], &key.references[0]), (&"department_id".into(), &"id".into()));
        let index = employees.indexes.iter().find(|index| index.name == "by_name").unwrap();
        assert_eq!(
            (&index.columns[..], index.unique),
            (&["name".into(), "salary".into()][..], false)
        );
        assert!(table(&schema, "departments").indexes[0].unique);
        let view = table(&schema, "names");
        assert_eq!((view.kind, &view.comment), (TableKind::View, &None));
        assert_eq!(view.reads, Some(vec![TableName::new(&database.name, "employees")]));
    }
    .boxed()
}

fn what_views_read_is_told(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change(HR).await;
        database
            .change(
                "CREATE VIEW outer_view AS WITH c AS (SELECT * FROM names) SELECT c.name, COUNT(*) n
                    FROM c JOIN departments d ON d.name <> c.name
                    WHERE EXISTS (SELECT 1 FROM employees) GROUP BY c.name;
                 CREATE FUNCTION secret() RETURNS INT RETURN 1;
                 CREATE VIEW calling AS SELECT secret() AS s FROM employees;
                 CREATE TABLE gone (a INT); CREATE VIEW broken AS SELECT a FROM gone;
                 DROP TABLE gone;",
            )
            .await;
        let schema = database.open().read_schema().await.unwrap();
        let reads = |view: &str| {
            let view = schema.tables.iter().find(|table| table.name.name == view)?;
            let mut reads: Vec<_> = view.reads.as_ref()?.iter().map(|read| &read.name).collect();
            reads.sort();
            Some(reads)
        };
        assert_eq!(reads("names"), Some(vec![&"employees".to_owned()]));
        let outer = ["departments", "employees", "names"].map(str::to_owned);
        assert_eq!(reads("outer_view"), Some(outer.iter().collect()));
        assert_eq!(reads("broken"), None);
        // What a function reads, nothing tells.
        assert_eq!(reads("calling"), None);
    }
    .boxed()
}

fn what_unites_a_denied_table_is_denied(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database
            .change(
                "CREATE TABLE one (id INT COMMENT 'UNION=(`gone`)') ENGINE=MyISAM;
                 CREATE TABLE secrets (id INT COMMENT 'UNION=(`gone`)') ENGINE=MyISAM;
                 CREATE TABLE open_one (id INT COMMENT 'UNION=(`gone`)') ENGINE=MERGE UNION=(one);
                 CREATE TABLE both_of (id INT COMMENT 'UNION=(`gone`)') ENGINE=MERGE
                   UNION=(one, secrets);
                 CREATE VIEW seen AS SELECT id FROM both_of;",
            )
            .await;
        let server = database.open();
        let schema = server.read_schema().await.unwrap();
        let shown = |deny: &[&str]| {
            let deny = deny.iter().map(|text| TablePattern::new(text).unwrap()).collect();
            let rules = TableRules { deny, ..TableRules::default() };
            let visible = VisibleSchema::new(server.dialect(), &schema, &rules);
            let names = visible.tables().iter().map(|table| table.table.name.name.as_str());
            names.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(&[]), "both_of one open_one secrets seen");
        assert_eq!(shown(&["secrets"]), "one open_one");
        assert_eq!(shown(&["one"]), "secrets");
    }
    .boxed()
}

fn only_what_may_be_read_is_there(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        database.change(HR).await;
        let (name, reader) = (&database.name, database.reader());
        database
            .change(&format!(
                "REVOKE ALL, GRANT OPTION FROM '{reader}'@'%';
                 GRANT SELECT (id, name) ON `{name}`.employees TO '{reader}'@'%';
                 GRANT INSERT ON `{name}`.departments TO '{reader}'@'%';"
            ))
            .await;
        let schema = database.open().read_schema().await.unwrap();
        let names: Vec<_> = schema.tables.iter().map(|table| table.name.name.as_str()).collect();
        assert_eq!(names, ["employees"]);
        let columns: Vec<_> =
            schema.tables[0].columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(columns, ["id", "name"]);
    }
    .boxed()
}

fn a_thousand_tables_are_read_in_time(database: &TestDatabase) -> BoxFuture<'_, ()> {
    async {
        let mut sql = String::new();
        for at in 0..1_000 {
            write!(
                sql,
                "CREATE TABLE t{at} (id INT PRIMARY KEY, name VARCHAR(50) NOT NULL UNIQUE, \
                 other INT, price DECIMAL(10,2), made DATE) ENGINE=MyISAM COMMENT='number {at}';"
            )
            .unwrap();
        }
        for batch in sql.split_inclusive(';').collect::<Vec<_>>().chunks(100) {
            database.change(&batch.concat()).await;
        }
        let begun = Instant::now();
        let schema = database.open().read_schema().await.unwrap();
        #[expect(clippy::print_stdout, reason = "a figure for whoever runs this by hand")]
        let say = |text: String| println!("{text}");
        say(format!("1,000 tables of {} were read in {:?}", schema.version, begun.elapsed()));
        assert_eq!(schema.tables.len(), 1_000);
        assert!(schema.tables.iter().all(|table| table.columns.len() == 5));
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
    .boxed()
}
