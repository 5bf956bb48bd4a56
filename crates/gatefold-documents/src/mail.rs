//! Mail (RFC 5322, MIME): its subject, who wrote it to whom, its text, and the messages that are attached.

use mail_parser::{Address, Message, MessageParser, MimeHeaders as _, PartType};

use crate::document::{BlockKind, Part, Place};
use crate::draft::{Draft, one_line};
use crate::{DocumentFault, html, plain};

/// How deep messages in messages are read.
const MAX_DEPTH: u8 = 8;

/// How often a file may say that something in it is a message. The library recurses into messages when it
/// frees them, so no more are given to it.
const MAX_MESSAGES: usize = 256;

/// The most attachments that are named.
const MAX_ATTACHMENTS: usize = 200;

pub(crate) fn read(bytes: &[u8], draft: &mut Draft) -> Result<(), DocumentFault> {
    let format = draft.format();
    check_nesting(bytes, draft)?;
    let no_headers = DocumentFault::Damaged(format, "it has no headers");
    let message = MessageParser::default().parse(bytes).ok_or(no_headers)?;
    MailReader { draft, part: 0 }.message(&message, 0)
}

/// Refuses what the library would go too deep into: very many messages, and messages in an encoding,
/// which MIME forbids (RFC 2046, 5.2.1) and which hide what they hold from this count.
fn check_nesting(bytes: &[u8], draft: &Draft) -> Result<(), DocumentFault> {
    let lower = bytes.to_ascii_lowercase();
    let holds = |block: &[u8], word: &[u8]| block.windows(word.len()).any(|window| window == word);
    let count = |word: &[u8]| lower.windows(word.len()).filter(|window| *window == word).count();
    let digests = count(b"multipart/digest");
    if count(b"message/") + digests > MAX_MESSAGES {
        return Err(DocumentFault::TooLarge(draft.format()));
    }
    draft.check_time()?;
    let (mut is_message, mut is_encoded) = (digests > 0, false);
    for line in lower.split(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            (is_message, is_encoded) = (digests > 0, false);
            continue;
        }
        is_message |= holds(line, b"message/");
        is_message &=
            digests == 0 || !line.starts_with(b"content-type") || holds(line, b"message/");
        is_encoded |= line.starts_with(b"content-transfer-encoding")
            && (holds(line, b"base64") || holds(line, b"quoted-printable"));
        if is_message && is_encoded {
            let why = "a message in it is encoded, which mail does not allow";
            return Err(DocumentFault::Damaged(draft.format(), why));
        }
    }
    Ok(())
}

struct MailReader<'d> {
    draft: &'d mut Draft,
    /// How many messages and parts were begun.
    part: u32,
}

impl MailReader<'_> {
    fn message(&mut self, message: &Message<'_>, depth: u8) -> Result<(), DocumentFault> {
        self.next_part();
        let subject = message.subject().unwrap_or_default();
        self.draft.set_title(subject);
        self.draft.add_heading(depth + 1, subject)?;
        self.draft.add(BlockKind::Paragraph, &head(message))?;
        for body in &message.text_body {
            let Some(part) = message.parts.get(*body as usize) else { continue };
            self.next_part();
            match &part.body {
                PartType::Text(text) => plain::read(text, BlockKind::Paragraph, self.draft)?,
                PartType::Html(text) => html::read(text, None, self.draft)?,
                _ => {}
            }
        }
        self.attachments(message, depth)
    }

    fn attachments(&mut self, message: &Message<'_>, depth: u8) -> Result<(), DocumentFault> {
        let mut list = Vec::new();
        for id in message.attachments.iter().take(MAX_ATTACHMENTS) {
            let Some(part) = message.parts.get(*id as usize) else { continue };
            let name = part.attachment_name().map(one_line);
            let name = name.filter(|name| !name.is_empty());
            match &part.body {
                PartType::Message(inner) if depth < MAX_DEPTH => self.message(inner, depth + 1)?,
                PartType::Message(_) => {
                    let name = name.unwrap_or_else(|| "an attached message".to_owned());
                    let fault = DocumentFault::TooLarge(self.draft.format());
                    self.draft.add_fault(Part::Named(name), fault);
                }
                _ => {
                    let media_type = part.content_type().map(|media_type| {
                        let subtype = media_type.subtype().unwrap_or("*");
                        format!("{}/{subtype}, ", media_type.ctype())
                    });
                    let name = name.unwrap_or_else(|| "without a name".to_owned());
                    let media_type = media_type.unwrap_or_default();
                    list.push(format!("- {name} ({media_type}{} bytes)", part.len()));
                }
            }
        }
        if list.is_empty() {
            return Ok(());
        }
        self.next_part();
        self.draft.add(BlockKind::Paragraph, "Attachments:")?;
        self.draft.add(BlockKind::List, &list.join("\n"))
    }

    fn next_part(&mut self) {
        self.part += 1;
        self.draft.mark(Place::MessagePart(self.part));
    }
}

/// Who wrote it to whom, and when.
fn head(message: &Message<'_>) -> String {
    let mut lines = Vec::new();
    let addresses = [("From", message.from()), ("To", message.to()), ("Cc", message.cc())];
    for (name, address) in addresses {
        let people = address.map(people).filter(|people| !people.is_empty());
        lines.extend(people.map(|people| format!("{name}: {people}")));
    }
    lines.extend(message.date().map(|date| format!("Date: {}", date.to_rfc3339())));
    lines.join("\n")
}

fn people(address: &Address<'_>) -> String {
    /// The most people that are named.
    const MAX_PEOPLE: usize = 100;
    let people = address.iter().take(MAX_PEOPLE).filter_map(|person| {
        let address = person.address.as_deref().map(one_line);
        match (person.name.as_deref().map(one_line), address) {
            (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
            (name, address) => name.or(address),
        }
    });
    people.collect::<Vec<_>>().join(", ")
}
