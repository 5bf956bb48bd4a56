/// A document as a text.
#[derive(Debug, PartialEq, Eq)]
pub struct DocumentText {
    pub title: Option<String>,
    pub text: String,
}
