//! Tools as users write them, and what becomes of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass::tool::Interrupted;
use windlass::{
    Agent, Approval, Args, ArtifactType, Code, Concurrency, Definition, Effect, Error, IntoTool as _,
    OnCollision, Reconciled, Refusal, Session, StopReason, Tool, ToolContext, ToolError, ToolRegistry,
    ToolSet as _, TranscriptMessage, TypedTool, tool, tools,
};
use windlass_testing::Script;

/// Stations and how often they were asked.
#[derive(Default)]
struct Stations {
    asked: AtomicUsize,
}

#[derive(Deserialize, Serialize, JsonSchema, Clone, Copy, Default)]
#[serde(rename_all = "lowercase")]
enum Scale {
    #[default]
    Celsius,
    Fahrenheit,
}

#[derive(Deserialize, JsonSchema)]
struct Area {
    /// Degrees north.
    #[schemars(range(min = -90.0, max = 90.0))]
    latitude: f64,
    /// Kilometres around it.
    radius: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
struct Page {
    /// Where to go on.
    #[serde(default)]
    offset: u32,
}

/// Current weather in a city.
///
/// Asks the nearest station.
#[tool(pure, timeout = "30s")]
async fn weather(
    stations: &Stations,
    context: &ToolContext,
    /// City name, e.g. "Oslo"
    #[schemars(length(min = 1))]
    city: String,
    /// How many days ahead.
    #[arg(default = 3)]
    #[schemars(range(min = 1, max = 10))]
    days: u8,
    #[arg(default = Scale::Celsius)] scale: Scale,
    /// Only stations here.
    area: Option<Area>,
    #[serde(rename = "type")] kind: Option<String>,
) -> Result<Value, ToolError> {
    stations.asked.fetch_add(1, Ordering::Relaxed);
    let area = area.map(|area| (area.latitude, area.radius));
    let id = context.tool_call_id().as_str();
    Ok(json!({ "id": id, "city": city, "days": days, "scale": scale, "area": area, "kind": kind }))
}

#[test]
fn the_schema_says_what_the_function_says() {
    let tool = weather(Stations::default()).into_tool().unwrap();
    assert_eq!(
        serde_json::to_value(tool.describe()).unwrap(),
        json!({
            "name": "weather",
            "description": "Current weather in a city.\n\nAsks the nearest station.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "city": { "type": "string", "description": "City name, e.g. \"Oslo\"", "minLength": 1 },
                    "days": {
                        "type": "integer", "format": "uint8", "description": "How many days ahead.",
                        "default": 3, "minimum": 1, "maximum": 10,
                    },
                    "scale": { "type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius" },
                    "area": {
                        "description": "Only stations here.",
                        "type": ["object", "null"],
                        "properties": {
                            "latitude": {
                                "type": "number", "format": "double", "description": "Degrees north.",
                                "minimum": -90.0, "maximum": 90.0,
                            },
                            "radius": {
                                "type": ["integer", "null"], "format": "uint32", "minimum": 0,
                                "description": "Kilometres around it.",
                            },
                        },
                        "required": ["latitude"],
                    },
                    "type": { "type": ["string", "null"] },
                },
                "required": ["city"],
                "additionalProperties": false,
            },
        }),
    );
    let definition = tool.definition();
    assert_eq!((definition.effect, definition.timeout), (Effect::Pure, Duration::from_secs(30)));
}

/// Runs the calls one after another and gives back what the model was told.
async fn answers(agent: Agent, calls: &[(&str, Value)]) -> Vec<String> {
    let script = calls.iter().fold(Script::new(), |script, (tool, args)| script.calls(*tool, args.clone()));
    let session = agent.with_model(script.says("done")).new_session();
    assert_eq!(session.turn("go").await.unwrap().stop_reason(), StopReason::Answered);
    told(&session)
}

/// The texts of the tool messages.
fn told(session: &Session) -> Vec<String> {
    let text = |message: &TranscriptMessage| match message {
        TranscriptMessage::Tool(message) => Some(message.content().to_owned()),
        _ => None,
    };
    session.transcript().iter().filter_map(text).collect()
}

fn agent() -> Agent {
    Agent::new(Script::new())
}

#[tokio::test]
async fn a_handler_gets_its_state_its_context_and_its_arguments() {
    let stations = Arc::new(Stations::default());
    let agent = agent().tool(weather(stations.clone()));
    let sent = json!({ "city": "Oslo", "days": "5", "area": { "latitude": 59.9 }, "type": "rain" });
    let told = answers(agent, &[("weather", sent)]).await;
    let got: Value = serde_json::from_str(&told[0]).unwrap();
    assert_eq!(
        got,
        json!({
            "id": got["id"], "city": "Oslo", "days": 5, "scale": "celsius",
            "area": [59.9, null], "kind": "rain",
        })
    );
    assert_eq!(stations.asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn wrong_arguments_are_explained_and_never_run() {
    let stations = Arc::new(Stations::default());
    let told = answers(
        agent().tool(weather(stations.clone())),
        &[("weather", json!({ "city": "", "days": 11, "contry": "NO" }))],
    )
    .await;
    insta::assert_snapshot!(told[0], @r#"
    E_INVALID_TOOL_ARGS: the arguments of `weather` are not valid, so it did not run; call it again, corrected. An example that fits: {"city":"text","days":3}
    - /city: expected at least 1 character, got ""
    - /contry: is not an argument; there are `area`, `city`, `days`, `scale`, `type`
    - /days: expected at most 10, got 11
    "#);
    assert_eq!(stations.asked.load(Ordering::Relaxed), 0);
}

/// Adds numbers.
#[tool(pure)]
fn add(numbers: Vec<i64>) -> i64 {
    numbers.into_iter().sum()
}

/// Does nothing, and says nothing.
#[tool(idempotent)]
async fn nothing() {}

/// Reads a page of a list.
#[tool(pure, name = "list_page")]
async fn list(
    /// The list.
    r#type: String,
    #[serde(flatten)] page: Page,
) -> Result<String, std::num::ParseIntError> {
    let first: u32 = r#type.parse()?;
    Ok((first + page.offset).to_string())
}

#[tokio::test]
async fn functions_without_state_await_or_failure_are_tools_too() {
    let agent = agent().tool(add()).tool(nothing()).tool(list());
    let told = answers(
        agent,
        &[
            ("add", json!({ "numbers": [1, "2", 39] })),
            ("nothing", json!({})),
            ("list_page", json!({ "type": "40", "offset": 2 })),
            ("list_page", json!({ "type": "forty" })),
        ],
    )
    .await;
    let failed = "E_TOOL_DOWNSTREAM_ERROR: `list_page` failed: invalid digit found in string";
    assert_eq!(told, ["42", "", "42", failed]);
}

struct Csv;

impl ArtifactType for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }
}

struct Bank {
    known: Mutex<Vec<String>>,
}

/// Only accounts that the bank knows.
async fn known_account(bank: &Bank, account: &str, amount: &u64, _pin: &str) -> Result<(), Refusal> {
    if *amount == 13 {
        return Err(std::io::Error::other("the ledger is closed").into());
    }
    if bank.known.lock().unwrap().iter().any(|known| known == account) {
        return Ok(());
    }
    Err(Refusal::at("/account", "there is no such account; send one of those that `accounts` lists"))
}

async fn find_transfer(bank: &Bank, interrupted: Interrupted) -> Result<Reconciled, ToolError> {
    let account = interrupted.args["account"].as_str().unwrap_or_default();
    Ok(if bank.known.lock().unwrap().iter().any(|known| known == account) {
        Reconciled::NotDone
    } else {
        Reconciled::Unknown
    })
}

/// Transfers money.
#[tool(
    once,
    name = "transfer",
    description = "Sends money.",
    timeout = Duration::from_secs(7),
    trusted,
    egress,
    sensitive,
    approval = |args| args["amount"].as_u64() > Some(100),
    exclusive,
    blocking,
    polling,
    inline = false,
    artifact_type = Csv,
    ephemeral,
    on_collision = replace,
    meta(owner = "payments", level = 3),
    check = known_account,
    reconcile = find_transfer,
)]
async fn send_money(
    bank: &Bank,
    #[arg(destination)] account: String,
    amount: u64,
    #[arg(secret)]
    #[serde(rename = "PIN")]
    pin: String,
) -> Result<String, ToolError> {
    let known = bank.known.lock().unwrap().len();
    Ok(format!("{amount} to {account}, one of {known}, PIN of {} digits", pin.len()))
}

fn bank() -> Bank {
    Bank { known: Mutex::new(vec!["anna".to_owned()]) }
}

#[tokio::test]
async fn every_property_is_an_attribute() {
    let tool = send_money(bank()).into_tool().unwrap();
    let Definition { name, description, effect, timeout, trusted, egress, sensitive, .. } = tool.definition();
    assert_eq!((&**name, &**description, *effect), ("transfer", "Sends money.", Effect::Once));
    assert_eq!((*timeout, *trusted, *egress, *sensitive), (Duration::from_secs(7), true, true, true));
    let Definition { blocking, polling, inline, ephemeral, on_collision, concurrency, .. } =
        tool.definition();
    assert_eq!((*blocking, *polling, *inline, *ephemeral), (true, true, Some(false), true));
    assert_eq!((*on_collision, *concurrency), (OnCollision::Replace, Concurrency::Exclusive));
    assert_eq!(tool.definition().results_type().name(), "csv");
    assert_eq!(Value::Object(tool.definition().meta.clone()), json!({ "owner": "payments", "level": 3 }));
    let approval = &tool.definition().approval;
    let asked = |amount: u64| approval.is_due(json!({ "amount": amount }).as_object().unwrap());
    assert!(matches!(approval, Approval::When(_)) && asked(101) && !asked(100));
    assert!(tool.definition().destination.iter().eq(["account"]));
    assert!(tool.definition().secret.iter().eq(["PIN"]));
    let hook = tool.definition().reconcile.clone().unwrap();
    let about = |account: &str| {
        let id = windlass::ToolCallId::new("call_1").unwrap();
        let operation = "00".repeat(32).parse().unwrap();
        Interrupted::new(id, operation, json!({ "account": account }).as_object().unwrap().clone())
    };
    assert_eq!(hook(about("anna")).await.unwrap(), Reconciled::NotDone);
    assert_eq!(hook(about("bert")).await.unwrap(), Reconciled::Unknown);
}

#[tokio::test]
async fn the_authors_check_speaks_like_the_schema_and_nothing_runs() {
    let tool = send_money(bank()).into_tool().unwrap();
    let args = |account: &str, amount: u64| {
        Args::from_value(json!({ "account": account, "amount": amount, "PIN": "1234" }))
    };
    let valid = tool.validate(&args("anna", 5)).await.unwrap();
    assert_eq!(Value::Object(valid), json!({ "account": "anna", "amount": 5, "PIN": "1234" }));
    let refused = tool.validate(&args("bert", 5)).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidToolArgs);
    insta::assert_snapshot!(refused.to_string(), @"
    E_INVALID_TOOL_ARGS: the arguments of `transfer` are not valid, so it did not run; call it again, corrected
    - /account: there is no such account; send one of those that `accounts` lists
    ");
    let unable = tool.validate(&args("anna", 13)).await.unwrap_err();
    assert_eq!(unable.code(), Code::ToolDownstream);
    insta::assert_snapshot!(unable.to_string(), @"E_TOOL_DOWNSTREAM_ERROR: the arguments of `transfer` could not be checked, so it did not run: the ledger is closed");
}

/// Whatever is for sale.
struct Shop {
    stock: Mutex<u32>,
}

impl Shop {
    fn with(stock: u32) -> Self {
        Self { stock: Mutex::new(stock) }
    }
}

#[tools]
impl Shop {
    /// How many are left.
    #[tool(pure)]
    async fn stock(&self) -> u32 {
        *self.stock.lock().unwrap()
    }

    /// Buys some.
    #[tool(once, check = Shop::has)]
    fn buy(
        &self,
        /// How many.
        #[schemars(range(min = 1))]
        count: u32,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        let mut stock = self.stock.lock().unwrap();
        *stock -= count;
        Ok(format!("{count} bought as {}", context.definition().name))
    }

    async fn has(&self, count: &u32) -> Result<(), Refusal> {
        let stock = *self.stock.lock().unwrap();
        if *count > stock {
            return Err(Refusal::at("/count", format!("only {stock} are left")));
        }
        Ok(())
    }
}

#[tokio::test]
async fn the_methods_of_a_type_are_tools_that_share_it() {
    let shop = Arc::new(Shop::with(3));
    let names: Vec<_> =
        shop.clone().into_tools().unwrap().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["stock", "buy"]);
    let told = answers(
        agent().tools(shop.clone()),
        &[("buy", json!({ "count": 2 })), ("buy", json!({ "count": 2 })), ("stock", json!({}))],
    )
    .await;
    assert_eq!(told[0], "2 bought as buy");
    assert!(told[1].contains("/count: only 1 are left"), "{}", told[1]);
    assert_eq!(told[2], "1");
    assert_eq!(*shop.stock.lock().unwrap(), 1);
    assert_eq!(
        agent().tools(Shop::with(1)).tools(Shop::with(1)).check().unwrap_err().code(),
        Code::ToolAlreadyRegistered
    );
}

/// Counts the letters of a result.
#[tool(pure, artifact_tool)]
async fn letters(#[serde(rename = "callId")] call_id: String) -> String {
    call_id.len().to_string()
}

#[tokio::test]
async fn an_artifact_tool_answers_with_its_text() {
    let tool = letters().into_tool().unwrap();
    assert!(tool.is_artifact_tool());
    let session = agent()
        .with_model(Script::new().calls("letters", json!({ "callId": "abc" })).says("done"))
        .tool(tool)
        .new_session();
    session.turn("go").await.unwrap();
    let calls: Vec<_> = session
        .facts(0)
        .iter()
        .filter_map(|entry| match &entry.fact {
            windlass::Fact::CallSettled { call, .. } => Some(call.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(calls[0].results().as_text(), Some("3"));
    assert!(calls[0].from_artifact_tool());
}

#[test]
fn an_artifact_tool_has_no_artifact_type() {
    /// Counts.
    #[tool(pure, artifact_tool, artifact_type = Csv)]
    async fn count() -> String {
        String::new()
    }
    let error = count().into_tool().unwrap_err();
    assert_eq!(error.code(), Code::InvalidTool);
    assert_eq!(error.problems()[0].pointer, "/artifactType");
}

#[derive(Clone)]
struct User(&'static str);

/// Who asks.
#[tool(pure, trusted)]
async fn who(context: &ToolContext) -> Result<String, ToolError> {
    Ok(context.get::<User>()?.0.to_owned())
}

#[tokio::test]
async fn handlers_find_what_the_program_gave_to_the_turn() {
    let script = || Script::new().calls("who", json!({})).says("done");
    let asker = async |agent: Agent, turn: fn(windlass::Turn) -> windlass::Turn| {
        let session = agent.new_session();
        turn(session.turn("go")).await.unwrap();
        told(&session).remove(0)
    };
    let bare = || Agent::new(script()).tool(who());
    let missing = asker(bare(), |turn| turn).await;
    assert!(missing.contains("was given no value of the type") && missing.contains("User"), "{missing}");
    assert_eq!(asker(bare().provide(User("anna")), |turn| turn).await, "anna");
    assert_eq!(asker(bare().provide(User("anna")), |turn| turn.provide(User("bert"))).await, "bert");
}

/// Writes many lines.
#[tool(pure, artifact_type = Csv)]
async fn export(context: &ToolContext, rows: u32) -> Result<windlass::ArtifactRef, Error> {
    let mut spool = context.spool().await?;
    for row in 0..rows {
        spool.write(format!("{row}\r\n")).await?;
        context.progress(windlass::Progress::new("writing").of(u64::from(row) + 1, u64::from(rows)));
    }
    spool.seal().await
}

#[tokio::test]
async fn a_result_can_be_written_as_it_comes() {
    let session = Agent::new(Script::new().calls("export", json!({ "rows": 3 })).says("done"))
        .tool(export())
        .new_session();
    session.turn("go").await.unwrap();
    assert_eq!(told(&session), ["0\r\n1\r\n2\r\n"]);
    let artifact = session
        .facts(0)
        .iter()
        .find_map(|entry| match &entry.fact {
            windlass::Fact::CallSettled { call, .. } => match call.results() {
                windlass::ToolResults::Artifact(artifact) => Some(artifact.clone()),
                _ => None,
            },
            _ => None,
        })
        .unwrap();
    assert_eq!((&*artifact.artifact_type, artifact.byte_length, artifact.line_count), ("csv", 9, 3));
    assert_eq!(session.read(&artifact).unwrap(), "0\r\n1\r\n2\r\n");
}

#[tokio::test]
async fn a_call_that_needs_approval_is_denied_where_nobody_can_be_asked() {
    let agent = agent().tool(send_money(bank()));
    let sent = |amount: Value| ("transfer", json!({ "account": "anna", "amount": amount, "PIN": "1" }));
    let told = answers(agent, &[sent(json!(100)), sent(json!(101)), sent(json!("101"))]).await;
    assert_eq!(told[0], "100 to anna, one of 1, PIN of 1 digits");
    // What counts are the arguments that would run: the text "101" would run as 101.
    for told in &told[1..] {
        assert!(told.starts_with("E_TOOL_DENIED: somebody must agree before `transfer` runs"), "{told}");
    }
}

#[test]
fn a_typed_tool_a_tool_and_a_registry_go_where_tools_go() {
    fn names(registry: &ToolRegistry) -> Vec<&str> {
        registry.iter().map(Tool::name).collect()
    }
    let mut registry = ToolRegistry::new();
    registry.add(add()).unwrap();
    registry.add(nothing().into_tool().unwrap()).unwrap();
    registry.add_all(Shop::with(1)).unwrap();
    assert_eq!(names(&registry), ["add", "nothing", "stock", "buy"]);
    assert!(agent().registry(registry).tool(who()).check().is_ok());
    assert_eq!(add().definition().name, "add");
}

trait Looking: Send + Sync {
    fn look(&self) -> u32;
}

impl Looking for u32 {
    fn look(&self) -> u32 {
        *self
    }
}

macro_rules! returning {
    ($name:ident, $result:ty) => {
        /// Looks.
        #[tool(pure, meta(r#type = 1), approval = Approval::Never)]
        fn $name(
            looking: &(dyn Looking + Send),
            _: &ToolContext,
            #[arg(default = "x")] args: Option<String>,
            #[serde(rename(deserialize = "PIN"))]
            #[arg(secret)]
            interrupted: Option<u8>,
        ) -> $result {
            let _ = interrupted;
            Ok(format!("{} {}", looking.look(), args.unwrap_or_default()))
        }
    };
}

returning!(look_around, Result<String, ToolError>);

/// Looks.
#[doc = concat!(" Far", " away.")]
#[tool(pure, reconcile = find_ledger, check = args)]
fn far(ledger: &u32, interrupted: &u64) -> u64 {
    u64::from(*ledger) + *interrupted
}

async fn find_ledger(_: &u32, _: &u64, _: Interrupted) -> Result<Reconciled, ToolError> {
    Ok(Reconciled::Unknown)
}

async fn args(_: &u32, _: &u64) -> Result<(), Refusal> {
    Ok(())
}

#[tokio::test]
async fn odd_functions_are_tools_too() {
    let looking: Arc<dyn Looking + Send> = Arc::new(7);
    let told = answers(
        agent().tool(look_around(looking.clone())).tool(far(1, 2_u64)),
        &[("look_around", json!({ "PIN": 7 })), ("far", json!({}))],
    )
    .await;
    assert_eq!(told, ["7 x", "3"]);
    let tool = look_around(looking).into_tool().unwrap();
    assert!(tool.definition().secret.contains("PIN"));
    assert_eq!(tool.definition().meta["type"], 1);
    assert_eq!(far(1, 2_u64).definition().description, "Looks.\nFar away.");
}

#[derive(Clone, Copy, Deserialize, Serialize, JsonSchema)]
struct Point {
    x: i64,
}

#[tools]
impl Point {
    const PATIENCE: Duration = Duration::from_secs(3);

    /// Moves it.
    #[tool(pure, timeout = Self::PATIENCE, check = Self::is_near, approval = Self::is_far)]
    async fn moved(&self, by: Self) -> Result<Self, ToolError> {
        Ok(Self { x: self.x + by.x })
    }

    async fn is_near(&self, by: &Self) -> Result<(), Refusal> {
        if by.x > self.x { Err(Refusal::at("/by/x", "is too far")) } else { Ok(()) }
    }

    fn is_far(args: &serde_json::Map<String, Value>) -> bool {
        args["by"]["x"] == 5
    }
}

#[tokio::test]
async fn methods_may_speak_of_their_own_type() {
    let by = |x: i64| ("moved", json!({ "by": { "x": x } }));
    let told = answers(agent().tools(Point { x: 9 }), &[by(1), by(5), by(10)]).await;
    assert_eq!(told[0], r#"{"x":10}"#);
    assert!(told[1].starts_with("E_TOOL_DENIED") && told[2].contains("/by/x: is too far"), "{told:?}");
}
