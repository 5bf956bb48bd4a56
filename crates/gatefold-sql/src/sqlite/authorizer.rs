//! The calls into SQLite that the driver does not make: the authorizer, limits, and a look at a
//! statement before it runs, and functions. All unsafe code of this crate is here.
#![expect(unsafe_code, reason = "the driver has no safe form of these calls into SQLite")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use libsqlite3_sys as ffi;
use sqlx::sqlite::LockedSqliteHandle;

use super::functions::{FunctionAnswer, FunctionArgument, LinearFunction};
use super::watch::{AuthorizerRequest, StatementWatch};

/// How many instructions of SQLite's machine run between two looks at the clock. Each reads or makes [`MAX_LENGTH`]
/// bytes at most.
const PROGRESS_INSTRUCTIONS: i32 = 100;

/// The longest text or blob, in bytes, that a statement may read or make.
pub(super) const MAX_LENGTH: i32 = 4 << 20;

/// The longest statement, in bytes.
pub(super) const MAX_STATEMENT_BYTES: usize = 256 << 10;

/// UTF-8, in the type in which SQLite takes it here.
const TEXT_ENCODING: u8 = 1;

const LIMITS: [(c_int, c_int); 7] = [
    (ffi::SQLITE_LIMIT_LENGTH, MAX_LENGTH),
    (ffi::SQLITE_LIMIT_COMPOUND_SELECT, 200),
    (ffi::SQLITE_LIMIT_VDBE_OP, 1_000_000),
    (ffi::SQLITE_LIMIT_FUNCTION_ARG, 127),
    (ffi::SQLITE_LIMIT_ATTACHED, 0),
    // Matching takes the pattern's length times the text's.
    (ffi::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 256),
    (ffi::SQLITE_LIMIT_TRIGGER_DEPTH, 100),
];

/// Switches of the connection, each with 1 for on and 0 for off.
const SWITCHES: [(c_int, c_int); 5] = [
    (ffi::SQLITE_DBCONFIG_DEFENSIVE, 1),
    (ffi::SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
    (ffi::SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
    (ffi::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0),
    // What another process left in its log is that one's to write back.
    (ffi::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1),
];

/// What a look at a statement finds.
#[derive(Debug)]
pub(super) struct Inspection {
    pub columns: Vec<InspectedColumn>,
    pub is_read_only: bool,
    /// Whether another statement follows.
    pub has_more: bool,
}

#[derive(Debug)]
pub(super) struct InspectedColumn {
    pub name: String,
    /// The type with which a table declares it. Expressions have none.
    pub declared: Option<String>,
}

/// Why a statement could not be prepared.
#[derive(Debug)]
pub(super) struct PreparationError {
    /// SQLite's code, extended.
    pub code: i32,
    pub message: String,
    /// In bytes from the statement's start.
    pub offset: Option<usize>,
}

/// Sets a new connection's limits, and has `watch` asked about every statement from now on.
pub(super) fn guard(
    handle: &mut LockedSqliteHandle<'_>,
    watch: &Arc<StatementWatch>,
) -> Result<(), PreparationError> {
    // The connection owns this closure, and with it a share of the watch, until its last statement is
    // gone: so the bare pointer below outlives every call of the authorizer.
    let shared = Arc::clone(watch);
    handle.set_progress_handler(PROGRESS_INSTRUCTIONS, move || shared.goes_on());
    let db = handle.as_raw_handle().as_ptr();
    // SAFETY: the handle is locked, so nobody else uses `db`; the user data lives as said above.
    let code = unsafe {
        ffi::sqlite3_set_authorizer(db, Some(authorize), Arc::as_ptr(watch).cast_mut().cast())
    };
    if code != ffi::SQLITE_OK {
        return Err(last_error(db));
    }
    replace_functions(db)?;
    for (limit, value) in LIMITS {
        // SAFETY: the handle is locked. The call takes and returns numbers.
        unsafe { ffi::sqlite3_limit(db, limit, value) };
    }
    for (switch, value) in SWITCHES {
        // SAFETY: the handle is locked, and each of these switches takes an int and a pointer to an
        // int that may be null.
        let code = unsafe { ffi::sqlite3_db_config(db, switch, value, ptr::null_mut::<c_int>()) };
        if code != ffi::SQLITE_OK {
            return Err(last_error(db));
        }
    }
    Ok(())
}

/// Prepares a statement to see what it is, and forgets it.
pub(super) fn inspect(
    handle: &mut LockedSqliteHandle<'_>,
    sql: &str,
) -> Result<Inspection, PreparationError> {
    let refused =
        |message: String| PreparationError { code: ffi::SQLITE_ERROR, message, offset: None };
    if sql.len() > MAX_STATEMENT_BYTES {
        return Err(refused(format!("the statement is longer than {MAX_STATEMENT_BYTES} bytes")));
    }
    // SQLite would end the statement there, and the driver would look for its end for ever.
    if sql.contains('\0') {
        return Err(refused("the statement contains a NUL character".to_owned()));
    }
    let db = handle.as_raw_handle().as_ptr();
    let (statement, mut rest) = prepare_first(db, sql)?;
    let Some(statement) = statement else {
        return Err(refused("there is no statement".to_owned()));
    };
    let columns = statement.columns();
    // SAFETY: the statement is alive.
    let is_read_only = unsafe { ffi::sqlite3_stmt_readonly(statement.0.as_ptr()) } != 0;
    drop(statement);
    // Comments, spaces and semicolons may follow. Each turn takes one byte at least.
    let mut has_more = false;
    while !rest.is_empty() && !has_more {
        match prepare_first(db, rest) {
            Ok((None, next)) if next.len() < rest.len() => rest = next,
            Ok((None, _)) => break,
            Ok((Some(_), _)) | Err(_) => has_more = true,
        }
    }
    Ok(Inspection { columns, is_read_only, has_more })
}

/// Whether the file behind a connection that was opened for writing cannot be written.
pub(super) fn is_read_only(handle: &mut LockedSqliteHandle<'_>) -> bool {
    // SAFETY: the handle is locked, and the name is a text that ends with NUL.
    unsafe { ffi::sqlite3_db_readonly(handle.as_raw_handle().as_ptr(), c"main".as_ptr()) != 0 }
}

/// What SQLite's version calls itself.
pub(super) fn version() -> String {
    // SAFETY: SQLite's version is a constant text that ends with NUL.
    let text = unsafe { CStr::from_ptr(ffi::sqlite3_libversion()) };
    text.to_string_lossy().into_owned()
}

/// A prepared statement that is finalized when it is dropped.
struct RawStatement(ptr::NonNull<ffi::sqlite3_stmt>);

impl RawStatement {
    fn columns(&self) -> Vec<InspectedColumn> {
        // SAFETY: the statement is alive.
        let count = unsafe { ffi::sqlite3_column_count(self.0.as_ptr()) };
        let column = |at| {
            // SAFETY: `at` is below the count, and both texts are copied before the next call.
            unsafe {
                InspectedColumn {
                    name: text(ffi::sqlite3_column_name(self.0.as_ptr(), at)).unwrap_or_default(),
                    declared: text(ffi::sqlite3_column_decltype(self.0.as_ptr(), at)),
                }
            }
        };
        (0..count).map(column).collect()
    }
}

impl Drop for RawStatement {
    fn drop(&mut self) {
        // SAFETY: the statement is alive and is not used again.
        unsafe { ffi::sqlite3_finalize(self.0.as_ptr()) };
    }
}

/// Prepares the first statement of a text, and says what follows it. There is none where only
/// comments, spaces or a semicolon come first.
fn prepare_first(
    db: *mut ffi::sqlite3,
    sql: &str,
) -> Result<(Option<RawStatement>, &str), PreparationError> {
    let length = c_int::try_from(sql.len()).unwrap_or(c_int::MAX);
    let mut statement = ptr::null_mut();
    let mut tail: *const c_char = ptr::null();
    // SAFETY: the caller holds the lock on `db`; the text is alive and as long as said.
    let code = unsafe {
        let text = sql.as_ptr().cast();
        ffi::sqlite3_prepare_v3(db, text, length, 0, &raw mut statement, &raw mut tail)
    };
    if code != ffi::SQLITE_OK {
        return Err(last_error(db));
    }
    let taken = (tail as usize).saturating_sub(sql.as_ptr() as usize);
    Ok((ptr::NonNull::new(statement).map(RawStatement), sql.get(taken..).unwrap_or_default()))
}

fn last_error(db: *mut ffi::sqlite3) -> PreparationError {
    // SAFETY: the caller holds the lock on `db`, and the message is copied at once.
    unsafe {
        PreparationError {
            code: ffi::sqlite3_extended_errcode(db),
            message: text(ffi::sqlite3_errmsg(db)).unwrap_or_default(),
            offset: usize::try_from(ffi::sqlite3_error_offset(db)).ok(),
        }
    }
}

/// A copy of one of SQLite's texts.
///
/// # Safety
/// The pointer is null, or leads to a text that ends with NUL.
unsafe fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the caller says so.
    Some(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
}

/// Has SQLite call ours instead of those of its functions that cannot be stopped.
fn replace_functions(db: *mut ffi::sqlite3) -> Result<(), PreparationError> {
    // Both hold of SQLite's own, without which indexes and views could not use them.
    let flags = ffi::SQLITE_UTF8 | ffi::SQLITE_DETERMINISTIC | ffi::SQLITE_INNOCUOUS;
    for (at, (name, arguments, _)) in LinearFunction::ALL.iter().enumerate() {
        // SAFETY: the caller holds the lock on `db`. The name ends with NUL, and the user data is a
        // number that nothing follows as a pointer.
        let code = unsafe {
            ffi::sqlite3_create_function_v2(
                db,
                name.as_ptr(),
                *arguments,
                flags,
                ptr::without_provenance_mut(at),
                Some(call_function),
                None,
                None,
                None,
            )
        };
        if code != ffi::SQLITE_OK {
            return Err(last_error(db));
        }
    }
    Ok(())
}

/// What SQLite calls for each call of one of these functions.
unsafe extern "C" fn call_function(
    context: *mut ffi::sqlite3_context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) {
    // SAFETY: SQLite gives as many values as it says, all alive until this returns, and takes a copy of
    // every answer.
    unsafe {
        let at = ffi::sqlite3_user_data(context).addr();
        let values = std::slice::from_raw_parts(values, usize::try_from(count).unwrap_or_default());
        let arguments: Option<Vec<_>> = values.iter().map(|value| argument(*value)).collect();
        let (Some((.., function)), Some(arguments)) = (LinearFunction::ALL.get(at), arguments)
        else {
            return ffi::sqlite3_result_null(context);
        };
        let transient = ffi::SQLITE_TRANSIENT();
        match function.call(&arguments, usize::try_from(MAX_LENGTH).unwrap_or_default()) {
            FunctionAnswer::Null => ffi::sqlite3_result_null(context),
            FunctionAnswer::Number(number) => ffi::sqlite3_result_int64(context, number),
            FunctionAnswer::TooLong => ffi::sqlite3_result_error_toobig(context),
            FunctionAnswer::Text(text) => ffi::sqlite3_result_text64(
                context,
                text.as_ptr().cast(),
                text.len() as u64,
                transient,
                TEXT_ENCODING,
            ),
            FunctionAnswer::Blob(bytes) => ffi::sqlite3_result_blob64(
                context,
                bytes.as_ptr().cast(),
                bytes.len() as u64,
                transient,
            ),
        }
    }
}

/// A value's bytes, or `None` if it is null.
///
/// # Safety
/// The value is alive, and stays so and as it is while the argument is used.
unsafe fn argument<'a>(value: *mut ffi::sqlite3_value) -> Option<FunctionArgument<'a>> {
    // SAFETY: the caller says so. The length is asked for after the conversion to the kind of bytes.
    unsafe {
        let kind = ffi::sqlite3_value_type(value);
        let start: *const u8 = match kind {
            ffi::SQLITE_NULL => return None,
            ffi::SQLITE_BLOB => ffi::sqlite3_value_blob(value).cast(),
            _ => ffi::sqlite3_value_text(value),
        };
        let length = usize::try_from(ffi::sqlite3_value_bytes(value)).unwrap_or_default();
        let bytes: &[u8] =
            if start.is_null() { &[] } else { std::slice::from_raw_parts(start, length) };
        Some(match kind {
            ffi::SQLITE_BLOB => FunctionArgument::Blob(bytes),
            _ => FunctionArgument::Text(String::from_utf8_lossy(bytes)),
        })
    }
}

/// What SQLite calls for each thing that a statement would do.
unsafe extern "C" fn authorize(
    watch: *mut c_void,
    action: c_int,
    first: *const c_char,
    second: *const c_char,
    _database: *const c_char,
    _trigger: *const c_char,
) -> c_int {
    // SAFETY: `guard` gave this pointer, and says why it is alive. The texts are SQLite's own.
    let (watch, first, second) =
        unsafe { (&*watch.cast::<StatementWatch>(), text(first), text(second)) };
    let access = AuthorizerRequest {
        action,
        first: first.as_deref().unwrap_or_default(),
        second: second.as_deref().unwrap_or_default(),
    };
    if watch.permits(&access) { ffi::SQLITE_OK } else { ffi::SQLITE_DENY }
}
