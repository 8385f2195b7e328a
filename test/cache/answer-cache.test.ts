/** Cached answers over HTTP: what is repeated, for whom, and what is told, counted and billed. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type InProcessService, startService } from "../support/service/service.ts";
import { type CountingUpstream, startCountingUpstream } from "../support/upstreams/counting-upstream.ts";

let upstream: CountingUpstream;
let service: InProcessService;
let unique = 0;

beforeAll(async () => {
  upstream = await startCountingUpstream();
  const deployment = `engine: openai-compatible, base_url: "${upstream.baseUrl}"`;
  const at = (more = "") => `deployments: [{ ${deployment}${more} }]`;
  const price = `price: { prompt: "0.001", completion: "0.01" }`;
  const voice = `engine: scripted, speech: { voices: [low, high] }`;
  // The upstream's answers are no verdicts.
  const guard = `guard: { engine: guard, family: llama-guard-3, chat: { ${deployment}, model: guard } }`;
  const replies = `[{ match: sure, text: "Safety: Safe" }, { text: "Safety: Controversial\\nCategories: Violent" }]`;
  const unsure = `{ engine: guard, family: qwen3guard-gen, chat: { engine: scripted, replies: ${replies} } }`;
  const stages = `classifier: ${unsure}, ${guard}`;
  service = await startService({
    config: `
builtin_models: false
ollama: { enabled: true }
limits: { project_model: { requests_per_minute: 1000 } }
models:
  - { id: cached, task: chat, aliases: [also-cached], ${price}, cache: {}, ${at()} }
  - { id: plain, task: chat, ${price}, ${at()} }
  - { id: sampled, task: chat, cache: { sampled: true, tools: true }, ${at()} }
  - { id: asked, task: chat, cache: { use: on_request }, ${at()} }
  - { id: brief, task: chat, cache: { ttl_seconds: 1 }, ${at()} }
  - { id: headers, task: chat, cache: {}, ${at(', forward_headers: ["x-team", "x-internal-*"]')} }
  - { id: native, task: chat, cache: {}, ${at(", abilities: { responses: true, messages: true }")} }
  - { id: shared, task: chat, cache: { shared_within: organization }, ${at()} }
  - { id: counted, task: chat, ${price}, cache: {}, ${at()} }
  - { id: limited, task: chat, cache: {}, ${at()} }
  - { id: local, task: chat, cache: {}, deployments: [{ engine: scripted, echo: true }] }
  - { id: guarded, task: chat, guardrails: [{ type: pii, entities: [EMAIL_ADDRESS] }], cache: {}, deployments: [{ engine: scripted, echo: true }] }
  - { id: backup, task: chat, ${at()} }
  - { id: broken, task: chat, fallbacks: [backup], cache: {}, retries: 0, deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:1/v1" }] }
  - { id: vectors, task: embedding, price: { prompt: "0.001" }, cache: {}, ${at(", abilities: { rerank: true }")} }
  - { id: judge, task: moderation, cache: {}, ${at()} }
  - { id: cascade, task: moderation, cache: {}, deployments: [{ engine: cascade, on_guard_failure: classifier, ${stages} }] }
  - { id: voice, task: speech, cache: {}, deployments: [{ ${voice} }] }
`,
  });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.close();
});
beforeEach(() => {
  upstream.status = 200;
  upstream.release();
  unique += 1;
});

type Headers = Record<string, string>;

async function post(path: string, body: object, headers: Headers = {}, key = service.apiKey) {
  const response = await service.inject({
    method: "POST",
    url: path,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    payload: JSON.stringify(body),
  });
  return response;
}

const user = (content: string) => [{ role: "user", content }];
/** A question that no other test asks. */
const question = (more: object = {}) => ({
  model: "cached",
  messages: user(`Question ${unique}`),
  temperature: 0,
  ...more,
});

async function ask(body: object, headers: Headers = {}, key = service.apiKey) {
  const response = await post("/v1/chat/completions", body, headers, key);
  const { cache, age } = { cache: response.headers["x-parlance-cache"], age: response.headers.age };
  return { status: response.statusCode, text: textOf(response.body), cache, age, headers: response.headers };
}

/** Text of a chat completion, streamed or not. */
function textOf(body: string): string {
  if (!body.startsWith("data:")) return JSON.parse(body).choices?.[0].message.content ?? JSON.parse(body).error.code;
  const chunks = body.split("\n\n").filter((frame) => frame.startsWith("data: {"));
  return chunks.map((frame) => JSON.parse(frame.slice(6)).choices[0]?.delta.content ?? "").join("");
}

async function admin(method: "GET" | "POST" | "DELETE", path: string, body?: object) {
  const headers = { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" };
  const payload = body && JSON.stringify(body);
  const response = await service.inject({
    method,
    url: `/v1/organization${path}`,
    headers,
    ...(payload && { payload }),
  });
  return response.json();
}

/** A key of another project. */
async function otherProject(): Promise<{ key: string; id: string }> {
  const project = await admin("POST", "/projects", { name: `Other ${unique}` });
  const account = await admin("POST", `/projects/${project.id}/service_accounts`, { name: "app" });
  return { key: account.api_key.value, id: project.id };
}

describe("a chat", () => {
  test("is answered again without the upstream, and says so", async () => {
    const first = await ask(question());
    const again = await ask(question());
    expect([first.cache, first.age]).toEqual(["miss", undefined]);
    expect([again.cache, again.age]).toEqual(["hit", expect.stringMatching(/^\d+$/)]);
    expect(again.text).toBe(first.text);
    expect(again.headers["x-parlance-deployment"]).toBe("cached");
    expect(again.headers["x-parlance-cache-key"]).toBe(first.headers["x-parlance-cache-key"]);
  });

  test("has the same bytes, streamed and not", async () => {
    for (const stream of [false, true]) {
      const body = question({ stream, ...(stream && { stream_options: { include_usage: true } }) });
      const first = await post("/v1/chat/completions", body);
      const again = await post("/v1/chat/completions", body);
      expect(again.headers["x-parlance-cache"]).toBe("hit");
      expect(again.body).toBe(first.body);
      expect(first.body).toContain('"completion_tokens":3');
    }
  });

  test("of an upstream is cached apart as a stream, whose bytes differ", async () => {
    await ask(question());
    expect((await ask(question({ stream: true }))).cache).toBe("miss");
  });

  test("of a local model is answered as a stream from a complete answer", async () => {
    const body = question({ model: "local" });
    const complete = await ask(body);
    const streamed = await ask({ ...body, stream: true });
    expect([complete.cache, streamed.cache]).toEqual(["miss", "hit"]);
    expect(streamed.text).toBe(complete.text);
  });

  test("of a local model has an ID of its own each time", async () => {
    const body = question({ model: "local" });
    const ids = [await post("/v1/chat/completions", body), await post("/v1/chat/completions", body)].map(
      (response) => response.json().id,
    );
    expect(new Set(ids).size).toBe(2);
  });

  test("by an alias is the same as by the ID", async () => {
    await ask(question());
    expect((await ask(question({ model: "also-cached" }))).cache).toBe("hit");
  });

  test("without a cache has no headers of one", async () => {
    const { headers } = await ask(question({ model: "plain" }));
    expect(Object.keys(headers).filter((name) => name.includes("cache"))).toEqual([]);
  });

  test("with a temperature above 0 or tools is cached only on request", async () => {
    const tool = { type: "function", function: { name: "f", parameters: { type: "object" } } };
    for (const [body, reason] of [
      [question({ temperature: 0.5 }), "sampled"],
      [question({ temperature: undefined }), "sampled"],
      [question({ tools: [tool] }), "tools"],
    ] as const) {
      await ask(body);
      const again = await ask(body);
      expect([again.cache, again.headers["x-parlance-cache-reason"]]).toEqual(["bypass", reason]);
      await ask(body, { "x-parlance-cache": "on" });
      expect((await ask(body, { "x-parlance-cache": "on" })).cache).toBe("hit");
      const everything = { ...body, model: "sampled" };
      await ask(everything);
      expect((await ask(everything)).cache).toBe("hit");
    }
  });

  test("that refers to content elsewhere, or is to be stored there, is not cached", async () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    const elsewhere = { type: "input_audio", input_audio: { file_id: "file-1" } };
    const ask2 = async (body: object) => {
      await ask(body);
      return (await ask(body)).headers["x-parlance-cache-reason"];
    };
    expect(await ask2(question({ store: true }))).toBe("stored");
    expect(await ask2(question({ seed: 2 ** 53 + 2 }))).toBe("number");
    expect(await ask2(question({ messages: [{ role: "user", content: [image] }] }))).toBeUndefined();
    expect(await ask2(question({ metadata: { file_id: "file-1" }, messages: user(JSON.stringify(elsewhere)) }))).toBe(
      "references",
    );
  });
});

describe("other projects", () => {
  test("never get an answer", async () => {
    const { key } = await otherProject();
    const own = await ask(question());
    const foreign = await ask(question(), {}, key);
    expect(foreign.cache).toBe("miss");
    expect(foreign.text).not.toBe(own.text);
  });

  test("of the organization get answers that the model's settings share within it", async () => {
    const { key } = await otherProject();
    const first = await ask(question({ model: "shared" }));
    const second = await ask(question({ model: "shared" }), {}, key);
    expect([second.cache, second.text]).toEqual(["hit", first.text]);
  });

  test("lose their answers by project, by key and by model, when an administrator removes them", async () => {
    const { key, id } = await otherProject();
    await ask(question(), {}, key);
    await ask(question());
    expect(await admin("DELETE", `/cache?project_id=${id}`)).toEqual({
      object: "organization.cache.purged",
      purged: 1,
    });
    expect((await ask(question(), {}, key)).cache).toBe("miss");
    const hit = await ask(question());
    expect(hit.cache).toBe("hit");
    await admin("DELETE", `/cache?key=${hit.headers["x-parlance-cache-key"]}`);
    expect((await ask(question())).cache).toBe("miss");
    expect((await admin("DELETE", "/cache?model=cached")).purged).toBeGreaterThan(0);
    expect((await ask(question())).cache).toBe("miss");
    expect((await admin("GET", "/cache")).answers).toBeGreaterThan(0);
    const log = await admin("GET", "/audit_logs?limit=10");
    expect(log.data.map(({ type }: { type: string }) => type)).toContain("cache.purged");
  });
});

describe("headers of the request", () => {
  test("no-cache runs again and replaces the answer", async () => {
    await ask(question());
    const fresh = await ask(question(), { "cache-control": "no-cache" });
    expect(fresh.cache).toBe("miss");
    const again = await ask(question());
    expect([again.cache, again.text]).toEqual(["hit", fresh.text]);
  });

  test("no-store stores nothing, and max-age=0 accepts no stored answer", async () => {
    await ask(question(), { "cache-control": "no-store" });
    expect((await ask(question())).cache).toBe("miss");
    expect((await ask(question(), { "cache-control": "max-age=60" })).cache).toBe("hit");
    expect((await ask(question(), { "cache-control": "max-age=0" })).cache).toBe("miss");
    expect((await ask(question(), { "cache-control": "max-age=soon" })).cache).toBe("miss");
  });

  test("only-if-cached gets an answer or a 504", async () => {
    const onlyIfCached = { "cache-control": "only-if-cached" };
    const without = await ask(question(), onlyIfCached);
    expect([without.status, without.text]).toEqual([504, "not_cached"]);
    await ask(question());
    expect((await ask(question(), onlyIfCached)).cache).toBe("hit");
  });

  test("x-parlance-cache is on, off or refused", async () => {
    await ask(question());
    expect((await ask(question(), { "x-parlance-cache": "off" })).cache).toBe("bypass");
    expect((await ask(question(), { "x-parlance-cache": "maybe" })).status).toBe(400);
    const asked = question({ model: "asked" });
    expect((await ask(asked)).cache).toBe("bypass");
    await ask(asked, { "x-parlance-cache": "on" });
    expect((await ask(asked, { "x-parlance-cache": "on" })).cache).toBe("hit");
  });

  test("that reach the upstream are part of the request", async () => {
    const body = question({ model: "headers" });
    await ask(body, { "x-team": "red" });
    expect((await ask(body, { "x-team": "blue" })).cache).toBe("miss");
    expect((await ask(body, { "x-team": "red", "user-agent": "other" })).cache).toBe("hit");
  });
});

describe("concurrent equal requests", () => {
  const received = () => upstream.received.length;
  const arrived = (count: number) => eventually(() => expect(received()).toBe(count));

  test("run once", async () => {
    const before = received();
    upstream.hold();
    const asking = Array.from({ length: 5 }, () => ask(question()));
    await arrived(before + 1);
    upstream.release();
    const answers = await Promise.all(asking);
    expect(received()).toBe(before + 1);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.map(({ cache }) => cache).sort()).toEqual(["hit", "hit", "hit", "hit", "miss"]);
  });

  test("are answered when the first client leaves", async () => {
    for (const stream of [false, true]) {
      const before = received();
      upstream.hold();
      const body = question({ stream });
      const leaving = new AbortController();
      const first = fetch(`${service.origin}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: leaving.signal,
      }).catch(() => undefined);
      await arrived(before + 1);
      const second = ask(body);
      // The second request has to find the first one.
      await ask(question({ messages: user(`Between ${unique} ${stream}`), model: "local" }));
      leaving.abort();
      await first;
      upstream.release();
      const answer = await second;
      expect([answer.status, answer.cache, received()]).toEqual([200, "hit", before + 1]);
    }
  });

  test("run themselves when the first one fails", async () => {
    const before = received();
    upstream.hold();
    upstream.status = 400;
    const asking = Array.from({ length: 3 }, () => ask(question()));
    await arrived(before + 1);
    upstream.release();
    const answers = await Promise.all(asking);
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400]);
    expect(received()).toBe(before + 3);
    upstream.status = 200;
    expect((await ask(question())).cache).toBe("miss");
  });

  test("stop the run when all clients leave", async () => {
    const before = { received: received(), abandoned: upstream.abandoned };
    upstream.hold();
    const leaving = new AbortController();
    const asking = [1, 2].map(() =>
      fetch(`${service.origin}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
        body: JSON.stringify(question()),
        signal: leaving.signal,
      }).catch(() => undefined),
    );
    await arrived(before.received + 1);
    leaving.abort();
    await Promise.all(asking);
    await eventually(() => expect(upstream.abandoned).toBeGreaterThan(before.abandoned));
  });
});

describe("other operations", () => {
  const pairs: Record<string, [path: string, body: () => object]> = {
    responses: ["/v1/responses", () => ({ model: "cached", input: `Question ${unique}`, temperature: 0 })],
    "native responses without state": [
      "/v1/responses",
      () => ({ model: "native", input: `Question ${unique}`, temperature: 0, store: false }),
    ],
    messages: [
      "/v1/messages",
      () => ({ model: "cached", max_tokens: 9, messages: user(`Question ${unique}`), temperature: 0 }),
    ],
    "native messages": [
      "/v1/messages",
      () => ({ model: "native", max_tokens: 9, messages: user(`Question ${unique}`), temperature: 0 }),
    ],
    completions: ["/v1/completions", () => ({ model: "cached", prompt: `Question ${unique}`, temperature: 0 })],
    generateContent: [
      "/v1beta/models/cached:generateContent",
      () => ({ contents: [{ parts: [{ text: `Question ${unique}` }] }], generationConfig: { temperature: 0 } }),
    ],
    "Ollama's chat": [
      "/api/chat",
      () => ({ model: "cached", messages: user(`Question ${unique}`), options: { temperature: 0 } }),
    ],
    embeddings: ["/v1/embeddings", () => ({ model: "vectors", input: [`Question ${unique}`, "b"] })],
    rerank: ["/v1/rerank", () => ({ model: "vectors", query: `Question ${unique}`, documents: ["a", "b"] })],
    moderations: ["/v1/moderations", () => ({ model: "judge", input: `Question ${unique}` })],
    speech: ["/v1/audio/speech", () => ({ model: "voice", input: `Question ${unique}`, voice: "low" })],
  };

  test.each(Object.entries(pairs))("answers %s again", async (_name, [path, body]) => {
    const first = await post(path, body());
    const before = upstream.received.length;
    const again = await post(path, body());
    expect([first.statusCode, first.headers["x-parlance-cache"]]).toEqual([200, "miss"]);
    expect([again.statusCode, again.headers["x-parlance-cache"]]).toEqual([200, "hit"]);
    expect(upstream.received.length).toBe(before);
    // The scores, not the fractions of a second of a date, which may be "10.380Z".
    const numbers = (text: string) => text.match(/answer \d+|(?<!\d)0\.\d+|1,0,0,1/g);
    expect(numbers(again.body)).toEqual(numbers(first.body));
  });

  test("repeats speech sample for sample, as events, too", async () => {
    const body = { model: "voice", input: `Hello ${unique}.`, voice: "low", response_format: "pcm" };
    const [first, again] = [await post("/v1/audio/speech", body), await post("/v1/audio/speech", body)];
    expect(again.rawPayload.equals(first.rawPayload)).toBe(true);
    const events = await post("/v1/audio/speech", { ...body, stream_format: "sse" });
    expect(events.headers["x-parlance-cache"]).toBe("hit");
    expect(events.body).toContain("speech.audio.done");
    expect((await post("/v1/audio/speech", { ...body, voice: "high" })).headers["x-parlance-cache"]).toBe("miss");
  });

  test("does not repeat a native response that this service stores", async () => {
    const body = { model: "native", input: `Question ${unique}`, temperature: 0 };
    const [first, again] = [await post("/v1/responses", body), await post("/v1/responses", body)];
    expect(again.headers["x-parlance-cache-reason"]).toBe("stored");
    expect(again.json().id).not.toBe(first.json().id);
  });

  test("shares typed answers between formats, whose bytes it renders", async () => {
    const chat = question({ model: "local", max_tokens: 9 });
    await ask(chat);
    const message = await post("/v1/messages", { ...chat, model: "local" });
    expect(message.headers["x-parlance-cache"]).toBe("hit");
    expect(message.json().content[0].text).toBe(`Question ${unique}`);
  });
});

describe("answers", () => {
  test("of a fallback are not stored as the model's", async () => {
    const first = await ask(question({ model: "broken" }));
    const again = await ask(question({ model: "broken" }));
    expect([first.status, again.cache]).toEqual([200, "miss"]);
    expect(again.text).not.toBe(first.text);
  });

  test("of a classifier alone are not stored as those of a cascade", async () => {
    const judge = (input: string) => post("/v1/moderations", { model: "cascade", input });
    const [first, again] = [await judge(`Kill ${unique}`), await judge(`Kill ${unique}`)];
    expect([first.statusCode, again.headers["x-parlance-cache"]]).toEqual([200, "miss"]);
    const [sure, repeated] = [await judge(`sure ${unique}`), await judge(`sure ${unique}`)];
    expect([sure.statusCode, repeated.headers["x-parlance-cache"]]).toEqual([200, "hit"]);
  });

  test("with a field that a local model does not support are refused as without the cache", async () => {
    await ask(question({ model: "local" }));
    expect((await ask(question({ model: "local", audio: { voice: "x" }, modalities: ["audio"] }))).status).toBe(400);
  });

  test("are moderated by the policy that applies now", async () => {
    await ask(question());
    const moderation = { model: "judge", policy: { output: { mode: "score" } } };
    const moderated = await post("/v1/chat/completions", question({ moderation }));
    expect(moderated.json().moderation).toBeDefined();
  });

  test("are shared by requests that guardrails make equal, each with its own personal data", async () => {
    const say = (email: string) => ask(question({ model: "guarded", messages: user(`Mail ${email} now, ${unique}.`) }));
    const first = await say("ada@example.com");
    const second = await say("bob@example.org");
    expect([first.cache, first.text]).toEqual(["miss", `Mail ada@example.com now, ${unique}.`]);
    expect([second.cache, second.text]).toEqual(["hit", `Mail bob@example.org now, ${unique}.`]);
  });

  test("pass the guardrails that apply now", async () => {
    const [{ id }] = (await admin("GET", "/projects")).data;
    const body = question({ model: "local", messages: user(`Falcon ${unique}`) });
    const set = (guardrails: object[]) => admin("POST", `/projects/${id}/guardrails`, { guardrails });
    await ask(body);
    expect((await ask(body)).cache).toBe("hit");
    await set([{ type: "words", words: ["Falcon"] }]);
    expect((await ask(body)).status).toBe(400);
    await set([]);
    expect((await ask(body)).cache).toBe("hit");
  });

  test("cost nothing, and the request history and the metrics count them", async () => {
    const start = Math.floor(Date.now() / 1000) - 60;
    const before = await admin("GET", `/usage/completions?start_time=${start}&models=counted`);
    await ask(question({ model: "counted" }));
    await ask(question({ model: "counted" }));
    const history = () =>
      service.inject({
        method: "GET",
        url: "/v1/organization/requests?models=counted&limit=2",
        headers: { authorization: `Bearer ${service.adminKey}` },
      });
    await eventually(async () => {
      const entries = (await history()).json().data;
      expect(entries.map((entry: { cache: string; cost_usd: number }) => [entry.cache, entry.cost_usd])).toEqual([
        ["hit", 0],
        ["miss", expect.anything()],
      ]);
    });
    const sum = (report: { data: { results: { input_tokens: number; num_model_requests: number }[] }[] }) =>
      report.data
        .flatMap(({ results }) => results)
        .reduce(
          (all, each) => ({ tokens: all.tokens + each.input_tokens, requests: all.requests + each.num_model_requests }),
          { tokens: 0, requests: 0 },
        );
    await eventually(async () => {
      const after = await admin("GET", `/usage/completions?start_time=${start}&models=counted`);
      const { tokens, requests } = sum(before);
      expect(sum(after)).toEqual({ tokens: tokens + 11, requests: requests + 2 });
    });
    const metrics = await service.inject({ method: "GET", url: "/metrics" });
    expect(metrics.body).toMatch(/parlance_cache_requests_total\{model="counted",result="hit"\} \d+/);
    expect(metrics.body).toMatch(/parlance_cache_bytes [1-9]/);
  });

  test("count against request limits, but not against those of tokens", async () => {
    const { key, id } = await otherProject();
    const limits = await admin("GET", `/projects/${id}/rate_limits?limit=100`);
    const limit = limits.data.find(({ model }: { model: string }) => model === "limited");
    const body = question({ model: "limited", max_tokens: 20 });
    await ask(body, {}, key);
    await admin("POST", `/projects/${id}/rate_limits/${limit.id}`, {
      max_requests_per_1_minute: 3,
      max_tokens_per_1_minute: 15,
    });
    expect((await ask(body, {}, key)).cache).toBe("hit");
    const other = await ask({ ...body, messages: user(`Another ${unique}`) }, {}, key);
    expect(other.status).toBe(429);
    await ask(body, {}, key);
    expect((await ask(body, {}, key)).status).toBe(429);
  });

  test("expire", async () => {
    const body = question({ model: "brief" });
    await ask(body);
    await eventually(async () => expect((await ask(body, { "cache-control": "only-if-cached" })).status).toBe(504));
  });
});
