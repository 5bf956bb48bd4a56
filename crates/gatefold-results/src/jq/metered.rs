//! jq's values with a meter. jaq cannot stop a program from outside, but whatever a program does, it
//! copies, compares, takes apart or makes values. So each of these counts, and beyond a limit the
//! program unwinds.

use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use std::panic::resume_unwind;
use std::rc::Rc;
use std::time::{Duration, Instant};

use jaq_core::box_iter::{BoxIter, box_once};
use jaq_core::path::Opt;
use jaq_core::val::Range;
use jaq_core::{Error, ValR, ValT, ValX};
use jaq_json::{Num, Val};

/// The bytes that a program may take for values, added up.
pub(super) const MAX_BYTES: usize = 256 << 20;

/// How deep values may lie in each other. They are written and dropped with as much of the stack.
const MAX_DEPTH: u32 = 1_000;

/// The longest whole number that is made, in bits.
const MAX_BITS: u64 = 1 << 14;

/// How much work passes between two looks at the clock.
const WORK_BETWEEN_LOOKS: usize = 4_096;

/// What a value in a list takes, and what a list or an object takes besides, in bytes.
const ITEM_BYTES: usize = 16;
const CONTAINER_BYTES: usize = 64;
const MEMBER_BYTES: usize = 96;

/// Why a program was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exhaustion {
    Time,
    Memory,
    Depth,
}

thread_local! {
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
    static WORK: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

/// Has this thread count from nothing.
pub(super) fn begin(time: Duration) {
    DEADLINE.set(Some(Instant::now() + time));
    WORK.set(0);
    BYTES.set(0);
}

/// Counts work, about one for each value that is touched.
pub(super) fn work(amount: usize) {
    let sum = WORK.get() + 1 + amount;
    if sum < WORK_BETWEEN_LOOKS {
        WORK.set(sum);
        return;
    }
    WORK.set(0);
    if DEADLINE.get().is_some_and(|deadline| Instant::now() >= deadline) {
        stop(Exhaustion::Time);
    }
}

/// Counts bytes that a value takes.
pub(super) fn take(bytes: usize) {
    work(bytes / 64);
    let sum = BYTES.get().saturating_add(bytes);
    BYTES.set(sum);
    if sum > MAX_BYTES {
        stop(Exhaustion::Memory);
    }
}

/// Unwinds to [`super::run`], without a word in the log.
fn stop(exhaustion: Exhaustion) -> ! {
    resume_unwind(Box::new(exhaustion))
}

/// A value, and how deep it is at most.
pub(super) struct Metered {
    value: Val,
    depth: u32,
}

impl Metered {
    pub(super) fn new(value: Val, depth: u32) -> Self {
        if depth > MAX_DEPTH {
            stop(Exhaustion::Depth);
        }
        Self { value, depth }
    }

    pub(super) fn value(&self) -> &Val {
        &self.value
    }

    /// A value that holds no others, which was just made.
    pub(super) fn leaf(value: Val) -> Self {
        take(own_bytes(&value));
        Self { value, depth: 0 }
    }

    /// How much work it is to look at all of it.
    pub(super) fn weight(&self) -> usize {
        match &self.value {
            Val::Arr(items) => items.len(),
            Val::Obj(members) => members.len(),
            Val::TStr(text) | Val::BStr(text) => text.len() / 64,
            _ => 0,
        }
    }
}

fn own_bytes(value: &Val) -> usize {
    match value {
        Val::Arr(items) => CONTAINER_BYTES + items.len() * ITEM_BYTES,
        Val::Obj(members) => CONTAINER_BYTES + members.len() * MEMBER_BYTES,
        Val::TStr(text) | Val::BStr(text) => CONTAINER_BYTES + text.len(),
        Val::Num(Num::BigInt(number)) => usize::try_from(number.bits() / 8).unwrap_or(MAX_BYTES),
        _ => 0,
    }
}

fn converted(error: Error<Val>) -> Error<Metered> {
    Error::new(Metered::leaf(error.into_val()))
}

impl Clone for Metered {
    fn clone(&self) -> Self {
        work(0);
        Self { value: self.value.clone(), depth: self.depth }
    }
}

impl fmt::Display for Metered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

impl PartialEq for Metered {
    fn eq(&self, other: &Self) -> bool {
        work(self.weight().min(other.weight()));
        self.value == other.value
    }
}

impl Eq for Metered {}

impl PartialOrd for Metered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Metered {
    fn cmp(&self, other: &Self) -> Ordering {
        work(self.weight().min(other.weight()));
        self.value.cmp(&other.value)
    }
}

impl From<bool> for Metered {
    fn from(value: bool) -> Self {
        Self::leaf(Val::from(value))
    }
}

impl From<isize> for Metered {
    fn from(value: isize) -> Self {
        Self::leaf(Val::from(value))
    }
}

impl From<usize> for Metered {
    fn from(value: usize) -> Self {
        Self::leaf(Val::from(value))
    }
}

impl From<f64> for Metered {
    fn from(value: f64) -> Self {
        Self::leaf(Val::from(value))
    }
}

impl From<String> for Metered {
    fn from(value: String) -> Self {
        Self::leaf(Val::from(value))
    }
}

impl From<Range<Self>> for Metered {
    fn from(value: Range<Self>) -> Self {
        let bound = |bound: Option<Self>| bound.map(|bound| bound.value);
        Self::new(Val::from(bound(value.start)..bound(value.end)), 1)
    }
}

impl FromIterator<Self> for Metered {
    fn from_iter<I: IntoIterator<Item = Self>>(items: I) -> Self {
        take(CONTAINER_BYTES);
        let mut depth = 0;
        let items = items.into_iter().map(|item| {
            take(ITEM_BYTES);
            depth = depth.max(item.depth);
            item.value
        });
        let value = items.collect();
        Self::new(value, depth + 1)
    }
}

/// What an operation may take: what is added to a value, and the value if it must be copied.
fn operation(left: &Metered, right: &Metered) -> u32 {
    let is_shared = match &left.value {
        Val::Arr(items) => Rc::strong_count(items) > 1,
        Val::Obj(members) => Rc::strong_count(members) > 1,
        Val::TStr(text) | Val::BStr(text) => !text.is_unique(),
        Val::Num(Num::BigInt(_)) => true,
        _ => false,
    };
    take(own_bytes(&right.value) + if is_shared { own_bytes(&left.value) } else { 0 });
    left.depth.max(right.depth)
}

impl Add for Metered {
    type Output = ValR<Self>;

    fn add(self, other: Self) -> Self::Output {
        let depth = operation(&self, &other);
        let value = (self.value + other.value).map_err(converted)?;
        Ok(Self::new(value, depth))
    }
}

impl Sub for Metered {
    type Output = ValR<Self>;

    fn sub(self, other: Self) -> Self::Output {
        let depth = operation(&self, &other);
        Ok(Self::new((self.value - other.value).map_err(converted)?, depth))
    }
}

impl Mul for Metered {
    type Output = ValR<Self>;

    fn mul(self, other: Self) -> Self::Output {
        let depth = operation(&self, &other);
        match (&self.value, &other.value) {
            (Val::TStr(text) | Val::BStr(text), Val::Num(times))
            | (Val::Num(times), Val::TStr(text) | Val::BStr(text)) => {
                let times =
                    times.as_isize().map_or(usize::MAX, |times| times.max(0).unsigned_abs());
                take(text.len().saturating_mul(times));
            }
            (Val::Num(Num::BigInt(left)), Val::Num(Num::BigInt(right)))
                if left.bits() + right.bits() > MAX_BITS =>
            {
                stop(Exhaustion::Memory);
            }
            // Objects are merged at every depth.
            (Val::Obj(_), Val::Obj(_)) => take(CONTAINER_BYTES * self.weight()),
            _ => {}
        }
        Ok(Self::new((self.value * other.value).map_err(converted)?, depth))
    }
}

impl Div for Metered {
    type Output = ValR<Self>;

    fn div(self, other: Self) -> Self::Output {
        operation(&self, &other);
        if let (Val::TStr(text), Val::TStr(separator)) = (&self.value, &other.value) {
            let parts = memchr::memmem::find_iter(text, &separator[..]).count();
            take(parts * (ITEM_BYTES + CONTAINER_BYTES));
        }
        Ok(Self::new((self.value / other.value).map_err(converted)?, 1))
    }
}

impl Rem for Metered {
    type Output = ValR<Self>;

    fn rem(self, other: Self) -> Self::Output {
        operation(&self, &other);
        Ok(Self::leaf((self.value % other.value).map_err(converted)?))
    }
}

impl Neg for Metered {
    type Output = ValR<Self>;

    fn neg(self) -> Self::Output {
        Ok(Self::leaf((-self.value).map_err(converted)?))
    }
}

impl ValT for Metered {
    fn from_num(number: &str) -> ValR<Self> {
        Ok(Self::leaf(Val::from_num(number).map_err(converted)?))
    }

    fn from_map<I: IntoIterator<Item = (Self, Self)>>(members: I) -> ValR<Self> {
        take(CONTAINER_BYTES);
        let mut depth = 0;
        let members = members.into_iter().map(|(name, member)| {
            take(MEMBER_BYTES);
            depth = depth.max(name.depth).max(member.depth);
            (name.value, member.value)
        });
        let value = Val::from_map(members).map_err(converted)?;
        Ok(Self::new(value, depth + 1))
    }

    fn key_values(self) -> BoxIter<'static, ValR<(Self, Self), Self>> {
        work(self.weight() / 16);
        let depth = self.depth.saturating_sub(1);
        Box::new(self.value.key_values().map(move |pair| {
            work(0);
            let (name, value) = pair.map_err(converted)?;
            Ok((Self { value: name, depth }, Self { value, depth }))
        }))
    }

    fn values(self) -> Box<dyn Iterator<Item = ValR<Self>>> {
        // A list that is shared is copied.
        work(self.weight() / 16);
        let depth = self.depth.saturating_sub(1);
        Box::new(self.value.values().map(move |value| {
            work(0);
            Ok(Self { value: value.map_err(converted)?, depth })
        }))
    }

    fn index(self, index: &Self) -> ValR<Self> {
        work(0);
        let depth = self.depth.saturating_sub(1).max(1);
        Ok(Self { value: self.value.index(&index.value).map_err(converted)?, depth })
    }

    fn range(self, range: Range<&Self>) -> ValR<Self> {
        let depth = self.depth;
        let weight = self.weight();
        let range = range.start.map(|bound| &bound.value)..range.end.map(|bound| &bound.value);
        let value = self.value.range(range).map_err(converted)?;
        take(own_bytes(&value));
        work(weight);
        Ok(Self { value, depth })
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        opt: Opt,
        f: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        let depth = self.depth.saturating_sub(1);
        match self.value {
            Val::Arr(items) => {
                let items = items.iter().cloned();
                items.flat_map(|value| f(Self { value, depth })).collect()
            }
            Val::Obj(members) => {
                let members = members.iter().filter_map(|(name, value)| {
                    let mapped = f(Self { value: value.clone(), depth }).next()?;
                    Some(mapped.map(|mapped| (Self { value: name.clone(), depth: 0 }, mapped)))
                });
                let members: Result<Vec<_>, _> = members.collect();
                Ok(Self::from_map(members?)?)
            }
            value => opt.fail(Self { value, depth }, |value| Error::typ(value, "iterable").into()),
        }
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Self>>>(
        mut self,
        index: &Self,
        opt: Opt,
        f: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        let depth = self.depth.saturating_sub(1);
        let old = self.value.clone().index(&index.value).map_err(converted);
        let old = match old {
            Ok(old) => old,
            Err(error) => return opt.fail(self, |_| error.into()),
        };
        let new = f(Self { value: old, depth }).next().transpose()?;
        self.depth = self.depth.max(new.as_ref().map_or(0, |new| new.depth + 1));
        // The container is copied, if somebody else holds it too.
        take(own_bytes(&self.value).min(CONTAINER_BYTES));
        work(self.weight());
        match (&mut self.value, new) {
            (Val::Obj(members), Some(new)) => {
                take(MEMBER_BYTES);
                Rc::make_mut(members).insert(index.value.clone(), new.value);
            }
            (Val::Obj(members), None) => {
                Rc::make_mut(members).shift_remove(&index.value);
            }
            (Val::Arr(items), new) => {
                let count = items.len();
                let at = match &index.value {
                    Val::Num(Num::Int(at)) if *at < 0 => count.checked_sub(at.unsigned_abs()),
                    Val::Num(Num::Int(at)) => Some(at.unsigned_abs()),
                    _ => None,
                };
                let Some(at) = at.filter(|at| *at < count) else {
                    return opt.fail(self, |_| Error::str("index out of bounds").into());
                };
                match new {
                    Some(new) => Rc::make_mut(items)[at] = new.value,
                    None => drop(Rc::make_mut(items).remove(at)),
                }
            }
            _ => return opt.fail(self, |value| Error::typ(value, "iterable").into()),
        }
        Ok(Self::new(self.value, self.depth))
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        _: Range<&Self>,
        opt: Opt,
        _: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        opt.fail(self, |_| Error::str("slices cannot be changed here").into())
    }

    fn as_bool(&self) -> bool {
        work(0);
        self.value.as_bool()
    }

    fn into_string(self) -> Self {
        if matches!(self.value, Val::TStr(_)) {
            return self;
        }
        Self::leaf(self.value.into_string())
    }
}

impl jaq_std::ValT for Metered {
    fn into_seq<S: FromIterator<Self>>(self) -> Result<S, Self> {
        let depth = self.depth.saturating_sub(1);
        match self.value {
            Val::Arr(items) => {
                take(items.len() * ITEM_BYTES);
                Ok(items.iter().map(|value| Self { value: value.clone(), depth }).collect())
            }
            value => Err(Self { value, depth: self.depth }),
        }
    }

    fn is_int(&self) -> bool {
        jaq_std::ValT::is_int(&self.value)
    }

    fn as_isize(&self) -> Option<isize> {
        jaq_std::ValT::as_isize(&self.value)
    }

    fn as_f64(&self) -> Option<f64> {
        jaq_std::ValT::as_f64(&self.value)
    }

    fn is_utf8_str(&self) -> bool {
        matches!(self.value, Val::TStr(_))
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        work(self.weight());
        jaq_std::ValT::as_bytes(&self.value)
    }

    fn as_sub_str(&self, sub: &[u8]) -> Self {
        take(CONTAINER_BYTES);
        Self { value: jaq_std::ValT::as_sub_str(&self.value, sub), depth: 0 }
    }

    fn from_utf8_bytes(bytes: impl AsRef<[u8]> + Send + 'static) -> Self {
        Self::leaf(<Val as jaq_std::ValT>::from_utf8_bytes(bytes))
    }
}

/// One value of a function, or its error.
pub(super) fn once<'a>(value: ValR<Metered>) -> BoxIter<'a, ValX<'a, Metered>> {
    box_once(value.map_err(Into::into))
}
