//! Validation that comes to an end: a value that counts how often it is looked at.
//!
//! The validator walks a value through [`Seen`], which knows the [`Meter`] of the run. Once that is spent,
//! every array and every object looks empty, so that the walk ends; what it found then counts for nothing.
//! A schema that alternates recursively would otherwise take time exponential in the depth of the
//! arguments, and a long array of wrong items memory in proportion to its length, many times over.

use std::borrow::Cow;
use std::cell::Cell;

use jsonschema::error::ValidationErrorKind;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, cmp, unique};
use jsonschema::{JsonType, ValidationError, Validator};
use serde_json::{Map, Number, Value};

/// The most looks at values that one validation may take.
pub const MAX_STEPS: u64 = 1 << 26;

/// The most looks that a search for what is wrong may take. Each may leave something in memory.
pub const MAX_SEARCH_STEPS: u64 = 1 << 23;

/// The most things that a search finds wrong. Every alternative that does not fit counts.
pub const MAX_FAULTS: usize = 10_000;

/// How many bytes of a text are looked at in one step.
const BYTES_PER_STEP: usize = 16;

/// What a validation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Fits,
    Refused,
    /// It would take more than [`MAX_STEPS`] to say.
    TooMuch,
}

/// What a search found.
#[derive(Debug)]
pub(crate) struct Faults {
    pub(crate) errors: Vec<ValidationError<'static>>,
    /// False if the search was given up: there is more than this, or it would take too long to say.
    pub(crate) is_whole: bool,
}

/// How far a run may go.
#[derive(Clone, Copy, Debug)]
struct Limits {
    steps: u64,
    search_steps: u64,
    faults: usize,
}

/// A validator whose every run is bounded.
pub(crate) struct Metered {
    validator: Validator<Counted>,
    limits: Limits,
    /// How often a value was validated.
    #[cfg(test)]
    runs: std::sync::atomic::AtomicUsize,
}

impl Metered {
    pub(crate) fn new(validator: Validator<Counted>) -> Self {
        Self {
            validator,
            limits: Limits { steps: MAX_STEPS, search_steps: MAX_SEARCH_STEPS, faults: MAX_FAULTS },
            #[cfg(test)]
            runs: std::sync::atomic::AtomicUsize::new(0),
        }
    }

    #[cfg_attr(not(test), expect(clippy::unused_self, reason = "only tests count"))]
    fn count_run(&self) {
        #[cfg(test)]
        self.runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }

    /// How often values were validated until now.
    #[cfg(test)]
    pub(crate) fn runs(&self) -> usize {
        self.runs.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// Whether a value fits.
    pub(crate) fn verdict(&self, value: &Value) -> Verdict {
        self.count_run();
        let meter = Meter::new(self.limits.steps, self.limits.faults);
        let is_valid = self.validator.is_valid(Seen::Value(value, &meter));
        match (meter.is_spent(), is_valid) {
            (true, _) => Verdict::TooMuch,
            (false, true) => Verdict::Fits,
            (false, false) => Verdict::Refused,
        }
    }

    /// What is wrong with a value.
    pub(crate) fn faults(&self, value: &Value) -> Faults {
        self.count_run();
        let meter = Meter::new(self.limits.search_steps, self.limits.faults);
        let errors = self.validator.iter_errors(Seen::Value(value, &meter)).map(ValidationError::to_owned);
        if !meter.is_spent() {
            return Faults { errors: errors.collect(), is_whole: true };
        }
        // An error is made after those inside it, and the meter counted them in that order. What was made
        // after it was spent speaks of a value that only looked empty.
        let mut made = 0;
        let kept = errors.take_while(|error| {
            made += count(error);
            made <= meter.faults_before_spent()
        });
        Faults { errors: kept.collect(), is_whole: false }
    }
}

/// How many errors an error is made of.
fn count(error: &ValidationError<'_>) -> usize {
    let inner = match error.kind() {
        ValidationErrorKind::AnyOf { context }
        | ValidationErrorKind::OneOfNotValid { context }
        | ValidationErrorKind::OneOfMultipleValid { context } => context.iter().flatten().map(count).sum(),
        ValidationErrorKind::UnevaluatedItems { unexpected } => unexpected.len(),
        _ => 0,
    };
    inner + 1
}

/// What is left of a run.
pub(crate) struct Meter {
    steps: Cell<u64>,
    max_faults: usize,
    faults: Cell<usize>,
    spent_at: Cell<Option<usize>>,
}

impl Meter {
    fn new(steps: u64, max_faults: usize) -> Self {
        Self { steps: Cell::new(steps), max_faults, faults: Cell::new(0), spent_at: Cell::new(None) }
    }

    /// Takes steps; false if there are none left.
    fn take(&self, steps: u64) -> bool {
        match self.steps.get().checked_sub(steps) {
            Some(left) => self.steps.set(left),
            None => self.spend(),
        }
        !self.is_spent()
    }

    fn fault(&self) {
        if self.faults.get() >= self.max_faults {
            self.spend();
        }
        self.faults.set(self.faults.get() + 1);
    }

    fn spend(&self) {
        if !self.is_spent() {
            self.steps.set(0);
            self.spent_at.set(Some(self.faults.get()));
        }
    }

    fn is_spent(&self) -> bool {
        self.spent_at.get().is_some()
    }

    fn faults_before_spent(&self) -> usize {
        self.spent_at.get().unwrap_or(usize::MAX)
    }
}

/// The representation of values that are counted.
pub(crate) struct Counted;

/// A value under a meter, or the name of a property.
#[derive(Clone, Copy)]
pub(crate) enum Seen<'a> {
    Value(&'a Value, &'a Meter),
    Name(&'a str),
}

impl<'a> Seen<'a> {
    /// Whether the value may still be looked into.
    fn looks(&self, bytes: usize) -> bool {
        match self {
            Self::Value(_, meter) => meter.take(1 + (bytes / BYTES_PER_STEP) as u64),
            Self::Name(_) => true,
        }
    }

    fn value(&self) -> Option<&'a Value> {
        match self {
            Self::Value(value, _) => Some(value),
            Self::Name(_) => None,
        }
    }

    fn text(&self) -> Option<&'a str> {
        match self {
            Self::Value(value, _) => value.as_str(),
            Self::Name(name) => Some(name),
        }
    }
}

impl Json for Counted {
    type Node<'a> = Seen<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(Seen<'_>) -> T) -> T {
        f(Seen::Name(string))
    }
}

impl<'a> Node<'a, Counted> for Seen<'a> {
    type Object = Members<'a>;
    type Array = Elements<'a>;
    type Number = &'a Number;

    fn as_object(&self) -> Option<Members<'a>> {
        self.looks(0);
        match self {
            Self::Value(Value::Object(map), meter) => Some(Members { map, meter }),
            _ => None,
        }
    }

    fn as_array(&self) -> Option<Elements<'a>> {
        self.looks(0);
        match self {
            Self::Value(Value::Array(items), meter) => Some(Elements { items, meter }),
            _ => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let text = self.text();
        self.looks(text.map_or(0, str::len));
        text.map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a Number> {
        self.looks(0);
        self.value()?.as_number()
    }

    fn as_boolean(&self) -> Option<bool> {
        self.looks(0);
        self.value()?.as_bool()
    }

    fn is_null(&self) -> bool {
        self.looks(0);
        self.value().is_some_and(Value::is_null)
    }

    fn json_type(&self) -> JsonType {
        self.looks(0);
        match self.value() {
            Some(Value::Null) => JsonType::Null,
            Some(Value::Bool(_)) => JsonType::Boolean,
            Some(Value::Number(_)) => JsonType::Number,
            Some(Value::String(_)) | None => JsonType::String,
            Some(Value::Array(_)) => JsonType::Array,
            Some(Value::Object(_)) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        self.looks(0);
        match self {
            Self::Value(value, _) => cmp::equal(value, expected),
            Self::Name(name) => expected.as_str() == Some(name),
        }
    }

    /// Asked for when an error is made, which holds a copy if it stands inside an alternative. The place
    /// is known, so the value is looked up there instead.
    fn to_value(&self) -> Cow<'a, Value> {
        match self {
            Self::Value(_, meter) => {
                meter.fault();
                Cow::Owned(Value::Null)
            }
            Self::Name(name) => Cow::Owned(Value::from(*name)),
        }
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(match self {
            Self::Value(value, _) => std::ptr::from_ref::<Value>(value).addr(),
            Self::Name(name) => name.as_ptr().addr(),
        }))
    }
}

/// The properties of an object under a meter.
pub(crate) struct Members<'a> {
    map: &'a Map<String, Value>,
    meter: &'a Meter,
}

impl<'a> Object<'a, Counted> for Members<'a> {
    type Node = Seen<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        self.map.len()
    }

    fn get(&self, key: &String) -> Option<Seen<'a>> {
        if !self.meter.take(1) {
            return None;
        }
        self.map.get(key).map(|value| Seen::Value(value, self.meter))
    }

    fn members(&self) -> MembersIter<'a> {
        MembersIter { rest: self.map.iter(), meter: self.meter }
    }
}

/// See [`Members`].
pub(crate) struct MembersIter<'a> {
    rest: serde_json::map::Iter<'a>,
    meter: &'a Meter,
}

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, Seen<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        if !self.meter.take(1) {
            return None;
        }
        self.rest.next().map(|(name, value)| (name.as_str(), Seen::Value(value, self.meter)))
    }
}

/// The items of an array under a meter.
pub(crate) struct Elements<'a> {
    items: &'a [Value],
    meter: &'a Meter,
}

impl<'a> Array<'a, Counted> for Elements<'a> {
    type Node = Seen<'a>;
    type ElementsIter = ElementsIter<'a>;

    fn len(&self) -> usize {
        self.items.len()
    }

    fn elements(&self) -> ElementsIter<'a> {
        ElementsIter { rest: self.items.iter(), meter: self.meter }
    }

    fn is_unique(&self) -> bool {
        self.meter.take(self.items.len() as u64) && unique::is_unique(self.items)
    }
}

/// See [`Elements`].
pub(crate) struct ElementsIter<'a> {
    rest: std::slice::Iter<'a, Value>,
    meter: &'a Meter,
}

impl<'a> Iterator for ElementsIter<'a> {
    type Item = Seen<'a>;

    fn next(&mut self) -> Option<Seen<'a>> {
        if !self.meter.take(1) {
            return None;
        }
        self.rest.next().map(|value| Seen::Value(value, self.meter))
    }
}

#[cfg(test)]
mod tests;
