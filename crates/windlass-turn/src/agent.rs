use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use windlass_core::model::Opening;
use windlass_core::{
    Clock, Conversation, Entropy, Error, Journal, Model, OnCollision, SessionId, Tool, Usage, Values, render,
};
use windlass_tool::{IntoTool, ToolRegistry, ToolSet};

use crate::journal::MemoryJournal;
use crate::machine::Limits;
use crate::session::{OpenSession, Session};
use crate::system::{OsEntropy, SystemClock};
use crate::turn::Turn;

/// A model, its instructions and its tools. Cheap to clone; ready when its last builder method is done.
///
/// Each builder method makes another agent, whose sessions are its own: name sessions on the finished one.
/// Mistakes of the definition, such as two tools of one name, are reported by the first turn, or by
/// [`check`](Self::check).
#[derive(Clone)]
pub struct Agent {
    shared: Arc<Shared>,
    /// The named sessions of this agent; every change of the definition begins with none.
    sessions: Arc<Mutex<HashMap<String, Arc<OpenSession>>>>,
}

/// The definition of an agent.
#[derive(Clone)]
pub(crate) struct Shared {
    model: Arc<dyn Model>,
    pub(crate) model_name: Arc<str>,
    pub(crate) instructions: Option<Arc<str>>,
    pub(crate) tools: ToolRegistry,
    pub(crate) values: Values,
    /// The first mistake in the definition.
    mistake: Option<Error>,
    pub(crate) limits: Limits,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    /// Without one, each session keeps its facts itself, and they go with it.
    journal: Option<Arc<dyn Journal>>,
}

impl Shared {
    /// True if a tool has arguments that only its handler may see.
    pub(crate) fn has_secrets(&self) -> bool {
        self.tools.iter().any(|tool| !tool.definition().secret.is_empty())
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        self.mistake.clone().map_or(Ok(()), Err)
    }

    fn open(&self) -> OpenSession {
        let id = SessionId::mint(self.clock.now(), &*self.entropy);
        OpenSession::new(id, self.journal.clone().unwrap_or_else(|| Arc::new(MemoryJournal::new())))
    }

    /// A conversation with the model in which nothing has been said.
    pub(crate) fn converse(&self) -> Box<dyn Conversation> {
        let instructions = self.instructions.clone().map(render::instructions);
        let tools = self.tools.shown().map(|tool| tool.describe().clone()).collect();
        self.model.open(&Opening::new(instructions, tools))
    }
}

impl Agent {
    /// An agent that has a model and nothing else yet.
    pub fn new(model: impl Model) -> Self {
        Self::of(Shared {
            model_name: model.name().into(),
            model: Arc::new(model),
            instructions: None,
            tools: ToolRegistry::new(),
            values: Values::new(),
            mistake: None,
            limits: Limits::default(),
            clock: Arc::new(SystemClock),
            entropy: Arc::new(OsEntropy),
            journal: None,
        })
    }

    fn of(shared: Shared) -> Self {
        Self { shared: Arc::new(shared), sessions: Arc::default() }
    }

    fn change(self, change: impl FnOnce(&mut Shared)) -> Self {
        let mut shared = Arc::unwrap_or_clone(self.shared);
        change(&mut shared);
        Self::of(shared)
    }

    /// What the agent is told before anything else.
    #[must_use]
    pub fn instructions(self, text: impl Into<String>) -> Self {
        self.change(|shared| shared.instructions = Some(text.into().into()))
    }

    /// Adds a tool.
    #[must_use]
    pub fn tool(self, tool: impl IntoTool) -> Self {
        self.register(|tools| tools.add(tool))
    }

    /// Adds several tools: what `#[tools]` makes of a type, or a list.
    #[must_use]
    pub fn tools(self, tools: impl ToolSet) -> Self {
        self.register(|registry| registry.add_all(tools))
    }

    /// Merges a registry into the agent's own, hidden tools too; where names meet, the newcomer's
    /// `onCollision` decides, and *throw* is a mistake.
    #[must_use]
    pub fn registry(self, tools: ToolRegistry) -> Self {
        self.register(|registry| registry.merge(tools, OnCollision::Throw))
    }

    fn register(self, add: impl FnOnce(&mut ToolRegistry) -> Result<(), Error>) -> Self {
        self.change(|shared| {
            if let Err(mistake) = add(&mut shared.tools) {
                shared.mistake.get_or_insert(mistake);
            }
        })
    }

    /// Gives a value to the handlers of every turn, which find it by its type: `context.get::<T>()?`.
    #[must_use]
    pub fn provide<T: Any + Send + Sync>(self, value: T) -> Self {
        self.change(|shared| shared.values = std::mem::take(&mut shared.values).with(value))
    }

    /// The same agent with another model; tests use it to put a script in the model's place.
    #[must_use]
    pub fn with_model(self, model: impl Model) -> Self {
        self.change(|shared| {
            shared.model_name = model.name().into();
            shared.model = Arc::new(model);
        })
    }

    /// How often the model is asked in one turn; [`MAX_ITERATIONS`](crate::MAX_ITERATIONS) unless set, at
    /// least once.
    #[must_use]
    pub fn max_iterations(self, iterations: u32) -> Self {
        self.change(|shared| shared.limits.iterations = iterations.max(1))
    }

    /// Where time comes from.
    #[must_use]
    pub fn clock(self, clock: impl Clock) -> Self {
        self.change(|shared| shared.clock = Arc::new(clock))
    }

    /// Where random bytes come from.
    #[must_use]
    pub fn entropy(self, entropy: impl Entropy) -> Self {
        self.change(|shared| shared.entropy = Arc::new(entropy))
    }

    /// Where facts are kept; in memory, as long as their session, unless set.
    #[must_use]
    pub fn journal(self, journal: impl Journal) -> Self {
        self.change(|shared| shared.journal = Some(Arc::new(journal)))
    }

    /// Reports the first mistake in the definition, if there is one.
    pub fn check(&self) -> Result<(), Error> {
        self.shared.check()
    }

    /// The session of this name: the same conversation each time it is asked for.
    pub fn session(&self, name: impl Into<String>) -> Session {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let open = sessions.entry(name.into()).or_insert_with(|| Arc::new(self.shared.open())).clone();
        Session { agent: self.shared.clone(), open }
    }

    /// Forgets the session of this name; a later one of the same name begins anew.
    pub fn forget(&self, name: &str) {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// A session without a name, which lasts as long as it is held.
    pub fn new_session(&self) -> Session {
        Session { agent: self.shared.clone(), open: Arc::new(self.shared.open()) }
    }

    /// A turn in a session of its own.
    pub fn turn(&self, prompt: impl Into<String>) -> Turn {
        self.new_session().turn(prompt)
    }

    /// Runs a turn in a session of its own and returns the answer.
    pub async fn ask(&self, prompt: impl Into<String>) -> Result<Answer, Error> {
        self.turn(prompt).await?.into_answer()
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<_> = self.shared.tools.iter().map(Tool::name).collect();
        f.debug_struct("Agent")
            .field("model", &self.shared.model.name())
            .field("tools", &tools)
            .finish_non_exhaustive()
    }
}

/// What the model answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    text: String,
    usage: Usage,
}

impl Answer {
    pub(crate) fn new(text: &str, usage: Usage) -> Self {
        Self { text: text.to_owned(), usage }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it cost.
    pub fn usage(&self) -> Usage {
        self.usage
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
