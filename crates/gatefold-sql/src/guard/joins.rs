//! Joins, and the columns that they merge.

use sqlparser::ast::{Join, JoinConstraint, JoinOperator, ObjectName, TableWithJoins};

use super::error::{GuardError, refused};
use super::expressions::masked;
use super::inspector::{Inspector, name_parts};
use super::scopes::{OutputColumn, Relation, same_name};
use super::suggestions::unknown_column;

impl Inspector<'_> {
    pub(super) fn table_with_joins(&mut self, tables: &TableWithJoins) -> Result<(), GuardError> {
        let start = self.scopes.last().map_or(0, |scope| scope.relations.len());
        self.table_factor(&tables.relation)?;
        for Join { relation, global, join_operator } in &tables.joins {
            if *global {
                return Err(refused("`GLOBAL JOIN`", "write a plain join"));
            }
            let right = self.scopes.last().map_or(0, |scope| scope.relations.len());
            self.table_factor(relation)?;
            match join_operator {
                JoinOperator::Join(constraint)
                | JoinOperator::Inner(constraint)
                | JoinOperator::Left(constraint)
                | JoinOperator::LeftOuter(constraint)
                | JoinOperator::Right(constraint)
                | JoinOperator::RightOuter(constraint)
                | JoinOperator::FullOuter(constraint)
                | JoinOperator::CrossJoin(constraint)
                | JoinOperator::StraightJoin(constraint) => {
                    self.join_constraint(constraint, start, right)?;
                }
                JoinOperator::Semi(_)
                | JoinOperator::LeftSemi(_)
                | JoinOperator::RightSemi(_)
                | JoinOperator::Anti(_)
                | JoinOperator::LeftAnti(_)
                | JoinOperator::RightAnti(_)
                | JoinOperator::CrossApply
                | JoinOperator::OuterApply
                | JoinOperator::AsOf { .. }
                | JoinOperator::ArrayJoin
                | JoinOperator::LeftArrayJoin
                | JoinOperator::InnerArrayJoin => {
                    return Err(refused(
                        "this kind of join",
                        "inner, left, right, full and cross joins may be used",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Checks how the relations from `right` on are joined to those from `start` to there.
    fn join_constraint(
        &mut self,
        constraint: &JoinConstraint,
        start: usize,
        right: usize,
    ) -> Result<(), GuardError> {
        match constraint {
            JoinConstraint::None => Ok(()),
            JoinConstraint::On(condition) => self.expr(condition),
            JoinConstraint::Using(columns) => {
                let names: Result<Vec<_>, _> =
                    columns.iter().map(|column| self.using_name(column)).collect();
                self.merge(&names?, start, right)
            }
            JoinConstraint::Natural => {
                let names = self.common_names(start, right);
                self.merge(&names, start, right)
            }
            JoinConstraint::UsingAlias(_, _) => {
                Err(refused("an alias of `USING`", "leave the alias out"))
            }
        }
    }

    fn using_name(&self, column: &ObjectName) -> Result<String, GuardError> {
        match &*name_parts(column)? {
            [column] => Ok(self.name(column)),
            _ => Err(refused(format!("`{column}` in `USING`"), "name a column without its table")),
        }
    }

    fn common_names(&self, start: usize, right: usize) -> Vec<String> {
        let dialect = self.dialect();
        let Some(scope) = self.scopes.last() else { return Vec::new() };
        let columns_of = |relations: std::ops::Range<usize>| {
            let relations = scope.relations.get(relations).unwrap_or_default();
            relations.iter().flat_map(|relation| relation.columns.iter().map(|c| c.name.clone()))
        };
        let left: Vec<_> = columns_of(start..right).collect();
        let is_left = |name: &String| left.iter().any(|known| same_name(dialect, known, name));
        columns_of(right..scope.relations.len()).filter(is_left).collect()
    }

    fn merge(&mut self, names: &[String], start: usize, right: usize) -> Result<(), GuardError> {
        let dialect = self.dialect();
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        let joined = scope.relations.get_mut(start..).unwrap_or_default();
        let (left, right) = joined.split_at_mut((right - start).min(joined.len()));
        for name in names {
            let is_named = |column: &&OutputColumn| same_name(dialect, &column.name, name);
            let sides = [&*left, &*right].map(|side: &[Relation]| {
                let columns = side.iter().flat_map(|relation| &relation.columns);
                columns.filter(is_named).map(|column| column.is_masked).reduce(|a, b| a || b)
            });
            match sides {
                [Some(false), Some(false)] => {}
                [Some(_), Some(_)] => return Err(masked(name, "to join tables")),
                _ => return Err(unknown_column(self, None, None, name)),
            }
        }
        for relation in right {
            relation.merged.extend(names.iter().cloned());
        }
        Ok(())
    }
}
