//! The text of documents: pages of HTML as Markdown, and PDF page by page.
//!
//! Whoever wrote a document may mean harm. A reader bounds the text it makes, the memory it holds and
//! the time it takes, and whoever calls it runs it in a worker all the same.
//!
//! This crate must not know any other crate of ours.

mod html;
mod pdf;
mod text;

pub use html::markdown_of_html;
pub use pdf::{PDF_MEDIA_TYPE, PDF_TIME, PdfFault, is_pdf, pdf_text};
pub use text::DocumentText;
