//! The memory of messages that wait until clients read them: what sources say during calls, and what
//! they ask.

use std::sync::Arc;

use axum::body::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::counted::counted;

/// A message of this size takes nothing of the memory for all, so that ordinary progress is told
/// however much others leave unread. The limit on waiting messages bounds the sum.
const FREE_BYTES: usize = 1024;
/// The most that the larger messages of one call may take. A single one may be larger.
const CALL_BYTES: usize = 1024 * 1024;
/// The most that those of all calls may take.
const ALL_BYTES: usize = 64 * 1024 * 1024;
/// One call may have this part of what is left for all. So however many clients read nothing,
/// something is left for the next call (Choudhury and Hahne, "Dynamic queue length thresholds").
const PART_OF_LEFT: usize = 4;
/// What one permit stands for, in bytes.
const UNIT: usize = 1024;

/// The memory for the messages of all calls.
pub(super) struct MessageMemory(Arc<Semaphore>);

/// The part of it that one call may take.
pub(super) struct CallMemory {
    own: Arc<Semaphore>,
    all: Arc<Semaphore>,
}

/// What one message takes. Dropping it gives it back.
#[derive(Default)]
pub(super) struct MessageShare {
    _own: Option<OwnedSemaphorePermit>,
    _all: Option<OwnedSemaphorePermit>,
}

impl Default for MessageMemory {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(ALL_BYTES / UNIT)))
    }
}

impl MessageMemory {
    pub(super) fn of_call(&self) -> Arc<CallMemory> {
        let own = Arc::new(Semaphore::new(CALL_BYTES / UNIT));
        Arc::new(CallMemory { own, all: self.0.clone() })
    }
}

impl CallMemory {
    /// The share of a message of so many bytes. `None` if there is no room for it.
    pub(super) fn share(&self, bytes: usize) -> Option<MessageShare> {
        if bytes <= FREE_BYTES {
            return Some(MessageShare::default());
        }
        let units = bytes.div_ceil(UNIT);
        let taken = CALL_BYTES / UNIT - self.own.available_permits();
        if taken + units > self.all.available_permits() / PART_OF_LEFT {
            return None;
        }
        let of_own = u32::try_from(units.min(CALL_BYTES / UNIT)).ok()?;
        let own = self.own.clone().try_acquire_many_owned(of_own).ok()?;
        let all = self.all.clone().try_acquire_many_owned(u32::try_from(units).ok()?).ok()?;
        Some(MessageShare { _own: Some(own), _all: Some(all) })
    }
}

/// A text on one line that holds its share until the last copy of it is written or dropped. A line break in JSON lies outside strings, where a space means the same.
pub(super) fn counted_line(text: String, share: impl Send + Sync + 'static) -> Bytes {
    let has_breaks = text.contains(['\n', '\r']);
    counted(if has_breaks { text.replace(['\n', '\r'], " ") } else { text }, share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: usize = 1024;

    #[test]
    fn a_call_has_its_part_and_a_single_message_may_be_larger() {
        let memory = MessageMemory::default();
        let call = memory.of_call();
        let quarters: Vec<_> = (0..4).map(|_| call.share(CALL_BYTES / 4).unwrap()).collect();
        assert!(call.share(2 * KIB).is_none(), "its part is taken");
        assert!(call.share(KIB).is_some(), "a small one takes none");
        drop(quarters);
        let large = call.share(5 * CALL_BYTES).expect("nothing else of the call waits");
        assert!(call.share(2 * KIB).is_none());
        drop(large);
        assert!(call.share(ALL_BYTES / PART_OF_LEFT + KIB).is_none(), "too large for any call");
    }

    #[test]
    fn whoever_reads_nothing_leaves_something_to_the_next() {
        let memory = MessageMemory::default();
        let mut unread = Vec::new();
        for _ in 0..1000 {
            let call = memory.of_call();
            while let Some(share) = call.share(16 * KIB) {
                unread.push(share);
            }
        }
        assert!(unread.len() * 16 * KIB <= ALL_BYTES);
        assert!(memory.of_call().share(2 * KIB).is_some());
    }

    #[test]
    fn a_text_holds_its_share_until_its_last_copy_is_gone() {
        let memory = MessageMemory::default();
        let share = memory.of_call().share(8 * KIB).unwrap();
        let mut text = counted_line("a\nb".to_owned(), share);
        assert_eq!(text, "a b");
        let half = text.split_to(1);
        drop(text);
        assert!(memory.0.available_permits() < ALL_BYTES / UNIT);
        drop(half);
        assert_eq!(memory.0.available_permits(), ALL_BYTES / UNIT);
    }
}
