/** Availability of a model with several deployments during their failures. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { type FaultyUpstream, startFaultyUpstream } from "../support/upstreams/faulty-upstream.ts";
import { metric } from "../support/upstreams/routed-faults.ts";

let upstream: FaultyUpstream;
let service: Service;

const TINY_CIRCUIT = "circuit: { failures: 3, cooldown_seconds: 0.5 }";

beforeAll(async () => {
  upstream = await startFaultyUpstream();
  const to = (url: string, more = "") => `{ engine: openai-compatible, base_url: "${url}"${more} }`;
  const good = to(upstream.baseUrlFor("none"));
  const failing = to(upstream.baseUrlFor("fails"));
  const slow = (more = "") =>
    `{ engine: scripted, slots: 1, replies: [{ text: Slowly., delay_ms_before_first: 400 }]${more} }`;
  service = await startService({
    config: `
builtin_models: false
server: { request_timeout_seconds: 3 }
models:
  - { id: tries, task: chat, fallbacks: [spare], deployments: [${failing}] }
  - { id: spare, task: chat, deployments: [${good}] }
  - { id: refusing, task: chat, fallbacks: [spare], deployments: [${to(upstream.baseUrlFor("refuses-request"))}] }
  - { id: mends, task: chat, ${TINY_CIRCUIT}, retries: 0, deployments: [${to(upstream.switchableUrl)}, ${good}] }
  - { id: limited, task: chat, retries: 0, deployments: [${to(upstream.baseUrlFor("rate-limited-for-7s"))}] }
  - { id: stormy, task: chat, circuit: { failures: 1000000, failure_rate: 1 }, deployments: [${failing}] }
  - { id: overflows, task: chat, deployments: [${slow(", max_queue: 0")}, ${good}] }
  - { id: comes-home, task: chat, deployments: [${to(upstream.baseUrlFor("rate-limited"))}, ${slow()}] }
  - { id: hangs, task: chat, deployments: [${to(upstream.baseUrlFor("never-answers"))}, ${good}] }
  - id: vendor/*
    task: chat
    deployments: [${to(upstream.baseUrlFor("none"), ", forward_headers: [traceparent, x-*], strip_headers: [x-secret]")}]
  - { id: mapped/*, task: chat, deployments: [${to(upstream.baseUrlFor("none"), ', model: "org/*-it"')}] }
  - { id: spread, task: chat, strategy: weighted, deployments: [${good}, ${good}, ${good}] }
  - id: sticky
    task: chat
    strategy: weighted
    deployments:
      - ${to(upstream.baseUrlFor("none"), ", prefix_caching: true")}
      - ${to(upstream.baseUrlFor("none"), ", prefix_caching: true")}
      - ${to(upstream.baseUrlFor("none"), ", prefix_caching: true")}
  - id: voiced
    task: speech
    deployments:
      - { engine: openai-compatible, base_url: "https://127.0.0.1:9/v1", tls: { ca_file: /nowhere.pem } }
      - { engine: scripted, speech: { voices: [low] } }
  - id: sticky-elsewhere
    task: chat
    strategy: weighted
    circuit: { failures: 1, cooldown_seconds: 600 }
    deployments:
      - ${to(upstream.baseUrlFor("none"), ", prefix_caching: true")}
      - ${to(upstream.baseUrlFor("none"), ", prefix_caching: true")}
      - ${to(upstream.refusingUrl, ", prefix_caching: true")}
`,
  });
});
afterAll(async () => {
  await service.stop();
  await upstream.close();
});

const messages = [{ role: "user", content: "Say it." }];

interface Body {
  model: string;
  choices: [{ message: { content: string } }];
  error: { code: string | null };
}

async function ask(model: string, more: object = {}, init?: RequestInit) {
  const response = await service.post("/v1/chat/completions", { model, messages, ...more }, init);
  const deployment = response.headers.get("x-parlance-deployment");
  return { status: response.status, headers: response.headers, deployment, body: (await response.json()) as Body };
}

const attempts = (model: string) => metric(service, "parlance_attempts_total{", `model="${model}"`);
const requests = (fault: Parameters<typeof upstream.switchTo>[0]) => upstream.requests.get(fault) ?? 0;

test("answers from the fallback when all deployments fail, and names it", async () => {
  const { status, deployment, body } = await ask("tries");
  expect([status, deployment, body.model]).toEqual([200, "spare", "spare"]);
  expect(await attempts("tries")).toBe(3);
});

test("does not fall back for errors that the request caused", async () => {
  const before = requests("none");
  expect((await ask("refusing")).status).toBe(400);
  expect(requests("none")).toBe(before);
});

test("stops sending to a failing deployment until a probe succeeds", async () => {
  const asAdmin = { headers: { authorization: `Bearer ${service.adminKey}` } };
  const state = async () => {
    const { models } = (await (await service.fetch("/health/ready", asAdmin)).json()) as {
      models: { deployment: string; circuit: string }[];
    };
    return models.find(({ deployment }) => deployment === "mends#1")?.circuit;
  };
  upstream.switchTo("html-error");
  for (let round = 0; round < 3; round += 1) expect((await ask("mends")).deployment).toBe("mends#2");
  const asked = requests("html-error");
  expect([asked, await state()]).toEqual([3, "open"]);
  expect(await metric(service, "parlance_circuit_open{", 'deployment="mends#1"')).toBe(1);
  upstream.switchTo("none");
  // The probe runs without a request.
  await eventually(async () => expect(await state()).toBe("closed"));
  expect((await ask("mends")).deployment).toBe("mends#1");
});

test("obeys an upstream's Retry-After and passes it to the caller", async () => {
  const first = await ask("limited");
  expect([first.status, first.headers.get("retry-after")]).toEqual([429, "7"]);
  const asked = requests("rate-limited-for-7s");
  for (let round = 0; round < 5; round += 1) {
    const { status, headers } = await ask("limited");
    expect(status).toBe(429);
    expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(5);
  }
  expect(requests("rate-limited-for-7s")).toBe(asked);
});

test("limits retries to a fifth of the load", async () => {
  const ROUNDS = 300;
  for (let round = 0; round < ROUNDS; round += 50) {
    await Promise.all(Array.from({ length: 50 }, () => ask("stormy")));
  }
  // A reserve of ten retries, refilled by one every five seconds.
  expect(await attempts("stormy")).toBeLessThanOrEqual(ROUNDS * 1.2 + 10 + 6);
});

test("lists a model's voices while its first deployment cannot be opened", async () => {
  const response = await service.fetch("/v1/audio/voices?model=voiced");
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('"low"')]);
});

test("overflows from a full local model to an upstream", async () => {
  const answers = await Promise.all([ask("overflows"), ask("overflows"), ask("overflows")]);
  expect(answers.map(({ deployment }) => deployment).sort()).toEqual(["overflows#1", "overflows#2", "overflows#2"]);
});

test("overflows from a rate-limited upstream to a local model", async () => {
  const { deployment, body } = await ask("comes-home");
  expect([deployment, body.choices[0].message.content]).toEqual(["comes-home#2", "Slowly."]);
});

test("applies one deadline to all attempts", async () => {
  const { status, body } = await ask("hangs");
  expect([status, body.error.code]).toEqual([504, "upstream_timeout"]);
  expect(await attempts("hangs")).toBe(1);
});

test("sends the part of the ID that the wildcard matched, or its mapping", async () => {
  const plain = await ask("vendor/large/v2", { user: "wild" });
  expect(plain.body.model).toBe("vendor/large/v2");
  expect(JSON.parse(upstream.seen.get("wild")?.body ?? "").model).toBe("large/v2");
  await ask("mapped/small", { user: "mapped" });
  expect(JSON.parse(upstream.seen.get("mapped")?.body ?? "").model).toBe("org/small-it");
});

test("rejects invalid model IDs under a wildcard", async () => {
  const longest = `vendor/${"x".repeat(200)}`;
  expect((await ask(longest)).body.model).toBe(longest);
  for (const id of [`${longest}x`, "vendor/a b", "vendor/\n", "vendor/"]) {
    const { status, body } = await ask(id);
    expect([status, body.error.code]).toEqual([404, "model_not_found"]);
  }
});

test("forwards headers as configured, never the caller's key", async () => {
  const headers = { traceparent: "00-abc", "x-team": "blue", "x-secret": "hidden", "y-other": "no" };
  await ask("vendor/any", { user: "headers" }, { headers: { ...headers, "content-type": "application/json" } });
  const sent = upstream.seen.get("headers")?.headers.toLowerCase() ?? "";
  expect(sent).toContain("traceparent: 00-abc");
  expect(sent).toContain("x-team: blue");
  expect(sent).not.toMatch(/x-secret|y-other|authorization|sk-test/);
});

test("spreads requests, but sends those with one prompt_cache_key to one deployment", async () => {
  const places = async (model: string, more: object) => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(model, more)));
    return new Set(answers.map(({ deployment }) => deployment)).size;
  };
  expect(await places("spread", { prompt_cache_key: "one" })).toBeGreaterThan(1);
  const homes = new Set<string | null>();
  for (let key = 0; key < 12; key += 1) {
    const first = await ask("sticky", { prompt_cache_key: `key ${key}` });
    for (let round = 0; round < 3; round += 1) {
      expect((await ask("sticky", { prompt_cache_key: `key ${key}` })).deployment).toBe(first.deployment);
    }
    homes.add(first.deployment);
  }
  expect(homes.size).toBeGreaterThan(1);
});

test("moves a prompt_cache_key to one other deployment during a cooldown", async () => {
  const model = "sticky-elsewhere";
  // Some of the keys map to the failing deployment.
  for (let key = 0; key < 40; key += 1) await ask(model, { prompt_cache_key: `key ${key}` });
  expect(await metric(service, "parlance_circuit_open{", `deployment="${model}#3"`)).toBe(1);
  for (let key = 0; key < 20; key += 1) {
    const homes = new Set<string | null>();
    for (let round = 0; round < 4; round += 1) {
      homes.add((await ask(model, { prompt_cache_key: `key ${key}` })).deployment);
    }
    expect(homes.size).toBe(1);
  }
});

test("sends the turns of a conversation to one deployment", async () => {
  const turns = [{ role: "user", content: "What is a cache?" }];
  const first = await ask("sticky", { messages: turns });
  for (let turn = 0; turn < 4; turn += 1) {
    turns.push({ role: "assistant", content: `Answer ${turn}.` }, { role: "user", content: `And ${turn}?` });
    expect((await ask("sticky", { messages: turns })).deployment).toBe(first.deployment);
  }
});

async function newProjectKey(permissions?: object): Promise<string> {
  const send = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${service.adminKey}` };
    const response = await service.post(`/v1/organization/${path}`, body, {
      headers: { ...headers, "content-type": "application/json" },
    });
    return (await response.json()) as { id: string; api_key: { value: string } };
  };
  const project = await send("projects", { name: "another" });
  if (permissions !== undefined) await send(`projects/${project.id}/model_permissions`, permissions);
  return (await send(`projects/${project.id}/service_accounts`, { name: "one" })).api_key.value;
}

test("skips a fallback that the caller may not use", async () => {
  const key = await newProjectKey({ mode: "deny_list", model_ids: ["spare"] });
  const before = requests("none");
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  expect((await ask("tries", {}, { headers })).status).toBe(502);
  expect(requests("none")).toBe(before);
});
