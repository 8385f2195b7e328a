/** Clients that together exceed a limit, on real processes with shared counters. */

import { setTimeout as pause } from "node:timers/promises";
import { Agent, request } from "undici";
import { type ServiceClient, type ServiceProcess, startServiceProcess } from "./service-process.ts";

export interface SentRequest {
  /** Milliseconds between which the request was admitted. */
  sentAt: number;
  answeredAt: number;
  /** Undefined: the connection failed. */
  status: number | undefined;
  tokens: number;
}

export interface LoadOptions {
  services: readonly ServiceProcess[];
  clients: number;
  seconds: number;
  /** When the limit is reached: the load then goes on for a second and a half. */
  isReached?: (outcome: Outcome) => boolean;
  /** Body of the request with this number. */
  bodyOf: (number: number) => object;
}

export const LOAD_MODEL = `
builtin_models: false
models:
  - id: parrot
    task: chat
    deployments: [{ engine: scripted, slots: 1000, replies: [{ delay_ms_before_first: 300 }] }]
`;

const PAUSE_AFTER_REFUSAL_MS = 250;
const AFTER_LIMIT_MS = 1500;

/** Started like `npm start`, sequentially, because the first creates the database's tables. */
export async function startReplicas(number: number, config: string, environment: Record<string, string>) {
  const services: ServiceProcess[] = [];
  for (let index = 0; index < number; index += 1) services.push(await startServiceProcess({ config, environment }));
  const stop = async () => void (await Promise.all(services.map((service) => service.stop())));
  try {
    await untilCountersShared(services, number);
  } catch (failure) {
    await stop();
    throw failure;
  }
  return { services, stop };
}

/** Slots of a model that requests occupy. */
export async function slotsInUse(service: ServiceClient, model: string): Promise<number> {
  const metrics = await (await service.fetch("/metrics")).text();
  return Number(new RegExp(`^parlance_slots_in_use\\{model="${model}".*\\} (\\d+)`, "m").exec(metrics)?.[1]);
}

/**
 * Status of a request that is refused; "admitted" once it occupies a slot of its model, which the abort frees again. No
 * other request may begin or end meanwhile.
 */
export async function admission(
  service: ServiceClient,
  model: string,
  send: (signal: AbortSignal) => Promise<Response>,
): Promise<number | "admitted"> {
  const leaving = new AbortController();
  const before = await slotsInUse(service, model);
  let status: number | undefined;
  const answered = send(leaving.signal).then(
    (answer) => {
      status = answer.status;
    },
    () => {},
  );
  while (status === undefined && (await slotsInUse(service, model)) <= before) await pause(20);
  leaving.abort();
  await answered;
  if (status !== undefined) return status;
  while ((await slotsInUse(service, model)) > before) await pause(20);
  return "admitted";
}

/** Resolves once all replicas share their counters. */
export async function untilCountersShared(
  services: readonly ServiceProcess[],
  replicas: number,
  seconds = 200,
): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  for (const service of services) {
    for (;;) {
      const text = await (await service.fetch("/metrics")).text();
      if (/^parlance_shared_counters_up 1$/m.test(text) && text.includes(`parlance_replicas ${replicas}\n`)) break;
      if (Date.now() > deadline) throw new Error(`the replicas do not count together:\n${service.output()}`);
      await pause(100);
    }
  }
}

/** Sends requests to the replicas in turn; a client continues with the next replica after a failure. */
export async function sendLoad({ services, clients, seconds, isReached, bodyOf }: LoadOptions): Promise<SentRequest[]> {
  const asked: SentRequest[] = [];
  const agent = new Agent({ connections: clients, pipelining: 1 });
  let endsAt = performance.now() + seconds * 1000;
  let number = 0;
  const client = async () => {
    while (performance.now() < endsAt) {
      number += 1;
      const service = services[number % services.length];
      if (service === undefined) return;
      const answer = await ask(service, agent, bodyOf(number));
      asked.push(answer);
      if (isReached?.(outcomeOf(asked))) endsAt = Math.min(endsAt, performance.now() + AFTER_LIMIT_MS);
      if (answer.status !== 200) await pause(PAUSE_AFTER_REFUSAL_MS);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  await agent.close();
  return asked;
}

async function ask({ origin, apiKey }: ServiceProcess, dispatcher: Agent, body: object): Promise<SentRequest> {
  const sentAt = performance.now();
  try {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const url = `${origin}/v1/chat/completions`;
    const { statusCode, body: answer } = await request(url, {
      dispatcher,
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    const { usage } = (await answer.json()) as { usage?: { total_tokens: number } };
    return { sentAt, answeredAt: performance.now(), status: statusCode, tokens: usage?.total_tokens ?? 0 };
  } catch {
    return { sentAt, answeredAt: performance.now(), status: undefined, tokens: 0 };
  }
}

export interface Outcome {
  admitted: number;
  refused: number;
  broken: number;
  other: number;
  tokens: number;
}

export function outcomeOf(asked: readonly SentRequest[]): Outcome {
  const count = (isCounted: (each: SentRequest) => boolean) => asked.filter(isCounted).length;
  return {
    admitted: count(({ status }) => status === 200),
    refused: count(({ status }) => status === 429),
    broken: count(({ status }) => status === undefined),
    other: count(({ status }) => status !== undefined && status !== 200 && status !== 429),
    tokens: asked.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

/** Highest amount that was certainly admitted within any 60 seconds. */
export function maxInAnyMinute(asked: readonly SentRequest[], amountOf: (each: SentRequest) => number): number {
  const admitted = asked.filter(({ status }) => status === 200).sort((a, b) => a.sentAt - b.sentAt);
  let most = 0;
  for (const [index, { sentAt }] of admitted.entries()) {
    const within = admitted.slice(index).filter(({ answeredAt }) => answeredAt < sentAt + 60_000);
    most = Math.max(
      most,
      within.reduce((sum, each) => sum + amountOf(each), 0),
    );
  }
  return most;
}
