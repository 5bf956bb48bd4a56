//! A small library with an HTTP API, for an example that needs nothing else. It keeps its books in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{delete, get, post, put};
use axum::{Json, Router};
use serde_json::{Value, json};
use url::form_urlencoded;

/// What the header `X-Library-Key` must be.
const KEY: &str = "village-7";

type Books = Arc<Mutex<Vec<Value>>>;
type BookAnswer = Result<Json<Value>, (StatusCode, Json<Value>)>;

/// The library's operations, as `library.yaml` describes them, and those of its desk, which nothing describes.
pub fn library() -> Router {
    let books = [
        json!({ "id": 1, "title": "Beds and borders", "author": "Mei Tanaka", "subject": "gardens", "loan": null }),
        json!({ "id": 2, "title": "The miller's tale", "author": "Ada Brook", "subject": "tales", "loan": null }),
        json!({ "id": 3, "title": "A village in wartime", "author": "Ada Brook", "subject": "history",
                "loan": { "reader": "Tomasz", "days": 14 } }),
    ];
    Router::new()
        .route("/books", get(list))
        .route("/books/{id}", get(show))
        .route("/books/{id}", delete(remove))
        .route("/books/{id}/loan", put(lend))
        .route("/books/{id}/loan", delete(take_back))
        .route("/desk/hours", get(hours))
        .route("/desk/messages", post(message))
        .with_state(Arc::new(Mutex::new(books.to_vec())))
}

async fn list(State(books): State<Books>, RawQuery(query): RawQuery) -> Json<Value> {
    let query = query.unwrap_or_default();
    let wanted: HashMap<_, _> = form_urlencoded::parse(query.as_bytes()).collect();
    let fits = |book: &Value| {
        let text = |name: &str| book[name].as_str().unwrap_or_default().to_lowercase();
        wanted.iter().all(|(name, value)| match name.as_ref() {
            "author" => text("author").contains(&value.to_lowercase()),
            "subject" => value.split(',').any(|subject| text("subject") == subject),
            "available" => value != "true" || book["loan"].is_null(),
            _ => true,
        })
    };
    Json(locked(&books).iter().filter(|book| fits(book)).cloned().collect())
}

async fn show(State(books): State<Books>, Path(id): Path<u64>) -> BookAnswer {
    Ok(Json(book(&mut locked(&books), id)?.clone()))
}

async fn lend(
    State(books): State<Books>,
    Path(id): Path<u64>,
    headers: HeaderMap,
    Json(loan): Json<Value>,
) -> BookAnswer {
    sign_in(&headers)?;
    let mut books = locked(&books);
    let book = book(&mut books, id)?;
    if let Some(reader) = book["loan"]["reader"].as_str() {
        return Err(problem(StatusCode::CONFLICT, &format!("{reader} has it")));
    }
    let days = loan.get("days").cloned().unwrap_or(json!(21));
    book["loan"] = json!({ "reader": loan["reader"], "days": days });
    Ok(Json(book.clone()))
}

async fn take_back(
    State(books): State<Books>,
    Path(id): Path<u64>,
    headers: HeaderMap,
) -> BookAnswer {
    sign_in(&headers)?;
    let mut books = locked(&books);
    let book = book(&mut books, id)?;
    book["loan"] = Value::Null;
    Ok(Json(book.clone()))
}

async fn remove(
    State(books): State<Books>,
    Path(id): Path<u64>,
    headers: HeaderMap,
) -> Result<StatusCode, (StatusCode, Json<Value>)> {
    sign_in(&headers)?;
    let mut books = locked(&books);
    book(&mut books, id)?;
    books.retain(|book| book["id"] != id);
    Ok(StatusCode::NO_CONTENT)
}

/// More than a model needs, as such answers are.
async fn hours() -> Json<Value> {
    let day = |day: &str, from: &str, to: &str| json!({ "day": day, "from": from, "to": to, "staff": ["Noor", "Luis"] });
    let hours = [day("monday", "10:00", "18:00"), day("saturday", "09:00", "13:00")];
    Json(json!({ "data": { "hours": hours }, "meta": { "version": 7, "cached": false } }))
}

async fn message(Json(body): Json<Value>) -> Json<Value> {
    Json(json!({ "received": body["message"] }))
}

/// The books. Nothing waits while it has them.
fn locked(books: &Books) -> MutexGuard<'_, Vec<Value>> {
    books.lock().unwrap_or_else(PoisonError::into_inner)
}

fn book(books: &mut [Value], id: u64) -> Result<&mut Value, (StatusCode, Json<Value>)> {
    let found = books.iter_mut().find(|book| book["id"] == id);
    found.ok_or_else(|| problem(StatusCode::NOT_FOUND, &format!("there is no book {id}")))
}

fn sign_in(headers: &HeaderMap) -> Result<(), (StatusCode, Json<Value>)> {
    match headers.get("X-Library-Key") {
        Some(key) if key == KEY => Ok(()),
        Some(_) => Err(problem(StatusCode::FORBIDDEN, "this is not the library's key")),
        None => Err(problem(StatusCode::UNAUTHORIZED, "only for those who have the library's key")),
    }
}

fn problem(status: StatusCode, detail: &str) -> (StatusCode, Json<Value>) {
    (status, Json(json!({ "status": status.as_u16(), "detail": detail })))
}
