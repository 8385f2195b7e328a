/** Mixed requests on scripted engines: every answer is an expected one, and memory, descriptors and timers stay. */

import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { makeWave } from "../support/service/wave.ts";

/** A million takes a quarter of an hour: `PARLANCE_SOAK_REQUESTS=1000000`. */
const REQUESTS = Number(process.env.PARLANCE_SOAK_REQUESTS ?? 20_000);
const PARALLEL = 32;
/** The service keeps idle connections for 75 s. */
const MAX_SETTLE_MS = 100_000;
/** Connections that this test's client keeps, and timers of those. */
const SPARE = 4;
const MAX_MEGABYTES_PER_100_000 = 1;
/** Compiled code and pools grow at first; a short run says nothing of the slope. */
const WARM_UP_SHARE = 0.3;
const MIN_REQUESTS_FOR_SLOPE = 200_000;
const CONFIG = `
builtin_models: false
models:
  - id: chat
    task: chat
    max_queue: 1000
    deployments:
      - engine: scripted
        replies: [{ match: /fail/, text: "One two.", fail_after_tokens: 1 }, { text: "One two three." }]
    circuit: { failures: 1000000, failure_rate: 1 }
  - { id: ears, task: transcription, max_queue: 1000, deployments: [{ engine: scripted, replies: [{ text: "One." }] }] }
  - { id: voice, task: speech, max_queue: 1000, deployments: [{ engine: scripted, speech: {} }] }
  - id: guard
    task: moderation
    max_queue: 1000
    deployments: [{ engine: guard, family: llama-guard-3, chat: { engine: scripted, replies: [{ text: safe }] } }]
`;

let service: ServiceProcess;
beforeAll(async () => {
  service = await startServiceProcess({ config: CONFIG, environment: { PARLANCE_LOG_LEVEL: "warn" } });
});
afterAll(() => service.stop());

const ask = (content: string, fields: object = {}, init: RequestInit = {}) =>
  service.post("/v1/chat/completions", { model: "chat", messages: [{ role: "user", content }], ...fields }, init);
const WAVE = makeWave({ seconds: 0.2 });
const TO_CLAUDE = { model: "chat", messages: [{ role: "user", content: "Hi." }] };

function transcribe(): Promise<Response> {
  const body = new FormData();
  body.append("model", "ears");
  body.append("file", new Blob([new Uint8Array(WAVE)]), "a.wav");
  return service.fetch("/v1/audio/transcriptions", { method: "POST", body });
}

async function leave(): Promise<undefined> {
  const leaving = new AbortController();
  const answer = ask("Hi.", { stream: true }, { signal: leaving.signal });
  await Promise.race([answer.catch(() => {}), pause(5)]);
  leaving.abort();
  await answer.then((response) => response.arrayBuffer()).catch(() => {});
  return undefined;
}

/** What each kind of request may be answered with; empty: the client leaves. */
const KINDS: readonly [send: () => Promise<Response | undefined>, statuses: readonly number[]][] = [
  [() => ask("Hi."), [200]],
  [() => ask("Hi.", { stream: true }), [200]],
  [() => ask("fail"), [502, 503]],
  [() => ask("fail", { stream: true }), [200, 502, 503]],
  [() => ask("Hi.", { temperature: 7 }), [400]],
  [() => ask("Hi.", { model: "none" }), [404]],
  [leave, []],
  [() => service.post("/v1/moderations", { model: "guard", input: "Hi." }), [200]],
  [
    () => service.post("/v1/audio/speech", { model: "voice", input: "Hi.", voice: "low", response_format: "wav" }),
    [200],
  ],
  [() => service.fetch("/v1/models"), [200]],
  [() => service.post("/v1/responses", { model: "chat", input: "Hi." }), [200]],
  [() => service.post("/v1/responses", { model: "chat", input: "Hi.", stream: true }), [200]],
  [() => service.post("/v1/messages", { ...TO_CLAUDE, max_tokens: 9 }), [200]],
  [() => service.post("/v1/messages", { ...TO_CLAUDE, max_tokens: 9, stream: true }), [200]],
];

/** Decoding starts a process, which takes as long as a hundred of the others. */
const TRANSCRIPTION: (typeof KINDS)[number] = [transcribe, [200]];
const REQUESTS_PER_TRANSCRIPTION = 200;

interface Measured {
  megabytes: number;
  descriptors: number;
  timers: number;
}

const residentMegabytes = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.process.pid}/status`, "utf8"))?.[1]) / 1024;

async function measure(): Promise<Measured> {
  const metrics = await (await service.fetch("/metrics")).text();
  expect(metrics).toContain("nodejs_active_resources_total");
  // Without any timer that keeps the process running, the type is missing.
  const timers = Number(/^nodejs_active_resources\{type="Timeout"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
  const descriptors = readdirSync(`/proc/${service.process.pid}/fd`).length;
  return { megabytes: residentMegabytes(), descriptors, timers };
}

/** Least squares, in megabytes per 100,000 requests. */
function slopeOf(points: readonly (readonly [requests: number, megabytes: number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(points.map(([each]) => each)), mean(points.map(([, each]) => each))];
  const covariance = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
  return (100_000 * covariance) / points.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
}

const isSettled = (before: Measured, after: Measured) =>
  after.descriptors <= before.descriptors + SPARE && after.timers <= before.timers + SPARE;

test(
  `${REQUESTS} mixed requests leave memory, descriptors and answers as they were`,
  async () => {
    let sent = 0;
    const unexpected = new Map<string, number>();
    const points: [number, number][] = [];
    const worker = async () => {
      while (sent < REQUESTS) {
        const index = sent;
        sent += 1;
        if (index % Math.ceil(REQUESTS / 100) === 0) points.push([index, residentMegabytes()]);
        const kind = index % REQUESTS_PER_TRANSCRIPTION === 0 ? KINDS.length : index % KINDS.length;
        const [send, statuses] = KINDS[kind] ?? TRANSCRIPTION;
        const response = await send();
        await response?.arrayBuffer().catch(() => {});
        if (response === undefined || statuses.includes(response.status)) continue;
        const what = `kind ${kind}: ${response.status}`;
        unexpected.set(what, (unexpected.get(what) ?? 0) + 1);
      }
    };
    for (const [send] of [...KINDS, TRANSCRIPTION]) await (await send())?.arrayBuffer().catch(() => {});
    const before = await measure();
    const startedAt = performance.now();
    await Promise.all(Array.from({ length: PARALLEL }, worker));
    const seconds = (performance.now() - startedAt) / 1000;
    // Idle connections of this test's own client close, and the circuit's and the journal's timers run out.
    const until = performance.now() + MAX_SETTLE_MS;
    let after = await measure();
    while (performance.now() < until && !isSettled(before, after)) {
      await pause(1000);
      after = await measure();
    }
    const slope = slopeOf(points.filter(([index]) => index >= REQUESTS * WARM_UP_SHARE));
    console.log(
      `${sent} requests in ${seconds.toFixed(0)} s: ${before.megabytes.toFixed(0)} MB before, ${after.megabytes.toFixed(0)} MB after, slope ${slope.toFixed(2)} MB per 100,000; descriptors ${before.descriptors} before, ${after.descriptors} after; timers ${before.timers} before, ${after.timers} after; unexpected ${JSON.stringify([...unexpected])}`,
    );
    expect([...unexpected]).toEqual([]);
    expect(after.descriptors).toBeLessThanOrEqual(before.descriptors + SPARE);
    expect(after.timers).toBeLessThanOrEqual(before.timers + SPARE);
    if (REQUESTS >= MIN_REQUESTS_FOR_SLOPE) expect(slope).toBeLessThan(MAX_MEGABYTES_PER_100_000);
  },
  12 * 3_600_000,
);
