use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

type Shared = Arc<dyn Any + Send + Sync>;

/// Values that a program hands to the handlers of a turn, found by their type: the user who asks, a
/// connection, a locale. A clone is a reference.
///
/// ```
/// use windlass_core::Values;
///
/// struct User(&'static str);
///
/// let values = Values::new().with(User("anna")).with(7_u32);
/// assert_eq!(values.get::<User>().unwrap().0, "anna");
/// assert_eq!(values.get::<u32>(), Some(&7));
/// assert_eq!(values.get::<u64>(), None);
/// ```
#[derive(Clone, Default)]
pub struct Values(Option<Arc<HashMap<TypeId, Held>>>);

#[derive(Clone)]
struct Held {
    name: &'static str,
    value: Shared,
}

impl Values {
    /// No values.
    pub const fn new() -> Self {
        Self(None)
    }

    /// These and one more. A second value of a type takes the place of the first.
    #[must_use]
    pub fn with<T: Any + Send + Sync>(mut self, value: T) -> Self {
        let held = Held { name: type_name::<T>(), value: Arc::new(value) };
        Arc::make_mut(self.0.get_or_insert_default()).insert(TypeId::of::<T>(), held);
        self
    }

    /// The value of a type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.as_ref()?.get(&TypeId::of::<T>())?.value.downcast_ref()
    }
}

impl fmt::Debug for Values {
    /// The names of the types; a value may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> =
            self.0.iter().flat_map(|values| values.values()).map(|held| held.name).collect();
        names.sort_unstable();
        f.debug_tuple("Values").field(&names).finish()
    }
}
