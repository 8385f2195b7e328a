/** Ollama's API through its official client, on the scripted engine, a local embedding model and an upstream. */

import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { Ollama } from "ollama";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

const caller = `
  - id: caller
    task: chat
    price: { prompt: "0.001", completion: "0.01" }
    deployments:
      - engine: scripted
        abilities: { tools: true, reasoning: true, vision: true, json_schema: true, infill: true, logprobs: true }
        replies:
          - { match: weather, match_tool: sunny, text: It is sunny. }
          - match: weather
            text: Let me look.
            tool_calls: [{ name: weather, arguments: { city: Łódź, days: 2 } }]
          - { match: ponder, reasoning: I have to think., text: Done. }
          - { match: Jane, text: '{"name": "Jane"}' }
          - { match: count, text: one two three four }
          - { match: breaks, text: one two three, fail_after_tokens: 2, fail_with: { kind: upstream-failed, message: Down. } }
          - { match: slow, text: "${"word ".repeat(200)}", delay_ms_per_token: 50 }
        echo: true
`;

let upstream: ServiceProcess;
let service: ServiceProcess;
let closed: ServiceProcess;
beforeAll(async () => {
  const minilm = "  - { id: minilm, task: embedding, deployments: [{ engine: sentence-embeddings }] }\n";
  upstream = await startServiceProcess({ config: `builtin_models: false\nmodels:${caller}${minilm}` });
  const config = (ollama: string) => `
builtin_models: false
ollama: ${ollama}
limits: { key: { requests_per_minute: 100000 } }
models:${caller}
  - id: far
    task: chat
    price: { prompt: "0.001", completion: "0.01" }
    deployments: [${deploymentAt(upstream, "caller")}]
${minilm}  - id: far-minilm
    task: embedding
    deployments: [${deploymentAt(upstream, "minilm")}]
  - { id: voice, task: speech, deployments: [{ engine: flite }] }
`;
  service = await startServiceProcess({
    config: config('{ enabled: true, anonymous_project: "Default project", anonymous_hosts: [ai.example.com] }'),
  });
  closed = await startServiceProcess({ config: config("{ enabled: true }") });
});
afterAll(async () => {
  await service?.stop();
  await closed?.stop();
  await upstream?.stop();
});

const client = (headers?: Record<string, string>) => new Ollama({ host: service.origin, ...(headers && { headers }) });
const say = (content: string) => [{ role: "user", content }];
const lastRequest = () => service.log().findLast(({ msg }) => msg === "request");
const bare = (path: string, init?: RequestInit) => fetch(`${service.origin}${path}`, init);

describe.each(["caller", "far"])("the model %s", (model) => {
  test("answers a chat with counts and durations in nanoseconds", async () => {
    const answer = await client().chat({ model, messages: say("Please count") });
    expect(answer).toMatchObject({
      model,
      message: { role: "assistant", content: "one two three four" },
      done: true,
      done_reason: "stop",
      eval_count: 4,
      load_duration: 0,
    });
    expect(answer.prompt_eval_count).toBeGreaterThan(1);
    expect(answer.total_duration).toBeGreaterThan(100_000);
    expect(answer.total_duration).toBeGreaterThanOrEqual(answer.eval_duration);
    expect(new Date(answer.created_at).getTime()).toBeGreaterThan(Date.now() - 60_000);
  });

  test("streams a chat", async () => {
    const parts = [];
    for await (const part of await client().chat({ model, messages: say("Please count"), stream: true })) {
      parts.push(part);
    }
    expect(parts.map(({ message }) => message.content).join("")).toBe("one two three four");
    expect(parts.slice(0, -1).every(({ done }) => !done)).toBe(true);
    expect(parts.at(-1)).toMatchObject({ done: true, done_reason: "stop", eval_count: 4 });
  });

  test("streams lines of JSON unless `stream` is false", async () => {
    const response = await bare("/api/chat", {
      method: "POST",
      body: JSON.stringify({ model, messages: say("Please count") }),
    });
    expect(response.headers.get("content-type")).toBe("application/x-ndjson");
    const lines = (await response.text()).trim().split("\n");
    expect(lines.length).toBeGreaterThan(4);
    expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ done: true });
  });

  test.each([false, true])("calls tools and reads their results, streamed: %s", async (stream) => {
    const tool = {
      type: "function",
      function: { name: "weather", description: "The weather", parameters: { type: "object", properties: {} } },
    };
    const messages: import("ollama").Message[] = say("How is the weather?");
    const ask = async () => {
      if (!stream) return (await client().chat({ model, messages, tools: [tool] })).message;
      const whole: import("ollama").Message = { role: "assistant", content: "" };
      for await (const { message } of await client().chat({ model, messages, tools: [tool], stream: true })) {
        whole.content += message.content;
        if (message.tool_calls !== undefined) whole.tool_calls = message.tool_calls;
      }
      return whole;
    };
    const asked = await ask();
    expect(asked.tool_calls).toEqual([{ function: { name: "weather", arguments: { city: "Łódź", days: 2 } } }]);
    messages.push(asked, { role: "tool", tool_name: "weather", content: "sunny" });
    expect((await ask()).content).toBe("It is sunny.");
  });

  test("shows the thinking, and none when it is turned off", async () => {
    const answer = await client().chat({ model, messages: say("ponder"), think: true });
    expect(answer.message).toMatchObject({ thinking: "I have to think.", content: "Done." });
    const silent = await client().chat({ model, messages: say("ponder"), think: false });
    expect(silent.message).toEqual({ role: "assistant", content: "Done." });
  });

  test("passes the options on", async () => {
    const ask = (options: object) => client().generate({ model, prompt: "Please count", options });
    expect(await ask({ num_predict: 2 })).toMatchObject({ response: "one two", done_reason: "length", eval_count: 2 });
    expect(await ask({ stop: [" three"] })).toMatchObject({ response: "one two", done_reason: "stop" });
    expect(await ask({ temperature: 0, top_k: 40, top_p: 0.9, min_p: 0.1, seed: 7, num_ctx: 4096 })).toMatchObject({
      response: "one two three four",
    });
  });

  test("takes a schema as the format", async () => {
    const schema = { type: "object", properties: { name: { type: "string" } } };
    const { message } = await client().chat({ model, messages: say("Who? Jane"), format: schema });
    expect(JSON.parse(message.content)).toEqual({ name: "Jane" });
    expect((await client().generate({ model, prompt: "Jane", format: "json" })).response).toBe('{"name": "Jane"}');
  });

  test("takes images as base64", async () => {
    const images = ["iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="];
    const { message } = await client().chat({ model, messages: [{ role: "user", content: "What is it?", images }] });
    expect(message.content).toBe("What is it?");
  });

  test("generates with a system prompt, raw, and between a prompt and a suffix", async () => {
    expect((await client().generate({ model, prompt: "Hi there", system: "Be brief." })).response).toBe("Hi there");
    const raw = await client().generate({ model, prompt: "Please count", raw: true });
    expect(raw).toMatchObject({ response: "one two three four", prompt_eval_count: 2 });
    const filled = await client().generate({ model, prompt: "a b", suffix: "c d" });
    expect(filled).toMatchObject({ response: "a b", prompt_eval_count: 3 });
    let text = "";
    for await (const part of await client().generate({ model, prompt: "Please count", stream: true })) {
      text += part.response;
    }
    expect(text).toBe("one two three four");
  });

  test("ends the request when the client disconnects", async () => {
    const streaming = client();
    const answer = await streaming.chat({ model, messages: say("slow"), stream: true });
    await expect(
      (async () => {
        for await (const _ of answer) streaming.abort();
      })(),
    ).rejects.toThrow(/abort/i);
    await eventually(() => expect(lastRequest()).toMatchObject({ path: "/api/chat", outcome: "client-left" }));
  });

  test("reports a failure within a stream as a line", async () => {
    const answer = await client().chat({ model, messages: say("this breaks"), stream: true });
    await expect(Array.fromAsync(answer)).rejects.toThrow(/Down|upstream/);
  });

  test("accepts a name with the tag latest and records the usage", async () => {
    const { model: answered } = await client().chat({ model: `${model}:latest`, messages: say("Please count") });
    expect(answered).toBe(`${model}:latest`);
    await eventually(() =>
      expect(lastRequest()).toMatchObject({ path: "/api/chat", answeredBy: model, completionTokens: 4 }),
    );
  });
});

test("loads a model with a request without messages", async () => {
  expect(await client().chat({ model: "caller" })).toMatchObject({ done: true, done_reason: "load" });
  expect(await client().generate({ model: "caller", prompt: "", keep_alive: 0 })).toMatchObject({
    done_reason: "unload",
    response: "",
  });
});

test("lists chat and embedding models, and describes one", async () => {
  const { models } = await client().list();
  expect(models.map(({ name }) => name)).toEqual(["caller", "far", "minilm", "far-minilm"]);
  expect(models[0]).toMatchObject({ model: "caller", digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const shown = await client().show({ model: "caller:latest" });
  expect(shown.capabilities).toEqual(["completion", "tools", "vision", "thinking", "insert"]);
  expect(shown.model_info).toMatchObject({ "parlance.context_length": 4096 });
  expect((await client().show({ model: "minilm" })).capabilities).toEqual(["embedding"]);
  expect((await client().ps()).models.map(({ name }) => name)).toContain("caller");
  expect((await client().version()).version).toMatch(/^\d+\.\d+\.\d+$/);
});

describe.each(["caller", "far"])("the log probabilities of %s", (model) => {
  const messages = [{ role: "user", content: "count" }];

  test("are in complete answers", async () => {
    const { logprobs } = await client().chat({ model, messages, logprobs: true, top_logprobs: 2 });
    expect(logprobs?.map(({ token }) => token).join("")).toBe("one two three four");
    expect(logprobs?.[0]).toMatchObject({ logprob: expect.any(Number), top_logprobs: [{ token: "one" }, {}] });
    const generated = await client().generate({ model, prompt: "count", logprobs: true });
    expect(generated.logprobs).toHaveLength(logprobs?.length ?? 0);
    expect(await client().chat({ model, messages })).not.toHaveProperty("logprobs");
  });

  test("are in each part of a stream", async () => {
    const parts = await Array.fromAsync(await client().chat({ model, messages, logprobs: true, stream: true }));
    for (const { message, logprobs, done } of parts) {
      if (!done) expect(logprobs?.map(({ token }) => token).join("")).toBe(message.content);
    }
  });
});

test("embeds a text beyond the window where it may be truncated, as by default", async () => {
  const input = "word ".repeat(400);
  for (const fields of [{ truncate: true }, {}]) {
    const { embeddings } = await client().embed({ model: "minilm", input, ...fields });
    expect(Math.hypot(...(embeddings[0] ?? []))).toBeCloseTo(1, 5);
  }
  await expect(client().embed({ model: "minilm", input, truncate: false })).rejects.toThrow(/402 tokens.* 256/);
});

test.each(["minilm", "far-minilm"])("embeds texts with %s like the embeddings API", async (model) => {
  const { data } = await service.client().embeddings.create({ model, input: ["A cat.", "A dog."] });
  const { embeddings, prompt_eval_count } = await client().embed({ model, input: ["A cat.", "A dog."] });
  expect(embeddings).toEqual(data.map(({ embedding }) => embedding));
  expect(prompt_eval_count).toBe(10);
  const { embedding } = await client().embeddings({ model, prompt: "A cat." });
  expect(embedding).toEqual(embeddings[0]);
});

describe("keys", () => {
  test("counts requests without a key for the anonymous project", async () => {
    await client().chat({ model: "caller", messages: say("a") });
    await eventually(() => expect(lastRequest()).toMatchObject({ path: "/api/chat", keyId: expect.any(String) }));
    const anonymous = lastRequest();
    await client({ authorization: `Bearer ${service.apiKey}` }).chat({ model: "caller", messages: say("a") });
    await eventually(() => expect(lastRequest()?.keyId).not.toBe(anonymous?.keyId));
    expect(lastRequest()?.projectId).toBe(anonymous?.projectId);
  });

  test("refuses a wrong key, and no key outside of /api", async () => {
    const wrong = client({ authorization: "Bearer sk-wrong" });
    await expect(wrong.list()).rejects.toMatchObject({
      status_code: 401,
      error: expect.stringContaining("Incorrect API key"),
    });
    expect((await bare("/v1/models")).status).toBe(401);
    const guess = { headers: { authorization: "Bearer anonymous proj_x" } };
    expect((await bare("/v1/models", guess)).status).toBe(401);
  });

  test("requires a key without an anonymous project", async () => {
    await expect(new Ollama({ host: closed.origin }).list()).rejects.toMatchObject({ status_code: 401 });
    const headers = { authorization: `Bearer ${closed.apiKey}` };
    const { models } = await new Ollama({ host: closed.origin, headers }).list();
    expect(models.map(({ name }) => name).sort()).toEqual(["caller", "far", "far-minilm", "minilm"]);
  });

  test("refuses web pages that send another type than JSON", async () => {
    const send = (headers: Record<string, string>) =>
      bare("/api/chat", { method: "POST", body: JSON.stringify({ model: "caller" }), headers });
    expect((await send({ origin: "https://elsewhere.example", "content-type": "text/plain" })).status).toBe(415);
    expect((await send({ "content-type": "application/x-www-form-urlencoded" })).status).toBe(200);
  });
});

describe("errors", () => {
  test.each([
    ["/api/chat", { messages: say("a") }, 400],
    ["/api/chat", { model: 7 }, 400],
    ["/api/chat", { model: "nothing", messages: say("a") }, 404],
    ["/api/chat", { model: "voice", messages: say("a") }, 400],
    ["/api/chat", { model: "caller", messages: [{ role: "tool", content: "a" }] }, 400],
    ["/api/chat", { model: "caller", messages: say("a"), options: { temperature: "hot" } }, 400],
    ["/api/chat", { model: "caller", messages: say("a"), format: "xml" }, 400],
    ["/api/generate", { model: "caller", prompt: 7 }, 400],
    ["/api/embed", { model: "caller", input: "a" }, 400],
    ["/api/embed", { model: "minilm", input: [] }, 400],
    ["/api/show", {}, 400],
    ["/api/show", { model: "nothing" }, 404],
    ["/api/pull", { model: "nothing" }, 404],
  ])("POST %s %j is a %i", async (path, body, status) => {
    const response = await bare(path, { method: "POST", body: JSON.stringify(body) });
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({ error: expect.any(String) });
  });

  test("names options without effect", async () => {
    const body = JSON.stringify({ model: "caller", messages: say("a"), options: { num_ctx: 9, mirostat: 2 } });
    const response = await bare("/api/chat", { method: "POST", body });
    expect(response.headers.get("x-parlance-ignored-fields")).toBe("options.num_ctx, options.mirostat");
  });
});

describe("the root", () => {
  test.each(["GET", "HEAD"])("answers %s of clients as Ollama does", async (method) => {
    const response = await bare("/", { method });
    expect(response.status).toBe(200);
    if (method === "GET") expect(await response.text()).toBe("Ollama is running");
  });

  test("serves browsers the console, and nobody Ollama's answer while its API is off", async () => {
    const headers = { accept: "text/html,application/xhtml+xml" };
    expect(await (await bare("/", { headers })).text()).toContain("<html");
    expect(await (await fetch(upstream.origin)).text()).not.toContain("Ollama");
    expect((await fetch(`${upstream.origin}/api/tags`)).status).toBe(404);
  });
});

test("does not start with an anonymous project that does not exist", async () => {
  const config = "builtin_models: false\nollama: { enabled: true, anonymous_project: nothing }";
  const broken = await startServiceProcess({ config, until: "listening" });
  await eventually(() => expect(broken.process.exitCode).toBeGreaterThan(0));
  expect(broken.output()).toContain("ollama.anonymous_project");
  await broken.stop();
});

test.each([
  ["localhost:11434", 200],
  ["127.0.0.1", 200],
  ["[::1]:8080", 200],
  ["parlance:11434", 200],
  ["host.docker.internal", 200],
  ["ai.example.com:443", 200],
  ["evil.example", 403],
  ["127.0.0.1.evil.example:8080", 403],
  ["localhost.evil.example", 403],
])("answers requests without a key to the host %s with %d", async (host, status) => {
  expect(await statusFor(host, {})).toBe(status);
  expect(await statusFor(host, { authorization: `Bearer ${service.apiKey}` })).toBe(200);
});

/** fetch() sends the Host header of the URL only. */
async function statusFor(host: string, headers: Record<string, string>): Promise<number | undefined> {
  const { hostname, port } = new URL(service.origin);
  const request = get({ hostname, port, path: "/api/tags", headers: { host, ...headers } });
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

test("takes null for what a message does not have", async () => {
  const call = { id: null, function: { name: "weather", arguments: null } };
  const empty = { images: null, tool_calls: null, tool_name: null, tool_call_id: null };
  const messages = [
    { role: "user", content: "Please count", ...empty },
    { role: "assistant", content: null, images: null, tool_calls: [call] },
    { role: "tool", content: "Sunny", ...empty, tool_name: "weather" },
    { role: "user", content: "Please count", ...empty },
  ];
  const answer = await bare("/api/chat", {
    method: "POST",
    body: JSON.stringify({ model: "caller", messages, stream: false }),
  });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ message: { content: "one two three four" } });
});
