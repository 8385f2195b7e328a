/** Streams of requests that wait for a slot: each format sends what its clients skip, then the answer. */

import Anthropic from "@anthropic-ai/sdk";
import { Ollama } from "ollama";
import { afterAll, beforeAll, expect, test } from "vitest";
import { slotsInUse } from "../support/service/limit-load.ts";
import { type Service, startService } from "../support/service/service.ts";

interface Case {
  path: string;
  body: (text: string) => object;
  /** Sent while the request waits. */
  frame: string;
  answer: RegExp;
  failure: RegExp;
}

const user = (content: string) => ({ messages: [{ role: "user", content }] });
const COMMENT = ": queued\n\n";
const OPENAI_FAILURE = /^data: \{"error":\{"message":"Down\.".*\}\n\n$/;

const FORMATS: Record<string, Case> = {
  chat: {
    path: "/v1/chat/completions",
    body: user,
    frame: COMMENT,
    answer: /^data: .*"content":"Done\.".*data: \[DONE\]\n\n$/s,
    failure: OPENAI_FAILURE,
  },
  completions: {
    path: "/v1/completions",
    body: (prompt) => ({ prompt }),
    frame: COMMENT,
    answer: /^data: .*"text":"Done\.".*data: \[DONE\]\n\n$/s,
    failure: OPENAI_FAILURE,
  },
  responses: {
    path: "/v1/responses",
    body: (input) => ({ input }),
    frame: COMMENT,
    answer: /^event: response\.created\n.*event: response\.completed\n.*"text":"Done\."/s,
    failure: /^event: error\ndata: \{"type":"error",.*"message":"Down\.".*"sequence_number":0\}\n\n$/,
  },
  messages: {
    path: "/v1/messages",
    body: (text) => ({ ...user(text), max_tokens: 50 }),
    frame: 'event: ping\ndata: {"type":"ping"}\n\n',
    answer: /^event: message_start\n.*"text":"Done\.".*event: message_stop\n/s,
    failure: /^event: error\ndata: \{"type":"error","error":\{.*"message":"Down\.".*\}\n\n$/,
  },
  gemini: {
    path: "/v1beta/models/{model}:streamGenerateContent?alt=sse",
    body: (text) => ({ contents: [{ parts: [{ text }] }] }),
    frame: COMMENT,
    answer: /^data: \{"candidates".*"text":"Done\.".*"finishReason":"STOP".*"usageMetadata".*\n\n$/s,
    failure: /^data: \{"error":\{"code":\d+,"message":"Down\.".*\}\n\n$/,
  },
  "gemini-array": {
    path: "/v1beta/models/{model}:streamGenerateContent",
    body: (text) => ({ contents: [{ parts: [{ text }] }] }),
    frame: " ",
    answer: /^\[\{"candidates".*"text":"Done\.".*"usageMetadata".*\}\]$/s,
    failure: /^\[\{"error":\{"code":\d+,"message":"Down\.".*\}\]$/,
  },
  "Ollama's chat": {
    path: "/api/chat",
    body: user,
    frame: " ",
    answer: /^\{.*"content":"Done\.".*"done":true.*\}\n$/s,
    failure: /^\{"error":"Down\."\}\n$/,
  },
  "Ollama's generate": {
    path: "/api/generate",
    body: (prompt) => ({ prompt }),
    frame: " ",
    answer: /^\{.*"response":"Done\.".*"done":true.*\}\n$/s,
    failure: /^\{"error":"Down\."\}\n$/,
  },
};

const DELAY = "delay_ms_before_first: 3000";
/** Until its client leaves. */
const HOLDS = "{ match: holds, delay_ms_before_first: 600000 }";
const FAILURE = "fail_after_tokens: 0, fail_with: { kind: upstream-failed, message: Down. }";

let service: Service;
beforeAll(async () => {
  // One model for each test, since they run at once.
  const models = ["chat", "completions", "responses", "messages", "gemini", "gemini-array", "ollama"].flatMap(
    (name) => [name, `${name}-client`],
  );
  const lines = [...models, "generate"].map(
    (id) =>
      `  - { id: ${id}, task: chat, deployments: [{ engine: scripted, slots: 1, replies: [${HOLDS}, { match: fails, ${FAILURE} }, { text: "Done.", ${DELAY} }] }] }\n`,
  );
  service = await startService({
    config: `builtin_models: false\nollama: { enabled: true }\nmodels:\n${lines.join("")}`,
  });
});
afterAll(() => service.stop());

/** Occupies the model's only slot, by default for as long as a request mostly waits for its first frame. */
async function occupy(model: string, text = "Hi", init?: RequestInit): Promise<{ end: Promise<number | "left"> }> {
  const end = service.post("/v1/chat/completions", { model, ...user(text) }, init).then(
    ({ status }) => status,
    () => "left" as const,
  );
  await expect.poll(() => slotsInUse(service, model)).toBe(1);
  return { end };
}

const modelOf = (name: string) => name.replace("Ollama's chat", "ollama").replace("Ollama's ", "");

test.concurrent.each(Object.entries(FORMATS))("sends what clients of %s skip", async (name, format) => {
  const { path, body, frame, answer, failure } = format;
  const model = modelOf(name);
  const ask = async (text: string) => {
    const leaving = new AbortController();
    const occupied = await occupy(model, "holds", { signal: leaving.signal });
    const response = await service.post(path.replace("{model}", model), { model, stream: true, ...body(text) });
    expect(response.status).toBe(200);
    let stream = "";
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      stream += piece;
      leaving.abort();
    }
    expect(await occupied.end).toBe("left");
    expect(stream.slice(0, frame.length)).toBe(frame);
    return stream.slice(frame.length);
  };
  expect(await ask("Hi")).toMatch(answer);
  // A failure while the request waits has no status any more.
  expect(await ask("fails")).toMatch(failure);
});

const CLIENTS: Record<string, (model: string) => Promise<string>> = {
  chat: async (model) => {
    const stream = service.client().chat.completions.stream({ model, messages: [{ role: "user", content: "Hi" }] });
    return (await stream.finalChatCompletion()).choices[0]?.message.content ?? "";
  },
  completions: async (model) => {
    let text = "";
    for await (const { choices } of await service.client().completions.create({ model, prompt: "Hi", stream: true })) {
      text += choices[0]?.text ?? "";
    }
    return text;
  },
  responses: async (model) =>
    (await service.client().responses.stream({ model, input: "Hi" }).finalResponse()).output_text,
  messages: async (model) => {
    const client = new Anthropic({ baseURL: service.origin, apiKey: service.apiKey, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "Hi" }];
    return client.messages.stream({ model, max_tokens: 50, messages }).finalText();
  },
  ollama: async (model) => {
    const client = new Ollama({ host: service.origin, headers: { authorization: `Bearer ${service.apiKey}` } });
    let text = "";
    const messages = [{ role: "user", content: "Hi" }];
    for await (const { message } of await client.chat({ model, messages, stream: true })) text += message.content;
    return text;
  },
};

test.concurrent.each(Object.entries(CLIENTS))("the official client of %s reads the answer", async (name, ask) => {
  const occupied = await occupy(`${name}-client`);
  expect(await ask(`${name}-client`)).toBe("Done.");
  expect(await occupied.end).toBe(200);
});

test("sends nothing early without streaming", async () => {
  const occupied = await occupy("chat");
  const answer = await service.post("/v1/chat/completions", { model: "chat", ...user("Hi") });
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "Done." } }] });
  expect(await occupied.end).toBe(200);
});
