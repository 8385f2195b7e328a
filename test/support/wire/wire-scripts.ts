/** Requests to every operation, in recordable order. Each script leaves nothing that another one depends on. */

import { eventually } from "../service/eventually.ts";
import { makeWave } from "../service/wave.ts";
import { budgets } from "./budget-script.ts";
import { configuration } from "./configuration-script.ts";
import { evals } from "./evals-script.ts";
import { mcp } from "./mcp-script.ts";
import { people } from "./people-script.ts";
import { prompts } from "./prompts-script.ts";
import { savedChats } from "./saved-chats-script.ts";
import { scim } from "./scim-script.ts";
import { vectorStores } from "./vector-store-script.ts";
import type { WireRecorder } from "./wire-recorder.ts";

interface WireService {
  recorder: WireRecorder;
  key: string;
  adminKey: string;
}

export type WireScript = (service: WireService) => Promise<void>;
type Script = WireScript;

const user = (content: string) => [{ role: "user", content }];
const WEATHER = { type: "object", properties: { city: { type: "string" } } };
/** A model whose deployment answers, and one whose upstream has the format itself. */
const MODELS = ["parrot", "native"];

const chat: Script = async ({ recorder, key }) => {
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

const completions: Script = async ({ recorder, key }) => {
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

const messages: Script = async ({ recorder, key }) => {
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

const responses: Script = async ({ recorder, key }) => {
  const tools = [{ type: "function", name: "weather", parameters: WEATHER, strict: false }];
  for (const model of MODELS) {
    const send = (title: string, fields: object) =>
      recorder.send(`${model}: ${title}`, "POST /v1/responses", {
        key,
        body: { model, input: "Hello you", ...fields },
      });
    const { id } = await send("complete", {});
    await send("stream", { stream: true });
    await send("not stored", { store: false });
    await send("continued", { previous_response_id: id });
    await send("tools", { input: "weather", tools });
    await send("streamed tools", { input: "weather", tools, stream: true });
    await send("reasoning", { input: "think", reasoning: { summary: "auto" } });
    await send("streamed reasoning", { input: "think", stream: true });
    await send("failure", { input: "fails" });
    await send("streamed failure", { input: "fails", stream: true });
    await send("failure in the stream", { input: "breaks", stream: true });
    await send("ignored field", { unheard_of: 1 });
    await recorder.send(`${model}: retrieve`, `GET /v1/responses/${id}`, { key });
  }
  const ask = (title: string, body: object) => recorder.send(title, "POST /v1/responses", { key, body });
  const { id = "" } = await ask("background", { model: "parrot", input: "Hello you", background: true });
  const path = `/v1/responses/${id}`;
  await eventually(async () => {
    const answer = await fetch(`${recorder.origin}${path}`, { headers: { authorization: `Bearer ${key}` } });
    if (((await answer.json()) as { status: string }).status !== "completed") throw new Error("not completed");
  });
  await recorder.send("retrieve", `GET ${path}`, { key });
  await recorder.send("stream again", `GET ${path}?stream=true`, { key });
  await recorder.send("stream from", `GET ${path}?stream=true&starting_after=3`, { key });
  await recorder.send("input items", `GET ${path}/input_items`, { key });
  await recorder.send("invalid limit", `GET ${path}/input_items?limit=0`, { key });
  await recorder.send("cancel one that has ended", `POST ${path}/cancel`, { key });
  await recorder.send("delete", `DELETE ${path}`, { key });
  await recorder.send("retrieve a deleted one", `GET ${path}`, { key });
  await ask("streamed in the background", { model: "parrot", input: "Hello you", background: true, stream: true });
  await ask("moderation", { model: "parrot", input: "Hello you", moderation: { model: "judge" } });
  await ask("unknown earlier response", { model: "parrot", input: "x", previous_response_id: "resp_none" });
  await ask("invalid field", { model: "parrot", input: "x", temperature: "hot" });
  const body = { model: "parrot", input: "Hello you" };
  await recorder.send("count tokens", "POST /v1/responses/input_tokens", { key, body });
};

const conversations: Script = async ({ recorder, key }) => {
  const item = { type: "message", role: "user", content: "Hello" };
  const { id } = await recorder.send("create", "POST /v1/conversations", {
    key,
    body: { items: [item], metadata: { a: "b" } },
  });
  const path = `/v1/conversations/${id}`;
  await recorder.send("create without a body", "POST /v1/conversations", { key });
  await recorder.send("retrieve", `GET ${path}`, { key });
  await recorder.send("update", `POST ${path}`, { key, body: { metadata: { a: "c" } } });
  await recorder.send("respond", "POST /v1/responses", {
    key,
    body: { model: "parrot", input: "Hello you", conversation: id },
  });
  const added = await recorder.send<{ data: { id: string }[] }>("add items", `POST ${path}/items`, {
    key,
    body: { items: [item] },
  });
  await recorder.send("list items", `GET ${path}/items?order=asc`, { key });
  await recorder.send("retrieve an item", `GET ${path}/items/${added.data[0]?.id}`, { key });
  await recorder.send("remove an item", `DELETE ${path}/items/${added.data[0]?.id}`, { key });
  await recorder.send("unknown item", `GET ${path}/items/msg_none`, { key });
  await recorder.send("no metadata", `POST ${path}`, { key, body: {} });
  await recorder.send("delete", `DELETE ${path}`, { key });
  await recorder.send("retrieve a deleted one", `GET ${path}`, { key });
};

const ollama: Script = async ({ recorder, key }) => {
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

const text: Script = async ({ recorder, key }) => {
  const post = (title: string, path: string, body: unknown) => recorder.send(title, `POST ${path}`, { key, body });
  await post("embeddings", "/v1/embeddings", { model: "minilm", input: ["one", "two"] });
  await post("embeddings: invalid", "/v1/embeddings", { model: "minilm", input: [] });
  await post("embeddings: ignored field", "/v1/embeddings", { model: "minilm", input: "one", unheard_of: 1 });
  for (const version of ["v1", "v2"]) {
    const body = { model: "minilm", query: "a cat", documents: ["a kitten"], unheard_of: 1 };
    await recorder.send(`rerank ${version}`, `POST /${version}/rerank`, { key, body, bodyAs: "(scores)" });
    await post(`rerank ${version}: invalid`, `/${version}/rerank`, { model: "minilm", query: "a" });
  }
  await post("moderation", "/v1/moderations", { model: "judge", input: ["a zebra", "a cat"] });
  await post("moderation: invalid", "/v1/moderations", { model: "judge" });
};

const audio: Script = async ({ recorder, key }) => {
  const speak = (title: string, fields: object) =>
    recorder.send(title, "POST /v1/audio/speech", {
      key,
      body: { model: "speech", input: "One. Two.", voice: "low", ...fields },
    });
  for (const response_format of ["wav", "pcm"]) await speak(response_format, { response_format });
  await recorder.send("mp3", "POST /v1/audio/speech", {
    key,
    body: { model: "speech", input: "One.", voice: "low" },
    bodyAs: "(audio)",
  });
  await speak("streamed", { stream_format: "sse", response_format: "pcm", unheard_of: 1 });
  await speak("unknown voice", { voice: "none" });
  await speak("invalid field", { speed: 9 });
  await recorder.send("voices", "GET /v1/audio/voices", { key });
  await recorder.send("voices of a model", "GET /v1/audio/voices?model=speech", { key });
  await recorder.send("models", "GET /v1/audio/models", { key });
  const upload = (fields: Record<string, string>) => {
    const form = new FormData();
    form.append("file", new Blob([makeWave({ seconds: 0.2 })]), "name.wav");
    for (const [name, value] of Object.entries({ model: "listen", ...fields })) form.append(name, value);
    return form;
  };
  for (const response_format of ["json", "text", "srt", "vtt", "verbose_json"]) {
    const body = upload({ response_format });
    await recorder.send(response_format, "POST /v1/audio/transcriptions", { key, body });
  }
  await recorder.send("streamed", "POST /v1/audio/transcriptions", { key, body: upload({ stream: "true" }) });
  await recorder.send("translation", "POST /v1/audio/translations", { key, body: upload({}) });
  await recorder.send("invalid", "POST /v1/audio/translations", { key, body: upload({ temperature: "9" }) });
  await recorder.send("no form", "POST /v1/audio/transcriptions", { key, body: {} });
  await recorder.send("client secret", "POST /v1/realtime/client_secrets", {
    key,
    body: { session: { type: "transcription", audio: { input: { transcription: { model: "listen" } } } } },
  });
  await recorder.send("no WebSocket", "GET /v1/realtime?model=parrot", { key });
};

const images: Script = async ({ recorder, key }) => {
  const model = "paint";
  const size = "1x2";
  const send = (title: string, path: string, body: unknown) =>
    recorder.send(title, `POST /v1/images/${path}`, { key, body });
  const generate = (title: string, fields: object) =>
    send(title, "generations", { model, size, prompt: "a heron", ...fields });
  await generate("two", { n: 2, quality: "high", unheard_of: 1 });
  await generate("as an address", { response_format: "url" });
  await generate("streamed", { stream: true, partial_images: 1 });
  await generate("streamed: failure", { stream: true, prompt: "fails" });
  await generate("too large", { size: "99999x99999" });
  await generate("invalid field", { n: 0 });
  const upload = (fields: Record<string, string>, names: string[]) => {
    const form = new FormData();
    const png = Buffer.from("iVBORw0KGgoAAAANSUhEUg==", "base64");
    for (const name of names) form.append(name, new Blob([png]), `${name}.png`);
    for (const [name, value] of Object.entries({ model, size, ...fields })) form.append(name, value);
    return form;
  };
  await send("edit", "edits", upload({ prompt: "add a moon" }, ["image[]", "image[]", "mask"]));
  await send("streamed edit", "edits", upload({ prompt: "add a moon", stream: "true" }, ["image"]));
  await send("edit: no image", "edits", upload({ prompt: "add a moon" }, ["mask"]));
  await send("variation", "variations", upload({}, ["image"]));
  await send("variation: two images", "variations", upload({}, ["image", "image"]));
};

const batches: Script = async ({ recorder, key }) => {
  const upload = (lines: string, purpose = "batch") => {
    const form = new FormData();
    form.append("purpose", purpose);
    form.append("file", new Blob([lines]), "input.jsonl");
    return form;
  };
  const line = (id: string, body: object, url = "/v1/chat/completions") =>
    `${JSON.stringify({ custom_id: id, method: "POST", url, body })}\n`;
  const input =
    line("a", { model: "parrot", messages: user("Hello you") }) + line("b", { model: "none", messages: user("x") });
  const { id } = await recorder.send("upload", "POST /v1/files", { key, body: upload(input) });
  await recorder.send("upload for another purpose", "POST /v1/files", { key, body: upload("x", "none") });
  await recorder.send("retrieve a file", `GET /v1/files/${id}`, { key });
  await recorder.send("list files", "GET /v1/files?purpose=batch", { key });
  await recorder.send("content", `GET /v1/files/${id}/content`, { key });
  const batch = await recorder.send("create", "POST /v1/batches", {
    key,
    body: { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h", metadata: { a: "b" } },
  });
  let ended: Record<string, string> = {};
  await eventually(async () => {
    const headers = { authorization: `Bearer ${key}` };
    ended = (await (await fetch(`${recorder.origin}/v1/batches/${batch.id}`, { headers })).json()) as typeof ended;
    if (ended.status !== "completed") throw new Error(`${ended.status}`);
  });
  await recorder.send("retrieve", `GET /v1/batches/${batch.id}`, { key });
  await recorder.send("list", "GET /v1/batches", { key });
  await recorder.send("cancel one that has ended", `POST /v1/batches/${batch.id}/cancel`, { key });
  for (const file of [ended.output_file_id, ended.error_file_id]) {
    await recorder.send("result", `GET /v1/files/${file}/content`, { key });
    await recorder.send("delete a result", `DELETE /v1/files/${file}`, { key });
  }
  await recorder.send("delete the input", `DELETE /v1/files/${id}`, { key });
  await recorder.send("retrieve a deleted file", `GET /v1/files/${id}`, { key });
  await recorder.send("invalid batch", "POST /v1/batches", { key, body: {} });
  await recorder.send("unknown batch", "GET /v1/batches/batch_none", { key });
};

const models: Script = async ({ recorder, key, adminKey }) => {
  await recorder.send("list", "GET /v1/models", { key });
  await recorder.send("list with a slash", "GET /v1/models/", { key });
  await recorder.send("list with metadata", "GET /v1/models?include_metadata=true&task=chat", { key });
  await recorder.send("retrieve", "GET /v1/models/parrot?include_model_access_groups=true", { key });
  await recorder.send("retrieve an unknown one", "GET /v1/models/a/b", { key });
  const headers = { "anthropic-version": "2023-06-01" };
  await recorder.send("list in Anthropic's format", "GET /v1/models?limit=1", { key, headers });
  await recorder.send("retrieve in Anthropic's format", "GET /v1/models/parrot", { key, headers });
  await recorder.send("invalid query", "GET /v1/models?task=none", { key });
  const administer = (route: string) => recorder.send(route.split("/").at(-1) ?? "", route, { key: adminKey });
  for (const operation of ["unload", "load", "pull"]) {
    await administer(`POST /v1/organization/models/spare/${operation}`);
  }
  await administer("DELETE /v1/organization/models/spare");
  await administer("POST /v1/organization/models/none/load");
  await recorder.send("load with a project key", "POST /v1/organization/models/spare/load", { key });
};

const organization: Script = async ({ recorder, key, adminKey }) => {
  const ROOT = "/v1/organization";
  const send = <Answer = Record<string, string>>(title: string, route: string, body?: unknown) => {
    const [method = "", path = ""] = route.split(" ");
    return recorder.send<Answer>(title, `${method} ${ROOT}${path}`, { key: adminKey, body });
  };
  const { id } = await send("create a project", "POST /projects", { name: "Recorded" });
  const project = `/projects/${id}`;
  await send("create a project without a name", "POST /projects", {});
  await send("list projects", "GET /projects?limit=1");
  await send("retrieve", `GET ${project}`);
  await send("rename", `POST ${project}`, { name: "Renamed" });
  await send("unknown project", "GET /projects/proj_none");
  await send("NUL", "GET /projects/%00");

  const account = await send<{ id: string; api_key: { id: string; value: string } }>(
    "create a service account",
    `POST ${project}/service_accounts`,
    { name: "App" },
  );
  const accountPath = `${project}/service_accounts/${account.id}`;
  await send("list service accounts", `GET ${project}/service_accounts`);
  await send("retrieve a service account", `GET ${accountPath}`);
  await send("update a service account", `POST ${accountPath}`, { name: "Other" });
  const second = await send("create a key", `POST ${accountPath}/api_keys`, { name: "Second" });
  await send("create a key without a body", `POST ${accountPath}/api_keys`);
  await send("list keys of an account", `GET ${accountPath}/api_keys`);
  await send("list keys", `GET ${project}/api_keys`);
  await send("retrieve a key", `GET ${project}/api_keys/${second.id}`);
  await send("set when a key expires", `POST ${project}/api_keys/${second.id}`, { expires_in_seconds: 3600 });

  for (const owner of ["", project, `${project}/api_keys/${second.id}`]) {
    const path = `${owner}/spend_limit`;
    await send("no spend limit", `GET ${path}`);
    await send("set a spend limit", `POST ${path}`, { threshold_amount: 1000, currency: "USD", interval: "month" });
    await send("retrieve a spend limit", `GET ${path}`);
    await send("invalid spend limit", `POST ${path}`, { threshold_amount: 0, currency: "USD", interval: "month" });
    await send("remove a spend limit", `DELETE ${path}`);
  }
  const rules = { max_keys_per_user: 3, max_lifetime_seconds: 86_400, model_ids: ["parrot"] };
  await send("no rules for keys", `GET ${project}/key_rules`);
  await send("set rules for keys", `POST ${project}/key_rules`, { ...rules, max_spend_cents_per_month: 500 });
  await send("retrieve rules for keys", `GET ${project}/key_rules`);
  await send("invalid rules for keys", `POST ${project}/key_rules`, { max_keys_per_user: 0 });
  await send("unknown model in rules for keys", `POST ${project}/key_rules`, { model_ids: ["none"] });
  await send("remove rules for keys", `DELETE ${project}/key_rules`);
  for (const owner of ["", project]) {
    const path = `${owner}/model_permissions`;
    await send("no model permissions", `GET ${path}`);
    await send("set model permissions", `POST ${path}`, { mode: "deny_list", model_ids: ["speech"] });
    await send("retrieve model permissions", `GET ${path}`);
    await send("unknown model", `POST ${path}`, { mode: "allow_list", model_ids: ["none"] });
    await send("remove model permissions", `DELETE ${path}`);
  }
  const policy = `${project}/moderation_policy`;
  await send("no policy", `GET ${policy}`);
  await send("set a policy", `POST ${policy}`, { model: "judge", policy: { input: { mode: "score" } } });
  await send("retrieve a policy", `GET ${policy}`);
  await send("remove a policy", `DELETE ${policy}`);
  const guardrails = `${project}/guardrails`;
  await send("no guardrails", `GET ${guardrails}`);
  const list = [
    { type: "pii", action: "mask" },
    { type: "moderation", model: "judge", input: "score" },
  ];
  await send("set guardrails", `POST ${guardrails}`, { guardrails: list });
  await send("a guardrail of an unknown type", `POST ${guardrails}`, { guardrails: [{ type: "magic" }] });
  await send("a field of another guardrail", `POST ${guardrails}`, { guardrails: [{ type: "secrets", words: ["a"] }] });
  await send("retrieve guardrails", `GET ${guardrails}`);
  await send("remove guardrails", `POST ${guardrails}`, { guardrails: [] });

  const limits = await send<{ data: { id: string; model: string }[] }>(
    "list rate limits",
    `GET ${project}/rate_limits`,
  );
  const limit = limits.data.find(({ model }) => model === "parrot")?.id;
  await send("set a rate limit", `POST ${project}/rate_limits/${limit}`, {
    max_requests_per_1_minute: 100,
    max_tokens_per_1_minute: 100_000,
  });
  await send("unknown rate limit", `POST ${project}/rate_limits/none`, { max_requests_per_1_minute: 100 });

  const own = account.api_key.value;
  const ask = { model: "parrot", messages: user("Hello you"), max_tokens: 50 };
  await recorder.send("limited chat", "POST /v1/chat/completions", { key: own, body: ask });
  await recorder.send("limited message", "POST /v1/messages", { key: own, body: ask });
  const midnight = Math.floor(Date.now() / 86_400_000) * 86_400;
  const ofToday = `start_time=${midnight}&limit=1`;
  const read = async (path: string) => {
    const answer = await fetch(`${recorder.origin}${ROOT}${path}`, { headers: { authorization: `Bearer ${own}` } });
    return answer.text();
  };
  await eventually(async () => {
    const page = await read(`/usage/completions?${ofToday}&bucket_width=1d`);
    if (!page.includes('"num_model_requests":2')) throw new Error(page);
  });
  await eventually(async () => {
    const page = await read("/requests?limit=10");
    if ((page.match(/"organization.request"/g)?.length ?? 0) < 2) throw new Error(page);
  });
  const sendOwn = (title: string, path: string) => recorder.send(title, `GET ${ROOT}${path}`, { key: own });
  for (const kind of [
    "completions",
    "embeddings",
    "moderations",
    "audio_speeches",
    "audio_transcriptions",
    "images",
    "vector_stores",
  ]) {
    await sendOwn(`usage of ${kind}`, `/usage/${kind}?${ofToday}&bucket_width=1d&group_by=model`);
  }
  await sendOwn("usage by project and model", `/usage?start_time=${midnight}`);
  await sendOwn("costs", `/costs?${ofToday}`);
  await sendOwn("costs by line item", `/costs?${ofToday}&group_by=line_item`);
  await sendOwn("usage without a start", "/usage/completions");
  await sendOwn("requests", "/requests?limit=10");
  await recorder.send("overview", `GET ${ROOT}/overview`, { key: own, bodyAs: "(overview)" });
  await recorder.send("configuration", `GET ${ROOT}/configuration`, { key: adminKey, bodyAs: "(configuration)" });
  await sendOwn("configuration for a project key", "/configuration");
  await recorder.send("projects for a project key", `GET ${ROOT}/projects`, { key });
  await recorder.send("chat with an admin key", "POST /v1/chat/completions", { key: adminKey, body: ask });

  const admin = await send("create an admin key", "POST /admin_api_keys", { name: "Second" });
  await send("list admin keys", "GET /admin_api_keys");
  await send("retrieve an admin key", `GET /admin_api_keys/${admin.id}`);
  await send("revoke an admin key", `DELETE /admin_api_keys/${admin.id}`);
  await send("revoke a key", `DELETE ${project}/api_keys/${second.id}`);
  await send("delete a service account", `DELETE ${accountPath}`);
  await send("set the rate limit of an alias", `POST ${project}/rate_limits/parakeet`, { max_requests_per_1_day: 9 });
  await send("create a key without an account", `POST ${project}/api_keys`, { name: "Third" });
  await send("list keys of all projects", `GET /api_keys?project_id=${id}`);
  await send("archive", `POST ${project}/archive`);
  await send("list events", "GET /audit_logs?limit=20");
  await send("retrieve the organization", "GET ");
  await recorder.send("organizations with an admin key", "GET /v1/organizations", { key: adminKey });
};

const service: Script = async ({ recorder, key, adminKey }) => {
  const page = { "sec-fetch-site": "same-origin" };
  await recorder.send("live", "GET /health/live");
  await recorder.send("ready", "GET /health/ready");
  await recorder.send("ready with details", "GET /health/ready", { key: adminKey });
  await recorder.send("metrics", "GET /metrics", { bodyAs: "(metrics)" });
  const accept = { accept: "text/html" };
  await recorder.send("console", "GET /", { headers: accept, bodyAs: "(page)" });
  await recorder.send("unknown file of the console", "GET /assets/none.js");
  await recorder.send("OpenAPI document", "GET /openapi.json", { bodyAs: "(document)" });
  await recorder.send("sign in", "POST /console/session", {
    body: { key },
    headers: { "sec-fetch-site": "same-origin" },
  });
  await recorder.send("sign in with a wrong key", "POST /console/session", {
    body: { key: "sk-wrong" },
    headers: page,
  });
  await recorder.send("no session", "GET /console/session");
  await recorder.send("sign out", "DELETE /console/session", { headers: page });
  await recorder.send("sign out on another site's page", "DELETE /console/session");
  await recorder.send("unknown path", "GET /v1/nothing");
  await recorder.send("path without a version", "POST /chat/completions", { body: {} });
  await recorder.send("absent operation", "POST /v1/fine_tuning/jobs", { body: {} });
  await recorder.send("wrong method", "PATCH /v1/chat/completions");
  await recorder.send("invalid encoding", "GET /v1/models/%ff");
  await recorder.send("preflight", "OPTIONS /v1/chat/completions", {
    headers: { origin: "https://page.example", "access-control-request-method": "POST" },
  });
};

export const WIRE_SCRIPTS: Readonly<Record<string, Script>> = {
  chat,
  completions,
  messages,
  responses,
  conversations,
  ollama,
  text,
  audio,
  images,
  batches,
  models,
  organization,
  people,
  budgets,
  scim,
  configuration,
  prompts,
  "saved-chats": savedChats,
  "vector-stores": vectorStores,
  mcp,
  evals,
  service,
};
