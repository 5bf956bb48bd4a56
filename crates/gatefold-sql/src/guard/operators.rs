//! Which operators may be used: all that a dialect has built in, since none of them acts or reveals, and
//! those whose function a rule names.

use sqlparser::ast::{BinaryOperator, UnaryOperator};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::error::{GuardError, refused};
use super::functions::refused_standing;
use super::inspector::Inspector;
use crate::functions::FunctionStanding;

/// Operators of PostgreSQL, and of extensions that search, which the parser has no name for.
const POSTGRES_OPERATORS: [&str; 34] = [
    "<->", "<#>", "<=>", "<+>", "<~>", "<%>", "<%", "%>", "<<%", "%>>", "<<->", "<->>", "<<<->",
    "<->>>", "-|-", "<<=", ">>=", "~<=~", "~>=~", "~<~", "~>~", "@@@", "*=", "*<>", "*<", "*>",
    "*<=", "*>=", "&<|", "|&>", "?-", "?#", "~==", "||/",
];

impl Inspector<'_> {
    pub(super) fn binary_operator(&mut self, op: &BinaryOperator) -> Result<(), GuardError> {
        match op {
            BinaryOperator::Custom(name)
                if self.is_postgres() && !POSTGRES_OPERATORS.contains(&name.as_str()) =>
            {
                return self.own_operator(op, None, name);
            }
            BinaryOperator::PGCustomBinaryOperator(parts) => {
                if let [schema, name] = &**parts {
                    return self.own_operator(op, Some(schema), name);
                }
            }
            _ => {}
        }
        let is_allowed = match op {
            BinaryOperator::Spaceship
            | BinaryOperator::Xor
            | BinaryOperator::BitwiseXor
            | BinaryOperator::MyIntegerDivide => self.is_mysql() || self.is_postgres(),
            BinaryOperator::Match
            | BinaryOperator::Regexp
            | BinaryOperator::Glob
            | BinaryOperator::Is
            | BinaryOperator::IsNot => !self.is_postgres(),
            BinaryOperator::Custom(_) => self.is_postgres(),
            op => is_common(op) || (self.is_postgres() && is_of_postgres(op)),
        };
        self.judged(is_allowed, &op.to_string())
    }

    /// An operator that somebody made, whose function a rule names. It is sent with its schema, so that
    /// no other one runs.
    fn own_operator(
        &mut self,
        op: &BinaryOperator,
        schema: Option<&str>,
        name: &str,
    ) -> Result<(), GuardError> {
        let written = schema.map(|schema| match schema.strip_prefix('"') {
            Some(quoted) => quoted.trim_end_matches('"').to_owned(),
            None => schema.to_ascii_lowercase(),
        });
        let visible = self.schema;
        let functions = visible.functions();
        let found = functions.operator(written.as_deref(), visible.default_schemas(), name);
        let Some((own_schema, routine, standing)) = found else {
            return self.judged(false, &op.to_string());
        };
        if standing != FunctionStanding::Allowed {
            return Err(refused(
                format!("the operator `{op}`, which runs the function `{routine}`,"),
                refused_standing(routine, standing),
            ));
        }
        self.calls_own = true;
        if schema.is_some() || !self.own_operators.insert(name.to_owned()) {
            return Ok(());
        }
        let text = format!("OPERATOR({}.{name})", self.dialect().quoted(own_schema));
        let sign = Token::CustomBinaryOperator(name.to_owned());
        for TokenWithSpan { token, span } in self.tokens {
            if *token == sign {
                self.edits.replace(*span, *span, text.clone())?;
            }
        }
        Ok(())
    }

    pub(super) fn unary_operator(&self, op: UnaryOperator) -> Result<(), GuardError> {
        let is_allowed = match op {
            UnaryOperator::Plus
            | UnaryOperator::Minus
            | UnaryOperator::Not
            | UnaryOperator::BitwiseNot => true,
            UnaryOperator::BangNot => self.is_mysql(),
            UnaryOperator::AtDashAt
            | UnaryOperator::DoubleAt
            | UnaryOperator::Hash
            | UnaryOperator::PGAbs
            | UnaryOperator::PGCubeRoot
            | UnaryOperator::PGSquareRoot
            | UnaryOperator::QuestionDash
            | UnaryOperator::QuestionPipe => self.is_postgres(),
            // A factorial can take very long.
            UnaryOperator::PGPostfixFactorial | UnaryOperator::PGPrefixFactorial => false,
        };
        self.judged(is_allowed, &op.to_string())
    }

    fn judged(&self, is_allowed: bool, op: &str) -> Result<(), GuardError> {
        if is_allowed {
            return Ok(());
        }
        let allowed = format!("only the built-in operators of {} may be used", self.dialect());
        Err(refused(format!("the operator `{op}`"), allowed))
    }
}

fn is_common(op: &BinaryOperator) -> bool {
    matches!(
        op,
        BinaryOperator::Plus
            | BinaryOperator::Minus
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Modulo
            | BinaryOperator::StringConcat
            | BinaryOperator::Gt
            | BinaryOperator::Lt
            | BinaryOperator::GtEq
            | BinaryOperator::LtEq
            | BinaryOperator::Eq
            | BinaryOperator::NotEq
            | BinaryOperator::And
            | BinaryOperator::Or
            | BinaryOperator::BitwiseOr
            | BinaryOperator::BitwiseAnd
            | BinaryOperator::PGBitwiseShiftLeft
            | BinaryOperator::PGBitwiseShiftRight
            // `&&`: two ranges overlap, or both sides are true.
            | BinaryOperator::PGOverlap
            | BinaryOperator::Arrow
            | BinaryOperator::LongArrow
    )
}

fn is_of_postgres(op: &BinaryOperator) -> bool {
    matches!(
        op,
        BinaryOperator::PGBitwiseXor
            | BinaryOperator::PGExp
            | BinaryOperator::PGRegexMatch
            | BinaryOperator::PGRegexIMatch
            | BinaryOperator::PGRegexNotMatch
            | BinaryOperator::PGRegexNotIMatch
            | BinaryOperator::PGLikeMatch
            | BinaryOperator::PGILikeMatch
            | BinaryOperator::PGNotLikeMatch
            | BinaryOperator::PGNotILikeMatch
            | BinaryOperator::PGStartsWith
            | BinaryOperator::HashArrow
            | BinaryOperator::HashLongArrow
            | BinaryOperator::AtAt
            | BinaryOperator::AtArrow
            | BinaryOperator::ArrowAt
            | BinaryOperator::HashMinus
            | BinaryOperator::AtQuestion
            | BinaryOperator::Question
            | BinaryOperator::QuestionAnd
            | BinaryOperator::QuestionPipe
            | BinaryOperator::Overlaps
            | BinaryOperator::DoubleHash
            | BinaryOperator::LtDashGt
            | BinaryOperator::AndLt
            | BinaryOperator::AndGt
            | BinaryOperator::LtLtPipe
            | BinaryOperator::PipeGtGt
            | BinaryOperator::AndLtPipe
            | BinaryOperator::PipeAndGt
            | BinaryOperator::LtCaret
            | BinaryOperator::GtCaret
            | BinaryOperator::QuestionHash
            | BinaryOperator::QuestionDash
            | BinaryOperator::QuestionDashPipe
            | BinaryOperator::QuestionDoublePipe
            | BinaryOperator::At
            | BinaryOperator::TildeEq
    )
}
