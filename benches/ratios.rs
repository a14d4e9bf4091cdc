//! What the kit costs, as ratios to a floor that is measured in the same run.
//!
//! Rounds of both sides are interleaved and the fastest of each counts, so that a noisy machine disturbs
//! both alike. Absolute times are printed for orientation only.

#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a benchmark may panic and rounds for people"
)]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use sha2::Digest as _;
use tokio::runtime::Runtime;
use windlass::model::{FinishReason, Opening};
use windlass::tool::{ExecutionEnd, ExecutionStart, Host, Scope};
use windlass::{
    Agent, Args, Cancel, Clock, Effect, Entropy, Error, IntoTool as _, Model as _, ModelDelta, OsEntropy,
    SessionId, SystemClock, Tool, ToolCallId, TurnId, canonical, checksum, tool_fn,
};
use windlass_testing::Script;

const ROUNDS: usize = 100;

fn main() {
    println!("{:<58} {:>8} {:>12} {:>12}", "what", "ratio", "ours", "floor");
    checksum_of_200_bytes();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    validation(&runtime);
    dispatch(&runtime);
    one_step(&runtime);
    flat(&runtime);
}

/// The fastest of interleaved rounds, for one run of each.
fn race(runs: u32, mut ours: impl FnMut(), mut floor: impl FnMut()) -> (Duration, Duration) {
    let mut fastest = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        fastest.0 = fastest.0.min(time(runs, &mut ours));
        fastest.1 = fastest.1.min(time(runs, &mut floor));
    }
    fastest
}

fn time(runs: u32, run: &mut impl FnMut()) -> Duration {
    let start = Instant::now();
    for _ in 0..runs {
        run();
    }
    start.elapsed() / runs
}

fn report(what: &str, (ours, floor): (Duration, Duration)) {
    let ratio = ours.as_secs_f64() / floor.as_secs_f64();
    println!("{what:<58} {ratio:>7.2}x {ours:>12.1?} {floor:>12.1?}");
}

fn checksum_of_200_bytes() {
    let args = json!({
        "query": "frequent errors in the server log of last night",
        "path": "/var/log/service/current.log",
        "limit": 25,
        "caseSensitive": false,
        "context": { "before": 2, "after": 4 },
        "tags": ["error", "timeout", "retry"],
    });
    let text = canonical(&json!({ "args": args, "tool": "search" }));
    let what = format!("checksum of args of {} bytes / SHA-256 of the same", canonical(&args).len());
    let times = race(
        2_000,
        || {
            black_box(checksum("search", black_box(&args)));
        },
        || {
            black_box(sha2::Sha256::digest(black_box(text.as_bytes())));
        },
    );
    report(&what, times);
}

/// The arguments of a search, as a model may send them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only read, never used")]
struct Search {
    #[schemars(length(min = 1, max = 200))]
    query: String,
    #[schemars(regex(pattern = "^/"))]
    path: String,
    #[schemars(range(min = 1, max = 100))]
    limit: u8,
    context: Context,
    tags: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only read, never used")]
struct Context {
    before: u8,
    after: u8,
}

/// Reading the arguments as a model sends them, checked and not.
fn validation(runtime: &Runtime) {
    let text = r#"{"query":"frequent errors of last night","path":"/var/log/service.log","limit":25,"context":{"before":2,"after":4},"tags":["error","timeout"]}"#;
    let search = tool_fn("search", "Searches.", Effect::Pure, |_: Search| async { Ok(()) });
    let search = search.into_tool().unwrap();
    let times = race(
        500,
        || drop(black_box(runtime.block_on(search.validate(&Args::read(black_box(text)))).unwrap())),
        || drop(black_box(serde_json::from_str::<Search>(black_box(text)).unwrap())),
    );
    report("arguments read, checked, coerced, typed / serde alone", times);
    let args = Args::read(text);
    let value = serde_json::Value::Object(args.object().clone());
    let times = race(
        500,
        || drop(black_box(runtime.block_on(search.validate(black_box(&args))).unwrap())),
        || drop(black_box(Search::deserialize(black_box(&value)).unwrap())),
    );
    report("the same from a parsed value / serde alone", times);
}

/// What lies between a call and its handler, beside the function itself.
fn dispatch(runtime: &Runtime) {
    let tool = tool_fn("look", "Looks at a line.", Effect::Pure, |args: Look| async move { Ok(look(&args)) });
    let tool = tool.into_tool().unwrap();
    let executor = tool.executor(Arc::new(Bare::new()));
    let args = Args::read(r#"{"name":"server.log","line":7}"#);
    let id = ToolCallId::new("call_1").unwrap();
    let (ours, floor) = race(
        500,
        || drop(black_box(runtime.block_on(executor.call_as(id.clone(), black_box(args.clone()))).unwrap())),
        || {
            let args = black_box(Look { name: "server.log".to_owned(), line: 7 });
            black_box(runtime.block_on(async { look(&args) }));
        },
    );
    report("a call through an executor / the function alone", (ours, floor));
    // The parts of it that the kit promises, by themselves: hashes and check cannot be had for less.
    let parts = || {
        black_box(args.checksum("look"));
        let effective = canonical(&serde_json::Value::Object(args.object().clone()));
        black_box(sha2::Sha256::digest(effective.as_bytes()));
        black_box(sha2::Sha256::digest(black_box([0_u8; 200])));
        drop(black_box(runtime.block_on(tool.validate(&args)).unwrap()));
        black_box(look(&Look { name: "server.log".to_owned(), line: 7 }));
    };
    let times = race(
        500,
        || drop(black_box(runtime.block_on(executor.call_as(id.clone(), black_box(args.clone()))).unwrap())),
        parts,
    );
    report("a call through an executor / three hashes, check, function", times);
    println!("  so erased dispatch, events and containment take {:.1?}", times.0.saturating_sub(times.1));
}

/// A host that keeps nothing.
struct Bare {
    scope: Scope,
    cancel: Cancel,
}

impl Bare {
    fn new() -> Self {
        let session = SessionId::mint(SystemClock.now(), &OsEntropy).unwrap();
        let turn = TurnId::mint(SystemClock.now(), &OsEntropy).unwrap();
        Self { scope: Scope { session, turn }, cancel: Cancel::new() }
    }
}

impl Host for Bare {
    fn scope(&self) -> Scope {
        self.scope
    }

    fn clock(&self) -> &dyn Clock {
        &SystemClock
    }

    fn entropy(&self) -> &dyn Entropy {
        &OsEntropy
    }

    fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    async fn authorise(&self, _: &Tool, start: &ExecutionStart) -> Result<(), Error> {
        black_box(start);
        Ok(())
    }

    async fn started(&self, start: &ExecutionStart) -> Result<(), Error> {
        black_box(start);
        Ok(())
    }

    fn ended(&self, end: ExecutionEnd) {
        black_box(end);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Look {
    name: String,
    line: u32,
}

fn look(args: &Look) -> String {
    format!("{} has nothing on line {}", args.name, args.line)
}

fn script(steps: usize) -> Script {
    let call = |script: Script, line| script.calls("look", json!({ "name": "server.log", "line": line }));
    (0..steps).fold(Script::new(), call).says("Nothing.")
}

/// The loop that one would write by hand: no ids, no records, no journal, no events, no containment.
async fn by_hand(script: &Script) -> Vec<String> {
    let mut conversation = script.open(&Opening::default());
    let mut messages = vec!["Go.".to_owned()];
    loop {
        let (mut text, mut arguments, mut finish) = (String::new(), String::new(), None);
        let mut deltas = conversation.send();
        while let Some(delta) = deltas.next().await {
            match delta.unwrap() {
                ModelDelta::Text(piece) => text.push_str(&piece),
                ModelDelta::Call { arguments: piece, .. } => arguments.push_str(&piece),
                ModelDelta::Finish(reason) => finish = Some(reason),
                _ => {}
            }
        }
        if finish != Some(FinishReason::ToolCalls) {
            messages.push(text);
            return messages;
        }
        let result = look(&serde_json::from_str(&arguments).unwrap());
        messages.push(arguments);
        messages.push(result);
    }
}

fn agent(script: &Script) -> Agent {
    let look = tool_fn("look", "Looks at a line.", Effect::Pure, |args: Look| async move { Ok(look(&args)) });
    Agent::new(script.clone()).tool(look).max_iterations(u32::MAX)
}

fn one_step(runtime: &Runtime) {
    const STEPS: usize = 100;
    let script = script(STEPS);
    let agent = agent(&script);
    let (ours, floor) = race(
        3,
        || drop(black_box(runtime.block_on(agent.ask("Go.")).unwrap())),
        || drop(black_box(runtime.block_on(by_hand(&script)))),
    );
    report("one step of the loop / by hand, awaited", (ours / 100, floor / 100));
    let (ours, floor) = race(
        3,
        || {
            runtime.block_on(async {
                let mut turn = agent.turn("Go.");
                while let Some(event) = turn.next().await {
                    black_box(event.unwrap());
                }
            });
        },
        || drop(black_box(runtime.block_on(by_hand(&script)))),
    );
    report("one step of the loop / by hand, every event read", (ours / 100, floor / 100));
}

fn flat(runtime: &Runtime) {
    let (long, short) = (script(1_000), script(10));
    let (long_agent, short_agent) = (agent(&long), agent(&short));
    let (long, _) = race(1, || drop(black_box(runtime.block_on(long_agent.ask("Go.")).unwrap())), || {});
    let (short, _) = race(20, || drop(black_box(runtime.block_on(short_agent.ask("Go.")).unwrap())), || {});
    report("one step of 1,000 / one step of 10", (long / 1_000, short / 10));
}
