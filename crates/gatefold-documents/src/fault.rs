//! Why a document, or a part of one, gives no text.

use crate::Format;
use crate::limits::{MAX_INPUT, READING_TIME};

/// Why a document, or a part of it, gives no text. The message is for whoever asked for it, often a
/// model that will ask for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DocumentFault {
    #[error("{0}")]
    Pdf(PdfFault),
    #[error("this file has {0} bytes, and at most {MAX_INPUT} are read")]
    FileTooLarge(usize),
    #[error(
        "this {0} is encrypted and needs a password, which cannot be given; ask for a copy without one"
    )]
    Encrypted(Format),
    #[error("this {0} holds more than is read of one document")]
    TooLarge(Format),
    #[error("this {0} takes longer than {seconds} s to read", seconds = READING_TIME.as_secs())]
    TooLong(Format),
    #[error("this {0} is damaged: {1}")]
    Damaged(Format, &'static str),
    #[error(
        "this {0} declares entities or a type of document, which its format forbids; it is not read"
    )]
    Declarations(Format),
    #[error("this {0} has no text to read")]
    NoText(Format),
    #[error("this is no {0}, whatever its name or media type says")]
    OtherFormat(Format),
    #[error("this is no text, but bytes of a kind that is not read")]
    NotText,
    #[error("this is {0}, which is not read; {1}")]
    Unknown(&'static str, &'static str),
    #[error("this build of Gatefold does not read {0}")]
    NotBuilt(Format),
    #[error("its author hid it from readers")]
    HiddenText,
}

/// Why a document, or a part of it, gives no text. The message is for whoever asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PdfFault {
    #[error("this is no PDF, whatever its media type says: it does not begin with `%PDF-`")]
    NoPdf,
    #[error("this PDF is damaged: no pages can be found in it")]
    NoPages,
    #[error("this PDF is damaged in a way that cannot be read")]
    Damaged,
    #[error(
        "this PDF is encrypted and needs a password, which cannot be given; ask for a copy without one"
    )]
    Password,
    #[error("this PDF is encrypted in a way that is not supported; ask for a copy that is not")]
    Cipher,
    #[error("this PDF holds more than is read of one document")]
    TooLarge,
    #[error("this PDF takes longer than {} s to read", READING_TIME.as_secs())]
    TooLong,
    #[error(
        "this PDF has no text to read: its pages are pictures, such as scans, and the words in them are \
         not recognized"
    )]
    NoText,
    #[error("fonts of this PDF do not say which letters they show")]
    NoLetters,
}

impl From<PdfFault> for DocumentFault {
    fn from(fault: PdfFault) -> Self {
        Self::Pdf(fault)
    }
}

impl DocumentFault {
    /// The state of the document in one word, for lists and counts.
    pub fn state(&self) -> &'static str {
        match self {
            Self::Pdf(fault) => match fault {
                PdfFault::Password | PdfFault::Cipher => "encrypted",
                PdfFault::TooLarge => "too_large",
                PdfFault::TooLong => "too_long",
                PdfFault::NoText | PdfFault::NoLetters => "no_text",
                PdfFault::NoPdf | PdfFault::NoPages | PdfFault::Damaged => "damaged",
            },
            Self::Encrypted(_) => "encrypted",
            Self::FileTooLarge(_) | Self::TooLarge(_) => "too_large",
            Self::TooLong(_) => "too_long",
            Self::Damaged(..) | Self::Declarations(_) | Self::OtherFormat(_) => "damaged",
            Self::NoText(_) => "no_text",
            Self::NotText => "not_text",
            Self::Unknown(..) | Self::NotBuilt(_) => "unknown_format",
            Self::HiddenText => "hidden",
        }
    }
}
