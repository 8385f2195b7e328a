import { MODELS, user, WEATHER } from "./chat-inputs.ts";
import type { WireScript } from "./wire-script.ts";

export const chat: WireScript = async ({ recorder, key }) => {
  const path = "POST /v1/chat/completions";
  const tools = [{ type: "function", function: { name: "weather", parameters: WEATHER } }];
  for (const model of MODELS) {
    const send = (title: string, fields: object) =>
      recorder.send(`${model}: ${title}`, path, { key, body: { model, messages: user("Hello you"), ...fields } });
    await send("complete", {});
    await send("stream", { stream: true });
    await send("stream with usage", { stream: true, stream_options: { include_usage: true } });
    await send("ignored field", { unheard_of: 1, store: false });
    await send("tools", { messages: user("weather"), tools });
    await send("streamed tools", { messages: user("weather"), tools, stream: true });
    await send("reasoning", { messages: user("think") });
    await send("streamed reasoning", { messages: user("think"), stream: true });
    await send("limit", { max_completion_tokens: 1 });
    await send("stop", { stop: "you", stream: true });
    await send("failure", { messages: user("fails") });
    await send("streamed failure", { messages: user("fails"), stream: true });
    await send("failure in the stream", { messages: user("breaks"), stream: true });
    await send("failure in the answer", { messages: user("breaks") });
  }
  const ask = (title: string, body: unknown, asKey = key) => recorder.send(title, path, { key: asKey, body });
  const parrot = { model: "parrot", messages: user("Hello you") };
  await ask("choices and logprobs", { ...parrot, n: 2, logprobs: true, top_logprobs: 1 });
  await ask("streamed choices and logprobs", { ...parrot, n: 2, logprobs: true, stream: true });
  await ask("moderation", { ...parrot, moderation: { model: "judge" } });
  await ask("streamed moderation", { ...parrot, moderation: { model: "judge" }, stream: true });
  await ask("unknown model", { ...parrot, model: "none" });
  await ask("model of another task", { ...parrot, model: "judge" });
  await ask("invalid field", { ...parrot, temperature: "hot" });
  await ask("unsupported field", { ...parrot, audio: { voice: "alloy", format: "mp3" }, modalities: ["audio"] });
  await ask("no messages", { model: "parrot" });
  await ask("no JSON", "{");
  await ask("wrong key", parrot, "sk-wrong");
  await recorder.send("no key", path, { body: parrot });
  await recorder.send("other type", path, { key, body: "x", headers: { "content-type": "text/plain" } });
};

export const completions: WireScript = async ({ recorder, key }) => {
  for (const model of MODELS) {
    const send = (title: string, fields: object) =>
      recorder.send(`${model}: ${title}`, "POST /v1/completions", {
        key,
        body: { model, prompt: "Hello you", ...fields },
      });
    await send("complete", {});
    await send("stream", { stream: true });
    await send("stream with usage", { stream: true, stream_options: { include_usage: true } });
    await send("two prompts", { prompt: ["one", "two"], unheard_of: 1 });
    await send("streamed prompts", { prompt: ["one", "two"], stream: true, echo: true });
    await send("failure", { prompt: "fails" });
    await send("failure in the stream", { prompt: "breaks", stream: true });
    await send("invalid field", { max_tokens: -1 });
  }
};

export const messages: WireScript = async ({ recorder, key }) => {
  const tools = [{ name: "weather", input_schema: WEATHER }];
  for (const model of MODELS) {
    const send = (title: string, fields: object) =>
      recorder.send(`${model}: ${title}`, "POST /v1/messages", {
        headers: { "x-api-key": key, "anthropic-version": "2023-06-01" },
        body: { model, max_tokens: 50, messages: user("Hello you"), ...fields },
      });
    await send("complete", {});
    await send("stream", { stream: true });
    await send("tools", { messages: user("weather"), tools });
    await send("streamed tools", { messages: user("weather"), tools, stream: true });
    await send("thinking", {
      messages: user("think"),
      thinking: { type: "enabled", budget_tokens: 1024 },
      max_tokens: 2000,
    });
    await send("failure", { messages: user("fails") });
    await send("failure in the stream", { messages: user("breaks"), stream: true });
    await send("ignored field", { unheard_of: 1 });
    await send("invalid field", { max_tokens: 0 });
  }
  const count = { model: "parrot", messages: user("Hello you") };
  await recorder.send("count tokens", "POST /v1/messages/count_tokens", { key, body: count });
  await recorder.send("count without messages", "POST /v1/messages/count_tokens", { key, body: { model: "parrot" } });
  await recorder.send("no key", "POST /v1/messages", { body: count });
};

export const gemini: WireScript = async ({ recorder, key }) => {
  const say = (text: string) => [{ role: "user", parts: [{ text }] }];
  const tools = [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: WEATHER }] }];
  const headers = { "x-goog-api-key": key };
  const hello = { contents: say("Hello you") };
  const post = (title: string, path: string, body: unknown) =>
    recorder.send(title, `POST /v1beta/models/${path}`, { headers, body });
  for (const model of MODELS) {
    const send = (title: string, method: string, fields: object) =>
      post(`${model}: ${title}`, `${model}:${method}`, { ...hello, ...fields });
    await send("complete", "generateContent", {});
    await send("stream", "streamGenerateContent?alt=sse", {});
    await send("array", "streamGenerateContent", {});
    await send("tools", "generateContent", { contents: say("weather"), tools });
    await send("streamed tools", "streamGenerateContent?alt=sse", { contents: say("weather"), tools });
    const generationConfig = { thinkingConfig: { includeThoughts: true } };
    await send("thinking", "generateContent", { contents: say("think"), generationConfig });
    await send("failure", "generateContent", { contents: say("fails") });
    await send("failure in the stream", "streamGenerateContent?alt=sse", { contents: say("breaks") });
    await send("ignored field", "generateContent", { unheardOf: 1, safetySettings: [] });
  }
  await post("invalid field", "parrot:generateContent", { contents: 1 });
  await post("count tokens", "parrot:countTokens", hello);
  await post("embed", "minilm:embedContent", { content: { parts: [{ text: "one" }] } });
  await post("embed several", "minilm:batchEmbedContents", { requests: [{ content: { parts: [{ text: "one" }] } }] });
  for (const path of ["v1beta/models", "v1beta/models/parrot", "v1/models", "v1/models/parrot", "v1beta/models/none"]) {
    await recorder.send(path, `GET /${path}`, { headers });
  }
  await recorder.send("no key", "POST /v1beta/models/parrot:generateContent", { body: hello });
};

export const cohereAndMistral: WireScript = async ({ recorder, key }) => {
  const tools = [{ type: "function", function: { name: "weather", parameters: WEATHER } }];
  const post = (title: string, path: string, body: object) => recorder.send(title, `POST ${path}`, { key, body });
  for (const model of MODELS) {
    const send = (title: string, text: string, fields: object = {}) =>
      post(`${model}: ${title}`, "/v2/chat", { model, messages: user(text), ...fields });
    await send("complete", "Hello you");
    await send("stream", "Hello you", { stream: true });
    await send("tools", "weather", { tools });
    await send("streamed tools", "weather", { tools, stream: true });
    await send("thinking", "think");
    await send("streamed thinking", "think", { stream: true });
    await send("failure", "fails");
    await send("failure in the stream", "breaks", { stream: true });
    await send("ignored field", "Hello you", { unheardOf: 1, safety_mode: "OFF" });
  }
  await post("invalid field", "/v2/chat", { model: "parrot", messages: 1 });
  await post("embed", "/v2/embed", { model: "minilm", texts: ["one"], embedding_types: ["base64"] });
  await post("fill in the middle", "/v1/fim/completions", { model: "parrot", prompt: "Hello you" });
  await post("streamed fill in the middle", "/v1/fim/completions", { model: "parrot", prompt: "Hello", stream: true });
  await post("invalid field of Mistral", "/v1/fim/completions", { model: "parrot", prompt: 1 });
};

export const ollama: WireScript = async ({ recorder, key }) => {
  const tools = [{ type: "function", function: { name: "weather", parameters: WEATHER } }];
  for (const model of [...MODELS, "parrot:latest"]) {
    const send = (title: string, operation: "chat" | "generate", fields: object) =>
      recorder.send(`${model}: ${title}`, `POST /api/${operation}`, { key, body: { model, ...fields } });
    const hello = { messages: user("Hello you") };
    await send("complete chat", "chat", { ...hello, stream: false });
    await send("chat", "chat", hello);
    await send("complete prompt", "generate", { prompt: "Hello you", stream: false });
    await send("prompt", "generate", { prompt: "Hello you" });
    await send("raw prompt", "generate", { prompt: "Hello you", raw: true });
    await send("tools", "chat", { messages: user("weather"), tools, stream: false });
    await send("streamed tools", "chat", { messages: user("weather"), tools });
    await send("thinking", "chat", { messages: user("think"), think: true });
    await send("failure", "chat", { messages: user("fails") });
    await send("failure in the stream", "chat", { messages: user("breaks") });
    await send("ignored field", "chat", { ...hello, stream: false, unheard_of: 1 });
    await send("load", "generate", {});
    await send("unload", "chat", { messages: [], keep_alive: 0 });
  }
  const post = (title: string, path: string, body: unknown) => recorder.send(title, `POST /api/${path}`, { key, body });
  await post("embed", "embed", { model: "minilm", input: ["one", "two"] });
  await post("embeddings", "embeddings", { model: "minilm", prompt: "one" });
  await post("show", "show", { model: "parrot" });
  await post("show an unknown model", "show", { model: "none" });
  await post("invalid field", "chat", { model: "parrot", messages: 1 });
  for (const path of ["tags", "ps", "version"]) await recorder.send(path, `GET /api/${path}`, { key });
  await recorder.send("no key", "GET /api/tags");
  await recorder.send("notice", "GET /");
};
