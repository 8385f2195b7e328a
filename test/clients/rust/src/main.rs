//! Drives the Rust client that CLIENT names, or all. Prints each check as one JSON line: {client, version, check, error}.

use anyhow::{ensure, Context, Result};
use async_openai::config::OpenAIConfig;
use futures::StreamExt;
use rig::completion::CompletionRequest;
use rig::providers::openai::OpenAI;
use serde_json::{json, Value};
use std::future::Future;

const TOOLS_MODEL: &str = "scripted-tools";

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Version of a dependency, from the lock file.
fn version_of(client: &str) -> String {
    let lock = include_str!("../Cargo.lock");
    let start = lock.split_once(&format!("name = \"{client}\"\nversion = \"")).map(|(_, rest)| rest);
    start.and_then(|rest| rest.split('"').next()).unwrap_or_default().to_string()
}

async fn check(client: &str, name: &str, work: impl Future<Output = Result<()>>) -> bool {
    let wanted = variable("CLIENT");
    if !wanted.is_empty() && wanted != client {
        return true;
    }
    let error = work.await.err().map(|error| format!("{error:#}"));
    let report = json!({ "client": client, "version": version_of(client), "check": name, "error": error });
    println!("{report}");
    error.is_none()
}

fn expect(found: &str, wanted: &str) -> Result<()> {
    ensure!(found.contains(wanted), "found {found:?} in place of {wanted:?}");
    Ok(())
}

fn async_openai_client() -> async_openai::Client<OpenAIConfig> {
    let config = OpenAIConfig::new().with_api_base(variable("PARLANCE_BASE_URL")).with_api_key(variable("PARLANCE_API_KEY"));
    async_openai::Client::with_config(config)
}

async fn streams() -> Result<()> {
    use async_openai::types::chat::CreateChatCompletionRequest;
    let body = json!({ "model": TOOLS_MODEL, "stream": true, "messages": [{ "role": "user", "content": "Echo this" }] });
    let request: CreateChatCompletionRequest = serde_json::from_value(body)?;
    let mut stream = async_openai_client().chat().create_stream(request).await?;
    let mut text = String::new();
    while let Some(chunk) = stream.next().await {
        for choice in chunk?.choices {
            text += &choice.delta.content.unwrap_or_default();
        }
    }
    expect(&text, "Echo this")
}

async fn calls_a_tool() -> Result<()> {
    use async_openai::types::chat::CreateChatCompletionRequest;
    let parameters = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
    let body = json!({
        "model": TOOLS_MODEL,
        "messages": [{ "role": "user", "content": "How is the weather in Paris?" }],
        "tools": [{ "type": "function", "function": { "name": "get_weather", "parameters": parameters } }],
    });
    let request: CreateChatCompletionRequest = serde_json::from_value(body)?;
    let answer = async_openai_client().chat().create(request).await?;
    let message = serde_json::to_value(&answer.choices[0].message)?;
    let arguments = message["tool_calls"][0]["function"]["arguments"].as_str().context("no tool call")?;
    expect(arguments, "Paris")
}

async fn answers_by_responses() -> Result<()> {
    use async_openai::types::responses::CreateResponse;
    let request: CreateResponse = serde_json::from_value(json!({ "model": TOOLS_MODEL, "input": "Echo this" }))?;
    let response = async_openai_client().responses().create(request).await?;
    let text: Value = serde_json::to_value(&response.output)?;
    expect(&text.to_string(), "Echo this")
}

async fn embeds() -> Result<()> {
    use async_openai::types::embeddings::CreateEmbeddingRequestArgs;
    let request = CreateEmbeddingRequestArgs::default().model("text-embedding-3-small").input("A cat.").build()?;
    let answer = async_openai_client().embeddings().create(request).await?;
    expect(&answer.data[0].embedding.len().to_string(), "384")
}

/// Reads OPENAI_BASE_URL and OPENAI_API_KEY.
fn rig_client() -> Result<OpenAI> {
    Ok(OpenAI::from_env()?)
}

async fn rig_answers() -> Result<()> {
    let response = rig_client()?.completion(TOOLS_MODEL).call(CompletionRequest::new("Echo this")).await?;
    expect(&format!("{:?}", response.choice), "Echo this")
}

async fn rig_answers_by_chat_completions() -> Result<()> {
    let response = rig_client()?.chat(TOOLS_MODEL).call(CompletionRequest::new("Echo this")).await?;
    expect(&format!("{:?}", response.choice), "Echo this")
}

/// For names of OpenAI's, rig asks for the dimensions of their models.
async fn rig_embeds() -> Result<()> {
    let embedding = rig_client()?.embedding("all-minilm-l6-v2", None).embed_text("A cat.").await?;
    expect(&embedding.vec.len().to_string(), "384")
}

#[tokio::main]
async fn main() {
    let results = [
        check("async-openai", "streams", streams()).await,
        check("async-openai", "calls a tool", calls_a_tool()).await,
        check("async-openai", "answers by responses", answers_by_responses()).await,
        check("async-openai", "embeds", embeds()).await,
        check("rig-core", "answers", rig_answers()).await,
        check("rig-core", "answers by chat completions", rig_answers_by_chat_completions()).await,
        check("rig-core", "embeds", rig_embeds()).await,
    ];
    std::process::exit(i32::from(results.contains(&false)));
}
