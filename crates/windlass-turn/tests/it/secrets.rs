//! Arguments that only the handler may see.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use windlass_core::event::Fact;
use windlass_core::{Effect, EventKind, TranscriptMessage, tool_fn};
use windlass_testing::{Script, ScriptedReply};

use crate::support::{Played, agent, play};

const SECRET: &str = "hunter2-correct-horse";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Login {
    user: String,
    #[schemars(length(min = 10))]
    password: String,
    /// Never sent; its default is filled in.
    #[serde(default)]
    attempts: u8,
}

async fn played(reply: ScriptedReply) -> Played {
    let login = tool_fn("login", "Logs in.", Effect::Once, |login: Login| async move {
        Ok(format!("{} is in, {} letters, {}", login.user, login.password.len(), login.attempts))
    });
    let login = login.with(|definition| definition.secret("password"));
    play(&agent(Script::new().reply(reply).says("Done.")).tool(login)).await
}

fn shown(played: &Played) -> Vec<Value> {
    played.events.iter().map(|event| serde_json::to_value(event).unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn g15_a_secret_argument_reaches_the_handler_the_store_and_nobody_else() {
    let args = json!({ "user": "anna", "password": SECRET });
    let played = played(ScriptedReply::new().calls("login", args.clone())).await;
    let record = played.records().remove(0);
    assert_eq!(Value::Object(record.args().clone()), args);
    assert!(record.is_intact());
    let Some(TranscriptMessage::Tool(message)) = played.transcript.get(2) else { panic!() };
    assert_eq!(message.content(), format!("anna is in, {} letters, 0", SECRET.len()));

    let blanked = json!({ "user": "anna", "password": { "$secret": true } });
    let mut kinds = Vec::new();
    for (event, shown) in played.events.iter().zip(shown(&played)) {
        assert!(!shown.to_string().contains("hunter2"), "{shown}");
        let (kind, args) = match &event.kind {
            EventKind::ToolCall { .. } => ("toolCall", shown["content"]["args"].clone()),
            EventKind::ToolExecutionStart(_) => {
                assert_eq!(shown["effectiveArgs"]["password"], json!({ "$secret": true }));
                ("start", shown["args"].clone())
            }
            EventKind::ToolExecutionEnd(_) => ("end", shown["args"].clone()),
            _ => continue,
        };
        assert_eq!(args, blanked, "{shown}");
        kinds.push(kind);
    }
    assert_eq!(kinds, ["toolCall", "start", "end", "toolCall"]);
    played.assert_one_checksum_per_call();
}

#[tokio::test(start_paused = true)]
async fn g15_what_is_wrong_with_a_call_does_not_tell_its_secret() {
    let replies = [
        ScriptedReply::new().calls("login", json!({ "user": 7, "password": SECRET })),
        ScriptedReply::new().calls("login", json!({ "user": "anna", "password": "hunter2" })),
        ScriptedReply::new().calls("login", json!({ "user": "anna", "password": ["hunter2"] })),
        ScriptedReply::new()
            .calls_with_text("login", format!("{{\"user\":\"anna\",\"password\":\"{SECRET}\"")),
        ScriptedReply::new().calls_with_text("login", format!("[\"{SECRET}\"]")),
    ];
    for reply in replies {
        let played = played(reply).await;
        let record = played.records().remove(0);
        assert!(record.is_error());
        let told = record.results().as_text().unwrap();
        assert!(told.starts_with("E_INVALID_TOOL_ARGS") && !told.contains("hunter2"), "{told}");
        for shown in shown(&played) {
            assert!(!shown.to_string().contains("hunter2"), "{shown}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn g15_a_stored_journal_tells_no_more_when_it_is_shown_again() {
    let reply = ScriptedReply::new()
        .calls("login", json!({ "user": "anna", "password": SECRET }))
        .calls_with_text("login", format!("\"{SECRET}\""));
    let played = played(reply).await;
    let mut kept = 0;
    for entry in &played.entries {
        let stored = serde_json::to_string(&**entry).unwrap();
        kept += usize::from(stored.contains("hunter2"));
        let read: windlass_core::Entry = windlass_core::json::from_str(&stored).unwrap();
        assert_eq!(read, **entry);
        for event in read.events() {
            let shown = serde_json::to_string(&event).unwrap();
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    }
    let with_args = |fact: &Fact| {
        matches!(fact, Fact::Replied { calls, .. } if !calls.is_empty())
            || matches!(fact, Fact::CallStarted(_) | Fact::CallSettled { .. })
    };
    assert_eq!(kept, played.entries.iter().filter(|entry| with_args(&entry.fact)).count());
}
