//! What may be selected from: visible tables, `WITH` queries, subqueries and functions.

use sqlparser::ast::{
    Expr, FunctionArg, Ident, JsonTableColumn, ObjectName, TableAlias, TableFactor,
    TableFunctionArgs, TableSampleKind,
};

use super::error::{GuardError, refused};
use super::expressions::check_value;
use super::inspector::{Inspector, name_parts};
use super::scopes::{CommonTable, OutputColumn, Relation};
use super::suggestions::unknown_table;
use crate::{Dialect, TableName, VisibleTable};

/// Functions without parentheses that PostgreSQL selects from.
const TIME_WORDS: [&str; 5] =
    ["current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"];

impl<'a> Inspector<'a> {
    /// Adds what a part of `FROM` names to the innermost scope.
    pub(super) fn table_factor(&mut self, factor: &TableFactor) -> Result<(), GuardError> {
        self.deeper(|inspector| match factor {
            TableFactor::Table { .. } => inspector.named_table(factor),
            TableFactor::Derived { lateral, subquery, alias, sample: None } => {
                let columns = inspector.beside(*lateral, |inspector| inspector.query(subquery))?;
                inspector.add(Relation::new(None, columns), alias.as_ref())
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                let start = inspector.relations_so_far();
                inspector.table_with_joins(table_with_joins)?;
                match alias {
                    Some(alias) => inspector.join_as_one(start, alias),
                    None => Ok(()),
                }
            }
            TableFactor::Function { lateral: _, name, args, with_ordinality, alias } => {
                inspector.function_table(name, args, *with_ordinality, alias.as_ref())
            }
            TableFactor::UNNEST {
                alias,
                array_exprs,
                with_offset: false,
                with_offset_alias: None,
                with_ordinality,
            } if inspector.is_postgres() => {
                inspector.exprs(array_exprs)?;
                let columns = array_exprs.iter().map(|_| unmasked("unnest")).collect();
                inspector.add_function("unnest", columns, *with_ordinality, alias.as_ref())
            }
            TableFactor::JsonTable { json_expr, json_path, columns, alias } => {
                inspector.json_table(json_expr, columns, alias.as_ref())?;
                check_value(json_path)
            }
            _ => Err(refused(
                "this part of `FROM`",
                "tables, subqueries, `LATERAL`, joins and functions that make rows may stand there",
            )),
        })
    }

    fn named_table(&mut self, factor: &TableFactor) -> Result<(), GuardError> {
        let TableFactor::Table {
            name,
            alias,
            args,
            with_hints,
            version,
            with_ordinality,
            partitions,
            json_path,
            sample,
            index_directives,
            inheritance,
        } = factor
        else {
            return Err(refused("this part of `FROM`", "name a table"));
        };
        let is_plain = with_hints.is_empty()
            && version.is_none()
            && partitions.is_empty()
            && json_path.is_none();
        if !is_plain {
            return Err(refused(
                format!("a hint, version or partition at `{name}`"),
                "name the table, with an alias at most",
            ));
        }
        if let Some(TableFunctionArgs { args, settings: None }) = args {
            if let Some(relation) = self.searched_table(name, args)? {
                return self.add(relation, alias.as_ref());
            }
            let idents = name_parts(name)?;
            if let Some(relation) = self.catalogue_function(&idents, args, alias.is_some())? {
                return self.add(relation, alias.as_ref());
            }
            return self.function_table(name, args, *with_ordinality, alias.as_ref());
        }
        if args.is_some() || *with_ordinality {
            return Err(refused(format!("this way to use `{name}`"), "name the table"));
        }
        let has_extras = sample.is_some() || !index_directives.is_empty() || inheritance.is_some();
        if let Some(sample) = sample {
            self.sample(sample)?;
        }
        let relation = self.table_or_query(name, alias.is_some(), has_extras)?;
        self.add(relation, alias.as_ref())
    }

    /// `notes('word')`: a full-text table, of which nothing is hidden, with what is searched in it.
    fn searched_table(
        &mut self,
        name: &ObjectName,
        args: &[FunctionArg],
    ) -> Result<Option<Relation>, GuardError> {
        let idents = name_parts(name)?;
        let (schema, last) = match &*idents {
            [last] => (None, *last),
            [schema, last] => (Some(self.name(schema)), *last),
            _ => return Ok(None),
        };
        let found = self.schema.table(schema.as_deref(), &self.name(last));
        let Some(mut relation) = found.map(|table| self.relation_of(table)) else {
            return Ok(None);
        };
        if relation.search_columns.is_empty() {
            return Ok(None);
        }
        for arg in args {
            self.argument("match", arg)?;
        }
        let (table, first, last) = self.visible_table(&idents)?;
        relation.name = Some(self.name(last));
        self.qualify(table, first, last)?;
        Ok(Some(relation))
    }

    fn table_or_query(
        &mut self,
        name: &ObjectName,
        is_aliased: bool,
        has_extras: bool,
    ) -> Result<Relation, GuardError> {
        let idents = name_parts(name)?;
        if let [ident] = &*idents {
            let bare = self.name(ident);
            let found = self.common_table(&bare)?.cloned();
            if let Some(CommonTable { columns: Some(columns), expanded, .. }) = found {
                self.count_expanded(expanded)?;
                return Ok(Relation::new(Some(bare), columns));
            }
            if self.is_mysql() && ident.quote_style.is_none() && bare.eq_ignore_ascii_case("dual") {
                return Ok(Relation::default());
            }
            // Reserved words, which no table is called by without quotes.
            let is_time = self.is_postgres() && ident.quote_style.is_none();
            if is_time && TIME_WORDS.contains(&&*bare) {
                return Ok(Relation::new(Some(bare.clone()), vec![unmasked(&bare)]));
            }
        }
        if !has_extras && let Some(relation) = self.catalogue_table(&idents, is_aliased)? {
            return Ok(relation);
        }
        let (table, first, last) = self.visible_table(&idents)?;
        let mut relation = self.relation_of(table);
        relation.name = Some(self.name(last));
        if table.has_hidden || relation.has_masked() {
            if has_extras {
                return Err(refused(
                    format!("a sample, an index hint or `ONLY` at `{name}`"),
                    "this table can only be named as it is",
                ));
            }
            relation.has_hidden = false;
            let select = self.select_visible(table)?;
            let mut text = format!("({select} {})", self.full_name(&table.table.name));
            if !is_aliased {
                text.push_str(" AS ");
                text.push_str(&self.dialect().quoted(&self.name(last)));
            }
            self.edits.replace(first.span, last.span, text)?;
        } else {
            self.qualify(table, first, last)?;
        }
        Ok(relation)
    }

    /// A table that a statement names, and the first and last part of its name.
    pub(super) fn visible_table<'n>(
        &mut self,
        idents: &[&'n Ident],
    ) -> Result<(&'a VisibleTable, &'n Ident, &'n Ident), GuardError> {
        let (schema, first, last) = match idents {
            [table] => (None, *table, *table),
            [schema, table] => (Some(self.name(schema)), *schema, *table),
            _ => return Err(refused("a name with more than two parts", "`schema.table`")),
        };
        let name = self.name(last);
        let schema = schema.as_deref();
        let found = self.schema.table(schema, &name);
        let table = found.ok_or_else(|| unknown_table(self.schema, schema, &name))?;
        self.tables.insert(table.table.name.clone());
        Ok((table, first, last))
    }

    /// Writes a table with its schema, as its server spells both: what a bare name means to a session
    /// may be another table.
    pub(super) fn qualify(
        &mut self,
        table: &VisibleTable,
        first: &Ident,
        last: &Ident,
    ) -> Result<(), GuardError> {
        let text = self.full_name(&table.table.name);
        self.edits.replace(first.span, last.span, text)
    }

    pub(super) fn full_name(&self, name: &TableName) -> String {
        let dialect = self.dialect();
        format!("{}.{}", dialect.quoted(&name.schema), dialect.quoted(&name.name))
    }

    /// `SELECT` and the visible columns of a table, by name.
    pub(super) fn select_visible(&self, table: &VisibleTable) -> Result<String, GuardError> {
        let dialect = self.dialect();
        // SQLite takes a quoted name for a string where there is no such column, but not behind a dot.
        let prefix = match dialect {
            Dialect::Sqlite => format!("{}.", dialect.quoted(&table.table.name.name)),
            Dialect::Postgres | Dialect::MySql | Dialect::MariaDb => String::new(),
        };
        let names = table.columns.iter().map(|column| &column.name);
        let quoted = names.map(|name| format!("{prefix}{}", dialect.quoted(name)));
        let columns: Vec<_> = quoted.collect();
        if columns.is_empty() {
            return Err(refused(
                format!("reading `{}`", table.table.name),
                "none of its columns may be seen",
            ));
        }
        Ok(format!("SELECT {} FROM", columns.join(", ")))
    }

    /// A table with its visible columns, before any alias.
    pub(super) fn relation_of(&self, table: &VisibleTable) -> Relation {
        let columns = table.columns.iter();
        let columns = columns
            .map(|column| OutputColumn { name: column.name.clone(), is_masked: column.is_masked });
        let columns: Vec<_> = columns.collect();
        let is_open = !table.has_hidden && !columns.iter().any(|column| column.is_masked);
        let own = table.table.columns.iter();
        let fields = own.filter_map(|column| {
            let fields = self.schema.fields(&column.column_type)?;
            Some((column.name.clone(), fields.to_vec()))
        });
        let search_columns = if is_open && table.table.is_full_text {
            vec![table.table.name.name.clone(), "rank".to_owned()]
        } else {
            Vec::new()
        };
        Relation {
            fields: fields.collect(),
            search_columns,
            schema: Some(table.table.name.schema.clone()),
            name: Some(table.table.name.name.clone()),
            columns,
            merged: Vec::new(),
            has_rowid: is_open && self.dialect() == Dialect::Sqlite,
            has_hidden: table.has_hidden,
        }
    }

    fn sample(&mut self, sample: &TableSampleKind) -> Result<(), GuardError> {
        let (TableSampleKind::BeforeTableAlias(sample) | TableSampleKind::AfterTableAlias(sample)) =
            sample;
        if sample.bucket.is_some() || sample.offset.is_some() || !self.is_postgres() {
            return Err(refused("this kind of sample", "`TABLESAMPLE BERNOULLI (percent)`"));
        }
        if let Some(quantity) = &sample.quantity {
            self.expr(&quantity.value)?;
        }
        sample.seed.as_ref().map_or(Ok(()), |seed| check_value(&seed.value))
    }

    fn function_table(
        &mut self,
        name: &ObjectName,
        args: &[FunctionArg],
        with_ordinality: bool,
        alias: Option<&TableAlias>,
    ) -> Result<(), GuardError> {
        let (called, columns) = self.table_function(name, args)?;
        self.add_function(&called, columns, with_ordinality, alias)
    }

    fn add_function(
        &mut self,
        called: &str,
        mut columns: Vec<OutputColumn>,
        with_ordinality: bool,
        alias: Option<&TableAlias>,
    ) -> Result<(), GuardError> {
        let alias_name = alias.map(|alias| self.name(&alias.name));
        if columns.is_empty() {
            let columns_of_alias = alias.map_or(0, |alias| alias.columns.len());
            let name = alias_name.as_deref().unwrap_or(called);
            // `json_to_record(…) AS r(a int, b text)` names as many as there are.
            columns.extend((0..columns_of_alias.max(1)).map(|_| unmasked(name)));
        }
        if with_ordinality {
            columns.push(unmasked("ordinality"));
        }
        for column in alias.iter().flat_map(|alias| &alias.columns) {
            if let Some(data_type) = &column.data_type {
                self.data_type(data_type)?;
            }
        }
        self.add_aliased(Relation::new(Some(called.to_owned()), columns), alias)
    }

    fn json_table(
        &mut self,
        json: &Expr,
        columns: &[JsonTableColumn],
        alias: Option<&TableAlias>,
    ) -> Result<(), GuardError> {
        self.expr(json)?;
        let mut names = Vec::new();
        self.json_columns(columns, &mut names)?;
        self.add(Relation::new(None, names), alias)
    }

    fn json_columns(
        &mut self,
        columns: &[JsonTableColumn],
        names: &mut Vec<OutputColumn>,
    ) -> Result<(), GuardError> {
        for column in columns {
            match column {
                JsonTableColumn::Named(column) => {
                    self.data_type(&column.r#type)?;
                    check_value(&column.path)?;
                    names.push(unmasked(&self.name(&column.name)));
                }
                JsonTableColumn::ForOrdinality(name) => names.push(unmasked(&self.name(name))),
                JsonTableColumn::Nested(nested) => {
                    check_value(&nested.path)?;
                    self.deeper(|inspector| inspector.json_columns(&nested.columns, names))?;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, relation: Relation, alias: Option<&TableAlias>) -> Result<(), GuardError> {
        let has_types = |alias: &TableAlias| alias.columns.iter().any(|c| c.data_type.is_some());
        if alias.is_some_and(has_types) {
            return Err(refused("types in an alias", "name the columns only"));
        }
        self.add_aliased(relation, alias)
    }

    fn add_aliased(
        &mut self,
        mut relation: Relation,
        alias: Option<&TableAlias>,
    ) -> Result<(), GuardError> {
        if let Some(TableAlias { explicit: _, name, columns, at }) = alias {
            if at.is_some() || columns.len() > relation.columns.len() {
                return Err(refused(
                    format!("the alias `{name}`"),
                    "an alias names at most as many columns as there are",
                ));
            }
            relation.schema = None;
            relation.name = Some(self.name(name));
            for (column, renamed) in relation.columns.iter_mut().zip(columns) {
                column.name = self.name(&renamed.name);
            }
            if !columns.is_empty() {
                relation.fields.clear();
            }
        }
        self.count_relation(relation.columns.len())?;
        self.check_called_once(&relation)?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.relations.push(relation);
        }
        Ok(())
    }

    /// Some servers take two of a name, and `name.*` for both.
    fn check_called_once(&self, relation: &Relation) -> Result<(), GuardError> {
        let Some(name) = &relation.name else { return Ok(()) };
        let is_same = |known: &Relation| {
            let known = known.name.as_ref();
            known.is_some_and(|known| known.to_lowercase() == name.to_lowercase())
        };
        if self.scopes.last().is_some_and(|scope| scope.relations.iter().any(is_same)) {
            let allowed = "give each an alias of its own";
            return Err(refused(format!("two tables or subqueries called `{name}`"), allowed));
        }
        Ok(())
    }

    fn relations_so_far(&self) -> usize {
        self.scopes.last().map_or(0, |scope| scope.relations.len())
    }

    /// `(a JOIN b …) AS j` hides the names within.
    fn join_as_one(&mut self, start: usize, alias: &TableAlias) -> Result<(), GuardError> {
        let dialect = self.dialect();
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        let within: Vec<Relation> = scope.relations.drain(start..).collect();
        if within.iter().any(|relation| relation.has_masked() || relation.has_hidden) {
            return Err(refused(
                "an alias of a join over a table with masked columns",
                "leave the alias of the join out and name each table",
            ));
        }
        let columns = within.iter().flat_map(|relation| relation.starred(dialect)).cloned();
        self.add(Relation::new(None, columns.collect()), Some(alias))
    }

    /// Looks at something in `FROM`, which sees what stands left of it only if it is lateral.
    fn beside<T>(
        &mut self,
        is_lateral: bool,
        look: impl FnOnce(&mut Self) -> Result<T, GuardError>,
    ) -> Result<T, GuardError> {
        let at = self.scopes.len().checked_sub(1);
        let hide = |inspector: &mut Self, is_hidden: bool| {
            if let Some(scope) = at.and_then(|at| inspector.scopes.get_mut(at)) {
                scope.is_hidden = is_hidden;
            }
        };
        hide(self, !is_lateral);
        let seen = look(self);
        hide(self, false);
        seen
    }
}

fn unmasked(name: &str) -> OutputColumn {
    OutputColumn { name: name.to_owned(), is_masked: false }
}
