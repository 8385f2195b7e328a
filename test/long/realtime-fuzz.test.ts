/** Random and mutated events over many WebSockets: the service stays up, quick and small, and says what is wrong. */

import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resultWithin } from "../../src/kernel/async/timeout.ts";
import { realtimeMessage } from "../support/fuzz/fuzz-realtime.ts";
import { eventually } from "../support/service/eventually.ts";
import { RealtimeClient, type RealtimeEvent } from "../support/service/realtime-client.ts";
import { residentMegabytes } from "../support/service/resident-megabytes.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const EVENTS = Number(process.env.PARLANCE_FUZZ_EVENTS ?? 20_000);
const SEED = Number(process.env.PARLANCE_FUZZ_SEED ?? 1);
const EVENTS_PER_CONNECTION = 50;
const PARALLEL = 8;
const MAX_MS = 60_000;
const MAX_HEALTH_MS = 2_000;
const MAX_GROWTH_MEGABYTES = 100;
/** A client that leaves meanwhile has some of its events handled. */
const SOME_ANSWERS_MS = 50;
const INVALID_UTF8 = Buffer.from([0x7b, 0xff, 0xfe]);

/** How a client ends its connection: after an answer to its last event, or without waiting for any. */
const ENDINGS = ["answered", "answered", "answered", "closed", "terminated", "invalid UTF-8"] as const;
const QUERIES = ["model=talks", "model=talks", "intent=transcription"] as const;

let service: ServiceProcess;
beforeAll(async () => {
  service = await startServiceProcess({
    config: `
builtin_models: false
realtime: { max_sessions_per_project: 100 }
models:
  - { id: hears, task: transcription, max_queue: 1000, deployments: [{ engine: scripted, replies: [{ text: One. }] }] }
  - { id: speaks, task: speech, max_queue: 1000, deployments: [{ engine: scripted, speech: { sample_rate: 24000 } }] }
  - id: talks
    task: chat
    max_queue: 1000
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies: [{ match: long, text: One two three four., delay_ms_per_token: 50 }, { text: Good day. }]
`,
  });
});
afterAll(() => service.stop());

interface Script {
  query: (typeof QUERIES)[number];
  messages: readonly (string | Buffer)[];
  ending: (typeof ENDINGS)[number];
}

const script: fc.Arbitrary<Script> = fc.record({
  query: fc.constantFrom(...QUERIES),
  messages: fc.array(realtimeMessage, { minLength: EVENTS_PER_CONNECTION, maxLength: EVENTS_PER_CONNECTION }),
  ending: fc.constantFrom(...ENDINGS),
});

/** Resolves with what the server has sent, by type. Throws when it does not answer or ends the session. */
async function play({ query, messages, ending }: Script): Promise<readonly RealtimeEvent[]> {
  const client = await RealtimeClient.connect(service, { query });
  for (const message of messages) client.socket.send(message);
  if (ending !== "answered") await pause(SOME_ANSWERS_MS);
  if (ending === "terminated") client.socket.terminate();
  else if (ending === "closed") client.socket.close();
  else if (ending === "invalid UTF-8") client.socket.send(INVALID_UTF8, { binary: false });
  else {
    client.send({ type: "conversation.item.retrieve", item_id: "of the end", event_id: "the end" });
    while ((await client.next("error")).error.event_id !== "the end");
    client.socket.close();
  }
  const { code } = await client.closed;
  if (ending === "invalid UTF-8") expect(code).toBe(1007);
  return client.events;
}

function describeFaults(events: readonly RealtimeEvent[]): string[] {
  const errors = events.flatMap(({ type, error }) => (type === "error" ? [error] : []));
  return errors
    .filter(({ type, message }) => type !== "invalid_request_error" || !/^.{10,}\.$/s.test(message))
    .map((error) => JSON.stringify(error));
}

/** Measures the slowest answer of a health check until it is stopped. */
function watchHealth(): { stop(): Promise<number> } {
  let isStopped = false;
  const watching = (async () => {
    let slowest = 0;
    while (!isStopped) {
      const startedAt = performance.now();
      expect((await fetch(`${service.origin}/health/live`)).status).toBe(200);
      slowest = Math.max(slowest, performance.now() - startedAt);
      await pause(50);
    }
    return slowest;
  })();
  return {
    stop: () => {
      isStopped = true;
      return watching;
    },
  };
}

async function playAll(scripts: readonly Script[]): Promise<{ faults: string[]; counts: Map<string, number> }> {
  const waiting = [...scripts.entries()];
  const faults: string[] = [];
  const counts = new Map<string, number>();
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, each] = next;
      const events = await resultWithin(play(each), MAX_MS);
      if (events === undefined) faults.push(`connection ${index} had no answer (${each.ending})`);
      for (const { type } of events ?? []) counts.set(type, (counts.get(type) ?? 0) + 1);
      faults.push(...describeFaults(events ?? []));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return { faults, counts };
}

test(
  `${EVENTS} events of Realtime clients are answered or refused`,
  async () => {
    const pid = service.process.pid ?? 0;
    const scripts = fc.sample(script, { seed: SEED, numRuns: Math.ceil(EVENTS / EVENTS_PER_CONNECTION) });
    const warmUp = Math.ceil(scripts.length / 4);
    const health = watchHealth();
    const startedAt = performance.now();
    const first = await playAll(scripts.slice(0, warmUp));
    const before = residentMegabytes(pid);
    const { faults, counts } = await playAll(scripts.slice(warmUp));
    const slowest = await health.stop();
    console.log(
      `${Math.round((performance.now() - startedAt) / 1000)} s, ${before} MB after a quarter, ${residentMegabytes(pid)} MB, slowest health check ${Math.round(slowest)} ms`,
      Object.fromEntries([...counts].sort()),
    );
    expect([...new Set([...first.faults, ...faults])]).toEqual([]);
    expect(service.log().filter(({ msg }) => msg === "request failed by a bug")).toEqual([]);
    expect(service.process.exitCode).toBe(null);
    expect(slowest).toBeLessThan(MAX_HEALTH_MS);
    await eventually(() => expect(residentMegabytes(pid)).toBeLessThan(before + MAX_GROWTH_MEGABYTES));
  },
  10 * 60_000,
);
