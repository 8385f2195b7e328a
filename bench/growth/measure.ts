/** Measures what grows: start, memory, latency, revocation, reports and lists. */

import { setTimeout as pause } from "node:timers/promises";
import { PROJECT_KEY } from "../routing/contenders.ts";
import { type Load, measure } from "../routing/load.ts";
import { millisecondsOf } from "../timing.ts";
import { ADMIN_KEY, type Started } from "./service.ts";

export interface Row {
  /** CPU time, which depends least on the machine's other load. */
  startCpuMs: number;
  startMs: number;
  memoryMebibytes: number;
  chatP50: number;
  chatP99: number;
  cpuMicroseconds: number;
  revocation: number;
  /** A month by day and model. */
  report: number;
  models: number;
}

const DAY_SECONDS = 86_400;
const RUNS = 5;

export async function measureRow(service: Started, load: Partial<Load> = {}): Promise<Row> {
  const chat = { stream: false, connections: 4, ...load };
  await measure(service, { ...chat, seconds: 2 });
  const { p50Milliseconds, p99Milliseconds, cpuMicroseconds } = await measure(service, { ...chat, seconds: 3 });
  return {
    startCpuMs: service.startCpuMs,
    startMs: service.startMs,
    chatP50: p50Milliseconds,
    chatP99: p99Milliseconds,
    cpuMicroseconds,
    revocation: await leastOf(() => revocation(service)),
    report: await leastOf(() => millisecondsOf(() => report(service, 31))),
    models: await leastOf(() => millisecondsOf(() => get(service, "/v1/models", PROJECT_KEY))),
    memoryMebibytes: service.residentMebibytes(),
  };
}

/** The least is what the work takes; the rest is the machine's other load. */
async function leastOf(once: () => Promise<number>): Promise<number> {
  const values = [];
  for (let run = 0; run < RUNS; run += 1) values.push(await once());
  return Math.min(...values);
}

/** Reads the usage of the last days by day and model, page by page. */
export async function report(service: Started, days: number): Promise<void> {
  const from = Math.floor(Date.now() / 1000) - days * DAY_SECONDS;
  let page = "";
  do {
    const path = `usage/completions?start_time=${from}&bucket_width=1d&limit=31&group_by=model${page}`;
    const { next_page: next } = await service.administer("GET", path);
    page = next === null ? "" : `&page=${encodeURIComponent(String(next))}`;
  } while (page !== "");
}

async function get({ origin }: Started, path: string, key: string): Promise<void> {
  const answer = await fetch(origin + path, { headers: { authorization: `Bearer ${key}` } });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
}

/** Time from the request that revokes a key until `other` refuses the key. */
export async function revocation(service: Started, other: Started = service): Promise<number> {
  const { data } = (await service.administer("GET", "projects?limit=1")) as { data: { id: string }[] };
  const path = `projects/${data[0]?.id}`;
  const account = await service.administer("POST", `${path}/service_accounts`, { name: "Revoked" });
  const { id, value } = account.api_key as { id: string; value: string };
  const status = async () =>
    (await fetch(`${other.origin}/v1/models`, { headers: { authorization: `Bearer ${value}` } })).status;
  while ((await status()) !== 200) await pause(10);
  const beganAt = performance.now();
  await service.administer("DELETE", `${path}/api_keys/${id}`);
  while ((await status()) !== 401) await pause(1);
  return performance.now() - beganAt;
}

/** Longest time that a health check waits while a year is reported: SQLite reads on the event loop. */
export async function stallDuring(service: Started, work: () => Promise<void>): Promise<number> {
  let isOver = false;
  let longest = 0;
  const probe = async () => {
    while (!isOver) longest = Math.max(longest, await millisecondsOf(() => get(service, "/health/live", ADMIN_KEY)));
  };
  const probing = probe();
  await work();
  isOver = true;
  await probing;
  return longest;
}
