//! Validation that comes to an end: a value that counts how often it is looked at.
//!
//! The validator walks a value through [`Seen`], which knows the [`Meter`] of the run. Once that is spent,
//! every array and every object looks empty, so that the walk ends; what it found then counts for nothing.
//! A schema that alternates recursively would otherwise take time exponential in the depth of the
//! arguments, and a long array of wrong items memory in proportion to its length, many times over.

mod seen;

use std::cell::Cell;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::Value;

pub(crate) use seen::Counted;
use seen::Seen;

/// The most looks at values that one validation may take.
pub const MAX_STEPS: u64 = 1 << 26;

/// The most looks that a search for what is wrong may take. Each may leave something in memory.
pub const MAX_SEARCH_STEPS: u64 = 1 << 23;

/// The most things that a search finds wrong. Every alternative that does not fit counts.
pub const MAX_FAULTS: usize = 10_000;

/// The most bytes of schemas that the faults of one search may copy: an error about `not` holds the schema.
const MAX_COPIED_BYTES: usize = 64 << 20;

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
    /// Bounds the runs of a validator, each of whose errors copies at most `copied` bytes of its schema.
    pub(crate) fn new(validator: Validator<Counted>, copied: usize) -> Self {
        let faults = MAX_FAULTS.min(MAX_COPIED_BYTES / copied.max(1));
        Self {
            validator,
            limits: Limits { steps: MAX_STEPS, search_steps: MAX_SEARCH_STEPS, faults },
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
        names::begin(steps, max_faults);
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
        if self.spent_at.get().is_none() {
            self.steps.set(0);
            self.spent_at.set(Some(self.faults.get()));
        }
    }

    fn is_spent(&self) -> bool {
        self.spent_at.get().is_some() || names::is_spent()
    }

    fn faults_before_spent(&self) -> usize {
        // Faults about names are not counted with the others, so which came first cannot be told.
        if names::is_spent() { 0 } else { self.spent_at.get().unwrap_or(usize::MAX) }
    }
}

/// The meter of names of properties. A name is handed to the validator as a bare text, without a place for the
/// meter of its run; a run never leaves its thread, so the thread keeps it.
mod names {
    use std::cell::Cell;

    #[derive(Clone, Copy)]
    struct Left {
        steps: u64,
        faults: usize,
        is_spent: bool,
    }

    thread_local! {
        static LEFT: Cell<Left> = const { Cell::new(Left { steps: 0, faults: 0, is_spent: false }) };
    }

    /// Begins a run.
    pub(super) fn begin(steps: u64, faults: usize) {
        LEFT.set(Left { steps, faults, is_spent: false });
    }

    /// Takes steps; false if there are none left.
    pub(super) fn take(steps: u64) -> bool {
        let left = LEFT.get();
        let after = left.steps.checked_sub(steps);
        let is_spent = left.is_spent || after.is_none();
        LEFT.set(Left { steps: after.unwrap_or(0), is_spent, ..left });
        !is_spent
    }

    /// Counts a fault; false if there may be no more.
    pub(super) fn fault() -> bool {
        let left = LEFT.get();
        let after = left.faults.checked_sub(1);
        let is_spent = left.is_spent || after.is_none();
        LEFT.set(Left { faults: after.unwrap_or(0), is_spent, ..left });
        !is_spent
    }

    pub(super) fn is_spent() -> bool {
        LEFT.get().is_spent
    }
}

#[cfg(test)]
mod tests;
