/** Limits of requests, tokens and audio: enforcement and administration. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import OpenAI from "openai";
import { afterEach, expect, test } from "vitest";
import { admission, slotsInUse } from "../support/service/limit-load.ts";
import { type InProcessService, type ServiceClient, startService } from "../support/service/service.ts";

const MODELS = `
builtin_models: false
models:
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, slots: 50, echo: true }]
  - id: sloth
    task: chat
    deployments: [{ engine: scripted, slots: 50, replies: [{ text: Hm., delay_ms_before_first: 600000 }] }]
  - id: wreck
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: Oh, fail_after_tokens: 0, fail_with: { kind: upstream-failed } }] }]
  - id: priced
    task: chat
    price: { completion: "0.1" }
    deployments: [{ engine: scripted, replies: [{ text: Polly }] }]
  - id: crier
    task: speech
    deployments: [{ engine: scripted, speech: {} }]
  - id: judge
    task: moderation
    deployments: [{ engine: guard, family: llama-guard-4, chat: { engine: scripted, replies: [{ text: safe }] } }]
  - id: listener
    task: transcription
    deployments: [{ engine: scripted, replies: [{ text: "Hello there." }] }]
`;

let service: InProcessService | undefined;
afterEach(() => service?.stop());

async function start(limits: string): Promise<ServiceClient> {
  service = await startService({ config: `${MODELS}limits: ${limits}\n` });
  return service;
}

function administrator({ baseUrl, adminKey }: ServiceClient) {
  return new OpenAI({ baseURL: baseUrl, apiKey: null, adminAPIKey: adminKey, maxRetries: 0 }).admin.organization;
}

const say = (running: ServiceClient, given: Record<string, unknown> = {}) =>
  running.post("/v1/chat/completions", {
    model: "parrot",
    messages: [{ role: "user", content: "Polly." }],
    max_completion_tokens: 10,
    ...given,
  });

test("refuses a background response over the limit at once", async () => {
  const running = await start("{ project_model: { requests_per_minute: 1 } }");
  const client = running.client({ maxRetries: 0 });
  const asked = { model: "parrot", input: "Polly.", background: true } as const;
  const { id } = await client.responses.create(asked);
  const refused = client.responses.create({ ...asked, previous_response_id: id });
  await expect(refused).rejects.toMatchObject({ status: 429, code: "rate_limit_exceeded" });
});

test("admits exactly the limit of concurrent requests, with the remaining count in the headers", async () => {
  const running = await start("{ project_model: { requests_per_minute: 10 } }");
  const answers = await Promise.all(Array.from({ length: 40 }, () => say(running)));
  const passed = answers.filter(({ status }) => status === 200);
  expect(passed).toHaveLength(10);
  const left = passed.map(({ headers }) => Number(headers.get("x-ratelimit-remaining-requests")));
  expect(left.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const refused = answers.find(({ status }) => status === 429);
  expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(refused?.headers.get("x-ratelimit-limit-requests")).toBe("10");
  expect(refused?.headers.get("x-ratelimit-remaining-requests")).toBe("0");
  expect(refused?.headers.get("x-ratelimit-reset-requests")).toMatch(/^\d/);
  expect(await refused?.json()).toMatchObject({
    error: {
      type: "requests",
      code: "rate_limit_exceeded",
      message: expect.stringMatching(
        /^Rate limit reached for parrot in project proj_\w+ in organization org_\w+ on requests per min \(RPM\): Limit 10, Used 10, Requested 1\. Please try again in /,
      ),
    },
  });
  // Another model has a separate limit.
  expect((await say(running, { model: "sloth", stream: true, messages: [] })).status).toBe(400);
});

test("reserves the maximum tokens and settles the actual count", async () => {
  const running = await start("{ key: { tokens_per_minute: 1000 } }");
  const first = await say(running, { max_completion_tokens: 700 });
  const { usage } = (await first.json()) as { usage: { total_tokens: number } };
  expect(Number(first.headers.get("x-ratelimit-remaining-tokens"))).toBeLessThan(300);
  const second = await say(running, { max_completion_tokens: 10 });
  const { usage: again } = (await second.json()) as { usage: { total_tokens: number } };
  const reserved = 1000 - usage.total_tokens - Number(second.headers.get("x-ratelimit-remaining-tokens"));
  expect(reserved).toBeGreaterThanOrEqual(again.total_tokens);
  expect(reserved).toBeLessThan(200);
  const tooLarge = await say(running, { max_completion_tokens: 1001 });
  expect(tooLarge.status).toBe(429);
  expect(await tooLarge.json()).toMatchObject({ error: { type: "tokens", code: "rate_limit_exceeded" } });
  // Waiting does not help.
  expect(tooLarge.headers.get("x-should-retry")).toBe("false");
  expect(tooLarge.headers.get("retry-after")).toBeNull();
});

test.each(["requests_per_minute", "requests_per_day", "tokens_per_minute", "concurrent_requests"])(
  "rejects every request with a %s of 0, also one without a maximum",
  async (name) => {
    const running = await start(`{ project_model: { ${name}: 0 } }`);
    for (const bound of [undefined, 10]) {
      const refused = await say(running, { max_completion_tokens: bound });
      expect(refused.status).toBe(429);
      expect(refused.headers.get("x-should-retry")).toBe("false");
      expect(await refused.json()).toMatchObject({
        error: { message: expect.stringMatching(/Limit 0, Requested \d+\.$/) },
      });
    }
  },
);

test("never admits more tokens in total than the limit", async () => {
  const running = await start("{ organization: { tokens_per_minute: 2000 } }");
  const words = Array.from({ length: 80 }, (_, index) => `word${index}`).join(" ");
  const messages = [{ role: "user", content: words }];
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => say(running, { messages, max_completion_tokens: 100 })),
  );
  let used = 0;
  for (const answer of answers) {
    if (answer.status === 200)
      used += ((await answer.json()) as { usage: { total_tokens: number } }).usage.total_tokens;
    else expect(answer.status).toBe(429);
  }
  expect(used).toBeGreaterThan(0);
  expect(used).toBeLessThanOrEqual(2000);
});

test("limits concurrent requests, and frees capacity when a client disconnects", async () => {
  const running = await start("{ project_model: { concurrent_requests: 1 } }");
  const leaving = new AbortController();
  const body = { model: "sloth", messages: [{ role: "user", content: "Hm." }] };
  const send = (signal: AbortSignal) => running.post("/v1/chat/completions", body, { signal });
  const slow = send(leaving.signal).catch(() => undefined);
  const other = () => admission(running, "sloth", send);
  await expect.poll(() => slotsInUse(running, "sloth")).toBe(1);
  expect(await other()).toBe(429);
  leaving.abort();
  await slow;
  await expect.poll(() => slotsInUse(running, "sloth")).toBe(0);
  await expect.poll(other).toBe("admitted");
});

test("limits moderations by requests and tokens", async () => {
  const running = await start(
    "{ project_model: { requests_per_minute: 3 }, organization: { tokens_per_minute: 100 } }",
  );
  const judge = (input: string) => running.post("/v1/moderations", { model: "judge", input });
  const judged = await judge("Hello.");
  expect(judged.status).toBe(200);
  expect(judged.headers.get("x-ratelimit-remaining-requests")).toBe("2");
  const remaining = Number(judged.headers.get("x-ratelimit-remaining-tokens"));
  expect(remaining).toBeLessThan(100);
  expect((await judge("a".repeat(300))).status).toBe(200);
  const refused = await judge("a".repeat(300));
  expect(refused.status).toBe(429);
  expect(await refused.json()).toMatchObject({ error: { type: "tokens", code: "rate_limit_exceeded" } });
  expect((await judge("Hello.")).status).toBe(200);
  expect(await (await judge("Hello.")).json()).toMatchObject({ error: { type: "requests" } });
  const metrics = await (await running.fetch("/metrics")).text();
  expect(metrics).toContain('parlance_refusals_total{model="judge",limit="tokens"} 1');
  expect(metrics).toContain('parlance_refusals_total{model="judge",limit="requests"} 1');
});

test("limits speech, transcription and the model list", async () => {
  const running = await start(
    "{ project_model: { requests_per_minute: 1, audio_megabytes_per_minute: 1 }, key: { requests_per_minute: 4 } }",
  );
  const speak = () =>
    running.post("/v1/audio/speech", { model: "crier", input: "Hear!", voice: "alloy", response_format: "pcm" });
  const spoken = await speak();
  expect(spoken.status).toBe(200);
  expect(spoken.headers.get("x-ratelimit-limit-requests")).toBe("1");
  expect((await speak()).status).toBe(429);
  const transcribe = (bytes: Uint8Array<ArrayBuffer>) => {
    const body = new FormData();
    body.set("model", "listener");
    body.set("file", new File([bytes], "speech.mp3"));
    return running.fetch("/v1/audio/transcriptions", { method: "POST", body });
  };
  const tooLarge = await transcribe(new Uint8Array(1_000_001));
  expect(await tooLarge.json()).toMatchObject({ error: { message: expect.stringContaining("audio bytes per min") } });
  const transcribed = await transcribe(
    new Uint8Array(readFileSync(join(import.meta.dirname, "../recordings", "speech.mp3"))),
  );
  expect(transcribed.status).toBe(200);
  expect(transcribed.headers.get("x-ratelimit-remaining-requests")).toBe("0");
  expect((await running.fetch("/v1/models")).headers.get("x-ratelimit-remaining-requests")).toBe("1");
});

test("sends rate limit headers with error responses", async () => {
  const running = await start("{ key: { requests_per_minute: 10, tokens_per_minute: 5000 } }");
  const failed = await say(running, { model: "wreck" });
  expect(failed.status).toBe(502);
  expect(failed.headers.get("x-ratelimit-limit-requests")).toBe("10");
  expect(failed.headers.get("x-ratelimit-remaining-requests")).toBe("9");
  expect(failed.headers.get("x-ratelimit-limit-tokens")).toBe("5000");
});

test("consumes no other limit when a spend limit rejects a request", async () => {
  const running = await start("{ organization: { requests_per_day: 3 } }");
  const limit = { currency: "USD", interval: "month", threshold_amount: 100 } as const;
  await administrator(running).spendLimit.update(limit);
  const dear = await Promise.all(
    Array.from({ length: 5 }, () => say(running, { model: "priced", max_completion_tokens: 11 })),
  );
  for (const answer of dear) expect(await answer.json()).toMatchObject({ error: { code: "insufficient_quota" } });
  const cheap = await say(running, { model: "priced", max_completion_tokens: 1 });
  expect([cheap.status, cheap.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "2"]);
  await say(running);
  await say(running);
  // A request beyond the limit is not charged.
  for (let request = 0; request < 11; request += 1) {
    const late = await say(running, { model: "priced", max_completion_tokens: 1 });
    expect(await late.json()).toMatchObject({ error: { code: "rate_limit_exceeded" } });
  }
});

test("counts nothing and sends no headers without limits", async () => {
  const running = await start("{}");
  const answer = await say(running);
  expect(answer.status).toBe(200);
  expect([...answer.headers.keys()].filter((name) => name.startsWith("x-ratelimit"))).toEqual([]);
});

test("lists a rate limit per model and applies a change from the next request", async () => {
  const running = await start("{ project_model: { requests_per_minute: 100 } }");
  const admin = administrator(running);
  const [project] = (await admin.projects.list()).data;
  const id = project?.id ?? "";
  const rows = await Array.fromAsync(admin.projects.rateLimits.listRateLimits(id, { limit: 2 }));
  expect(rows.map(({ model }) => model)).toEqual(["parrot", "sloth", "wreck", "priced", "crier", "judge", "listener"]);
  expect(rows[0]).toMatchObject({
    object: "project.rate_limit",
    max_requests_per_1_minute: 100,
    max_tokens_per_1_minute: 1_000_000_000,
  });
  expect((await say(running)).headers.get("x-ratelimit-limit-requests")).toBe("100");
  const limit = rows[0]?.id ?? "";
  const changed = await admin.projects.rateLimits.updateRateLimit(limit, {
    project_id: id,
    max_requests_per_1_minute: 2,
  });
  expect(changed).toMatchObject({ id: limit, model: "parrot", max_requests_per_1_minute: 2 });
  expect((await say(running)).status).toBe(200);
  expect((await say(running)).status).toBe(429);
  await admin.projects.rateLimits.updateRateLimit(limit, { project_id: id, max_requests_per_1_minute: 1_000_000_000 });
  expect((await say(running)).status).toBe(200);
  for (const wrong of [-1, 1.5, 1_000_000_001, 1e300]) {
    const change = { project_id: id, max_requests_per_1_minute: wrong };
    await expect(admin.projects.rateLimits.updateRateLimit(limit, change)).rejects.toMatchObject({
      status: 400,
      param: "max_requests_per_1_minute",
    });
  }
  await admin.projects.rateLimits.updateRateLimit(limit, { project_id: id, max_requests_per_1_minute: 0 });
  expect((await say(running)).status).toBe(429);
  const absent = admin.projects.rateLimits.updateRateLimit("rl_0", { project_id: id, max_tokens_per_1_minute: 1 });
  await expect(absent).rejects.toMatchObject({ status: 404 });
});
