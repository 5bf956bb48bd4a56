//! The day on which something is said, written into the message that is said then.
//!
//! There it stays, so a prompt never changes at midnight. It is written into the first message of a conversation and
//! into the first one of each other day.

use gatefold_core::Timestamp;
use gatefold_model::{Turn, UserMessage, UserPart};

const BEGIN: &str = "[Today is ";
const END: &str = " (UTC).]";

const WEEKDAYS: [&str; 7] =
    ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

const DAY_MS: u64 = 86_400_000;

/// The message with the day on which it is said, unless what was said before has the same.
pub(crate) fn with_date(message: UserMessage, earlier: &[Turn], now: Timestamp) -> UserMessage {
    let date = date_text(now);
    let messages = earlier.iter().rev().filter_map(|turn| match turn {
        Turn::User(message) => Some(message),
        Turn::Round(_) => None,
    });
    let last = messages.flat_map(UserMessage::parts).find_map(date_of);
    if date_of_message(&message).or(last) == Some(&*date) {
        return message;
    }
    let parts = message.parts().iter().cloned().chain([UserPart::Text(date)]);
    UserMessage::new(parts).expect("it has the date")
}

/// The parts of a message that its person said, without the day.
pub fn parts_without_date(message: &UserMessage) -> impl Iterator<Item = &UserPart> {
    message.parts().iter().filter(|part| date_of(part).is_none())
}

/// Whether a text is such a date, and nothing that the person said.
pub(crate) fn is_date(text: &str) -> bool {
    let date = text.strip_prefix(BEGIN).and_then(|rest| rest.strip_suffix(END));
    date.is_some_and(|date| WEEKDAYS.iter().any(|day| date.starts_with(day)) && date.len() < 30)
}

fn date_of_message(message: &UserMessage) -> Option<&str> {
    message.parts().iter().find_map(date_of)
}

fn date_of(part: &UserPart) -> Option<&str> {
    match part {
        UserPart::Text(text) if is_date(text) => Some(text),
        _ => None,
    }
}

fn date_text(now: Timestamp) -> String {
    let days = now.as_millis() / DAY_MS;
    let weekday = usize::try_from(days % 7).map_or("", |day| WEEKDAYS[day]);
    let now = now.to_string();
    let date = now.split('T').next().unwrap_or_default();
    format!("{BEGIN}{weekday}, {date}{END}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(message: &UserMessage) -> Vec<&str> {
        let texts = message.parts().iter().map(|part| match part {
            UserPart::Text(text) => text.as_str(),
            UserPart::Image(_) => "[image]",
        });
        texts.collect()
    }

    #[test]
    fn a_day_is_written_once_and_the_next_one_when_it_comes() {
        let say = |text: &str| UserMessage::text(text).expect("it is not blank");
        let (monday, later) =
            (Timestamp::from_millis(1_767_571_200_000), Timestamp::from_millis(1_767_650_000_000));
        let first = with_date(say("Hi."), &[], monday);
        assert_eq!(texts(&first), ["Hi.", "[Today is Monday, 2026-01-05 (UTC).]"]);
        assert!(is_date(texts(&first)[1]) && !is_date(texts(&first)[0]));
        let earlier = [Turn::User(first)];
        assert_eq!(texts(&with_date(say("And?"), &earlier, later)), ["And?"]);
        let tuesday = Timestamp::from_millis(1_767_657_600_000);
        let next = with_date(say("And?"), &earlier, tuesday);
        assert_eq!(texts(&next), ["And?", "[Today is Tuesday, 2026-01-06 (UTC).]"]);
        assert_eq!(with_date(next.clone(), &earlier, tuesday), next);
    }
}
