/** Clients that disconnect while an upstream serves them, and the state of the upstream's sockets afterwards. */

import type { FaultName, FaultyUpstream } from "../upstreams/faulty-upstream.ts";
import type { Service } from "./service.ts";

/** Two deployments behind each model, to detect an attempt after the client's disconnect. */
export const LEAVING = {
  "before the first byte, streamed": { model: "silent", fault: "never-answers", stream: true, reads: false },
  "before the first byte, not streamed": { model: "silent", fault: "never-answers", stream: false, reads: false },
  "after the headers, before the first event": {
    model: "mute",
    fault: "headers-then-hangs",
    stream: true,
    reads: false,
  },
  "mid-stream": { model: "stalling", fault: "hangs-midway", stream: true, reads: true },
  "mid-stream, while events flow": { model: "flowing", fault: "floods", stream: true, reads: true },
  "within a complete answer": { model: "stalling", fault: "hangs-midway", stream: false, reads: false },
} as const satisfies Record<string, { model: string; fault: FaultName; stream: boolean; reads: boolean }>;

export type Leaving = (typeof LEAVING)[keyof typeof LEAVING];

export function leavingConfig(upstream: FaultyUpstream): string {
  const models = Object.entries({
    silent: "never-answers",
    mute: "headers-then-hangs",
    stalling: "hangs-midway",
    flowing: "floods",
  });
  const lines = models.map(([id, fault]) => {
    const deployment = `{ engine: openai-compatible, base_url: "${upstream.baseUrlFor(fault as FaultName)}" }`;
    return `  - { id: ${id}, task: chat, fallbacks: [spare], deployments: [${deployment}, ${deployment}] }`;
  });
  const spare = `{ id: spare, task: chat, deployments: [{ engine: openai-compatible, base_url: "${upstream.baseUrlFor("none")}" }] }`;
  return `builtin_models: false\nmodels:\n${lines.join("\n")}\n  - ${spare}\n`;
}

export interface DisconnectOutcome {
  /** Milliseconds from the client's disconnect to the close of the upstream's socket; undefined: still open. */
  closedAfterMs: (number | undefined)[];
  /** Total requests that the upstream received. */
  requests: number;
}

const SECONDS_TO_ARRIVE = 20;
const SECONDS_TO_CLOSE = 5;

/** Runs `rounds` clients, four at once; each disconnects after the upstream's request and the answer's start. */
export async function leave(
  service: Service,
  upstream: FaultyUpstream,
  leaving: Leaving,
  rounds: number,
): Promise<DisconnectOutcome> {
  const before = totalOf(upstream);
  const leftAt = new Map<string, number>();
  let next = 0;
  const client = async () => {
    while (next < rounds) {
      next += 1;
      const user = `${leaving.model}-${leaving.stream}-${next}-${Math.random()}`;
      leftAt.set(user, await leaveOnce(service, upstream, leaving, user));
    }
  };
  await Promise.all(Array.from({ length: 4 }, client));
  const isOpen = () => [...leftAt.keys()].some((user) => upstream.seen.get(user)?.closedAt === undefined);
  await until(() => !isOpen(), SECONDS_TO_CLOSE).catch(() => {});
  const closedAfterMs = [...leftAt].map(([user, at]) => {
    const closedAt = upstream.seen.get(user)?.closedAt;
    return closedAt === undefined ? undefined : Math.max(0, closedAt - at);
  });
  return { closedAfterMs, requests: totalOf(upstream) - before };
}

async function leaveOnce(service: Service, upstream: FaultyUpstream, leaving: Leaving, user: string): Promise<number> {
  const leave = new AbortController();
  const body = { model: leaving.model, stream: leaving.stream, user, messages: [{ role: "user", content: "Go." }] };
  const answer = service.post("/v1/chat/completions", body, { signal: leave.signal }).then(
    async (response) => {
      if (leaving.reads) await response.body?.getReader().read();
    },
    () => {},
  );
  await until(() => upstream.seen.has(user), SECONDS_TO_ARRIVE);
  if (leaving.reads) await answer;
  const at = performance.now();
  leave.abort();
  await answer.catch(() => {});
  return at;
}

function totalOf(upstream: FaultyUpstream): number {
  return [...upstream.requests.values()].reduce((sum, count) => sum + count, 0);
}

async function until(holds: () => boolean, seconds: number): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`still not after ${seconds} seconds`);
    await new Promise((resume) => setTimeout(resume, 2));
  }
}
