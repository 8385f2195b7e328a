/**
 * Compares gateways on this machine: `node bench/gateways/board.ts [--only NAME,…] [--cores 0] [--rig-cores 1]`.
 *
 * The method is that of github.com/GetBusbar/benchmarking; README.md beside this file describes it and its limits.
 * Prints a table and writes all raw output to a JSON file.
 */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { freePort } from "../routing/contenders.ts";
import { GATEWAYS, type Gateway, install, type Start } from "./gateways.ts";
import { cpuSeconds, end, residentMegabytes, startMock, startPinned } from "./processes.ts";

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    cores: { type: "string", default: "0" },
    "rig-cores": { type: "string", default: availableParallelism() > 1 ? "1" : "0" },
    seconds: { type: "string", default: "4" },
    "memory-seconds": { type: "string", default: "60" },
    turns: { type: "string", default: "3" },
    rungs: { type: "string", default: "1,2,4,8,16,32,64,128,256" },
    streams: { type: "string", default: "16,64,256,512" },
    out: { type: "string", default: "gateways.json" },
  },
});

const SECONDS = Number(options.seconds);
const BOUNDS_MS = [1, 5, 20];
const FRAMES = 64;
const FRAME_MS = 20;
const STALL_MS = 10 * FRAME_MS;
/** Turns of one measurement that differ by more than this share of their median are measured again, once. */
const MAX_SPREAD = 0.1;
const START_SECONDS = 120;
const MEMORY_CONNECTIONS = 32;

interface Percentiles {
  count: number;
  p50: number;
  p99: number;
}

/** What `load` prints; times are in microseconds. */
interface LoadResult {
  connections: number;
  seconds: number;
  requests: number;
  failures: number;
  perSecond: number;
  frames?: number;
  stalls?: number;
  latency?: Percentiles;
  firstFrame?: Percentiles;
  gap?: Percentiles;
}

interface Target {
  port: number;
  model: string;
  headers: Record<string, string>;
  pid?: number;
}

const work = mkdtempSync(join(tmpdir(), "gateways-"));
const cache = resolve(import.meta.dirname, "../../node_modules/.cache/gateways");
const [load, mock] = ["load", "mock"].map(compile) as [string, string];
const rejected: object[] = [];

const names = options.only?.split(",").map((name) => name.trim().toLowerCase());
const gateways = GATEWAYS.filter(({ name }) => names === undefined || names.includes(name.toLowerCase()));
const instant = await startMock(mock, [], options["rig-cores"]);
const paced = await startMock(mock, ["--frames", String(FRAMES), "--frame-ms", String(FRAME_MS)], options["rig-cores"]);
const results: object[] = [];
try {
  const direct = await measureAll({ port: instant.port, model: "mock", headers: {} }, paced.port, undefined);
  results.push({ name: "direct", ...direct });
  console.log(`${cpus()[0]?.model}, ${availableParallelism()} cores; gateway on ${options.cores}`);
  for (const gateway of gateways) {
    const result = await board(gateway, direct);
    results.push(result);
    console.log(JSON.stringify(summary(result, direct)));
  }
} finally {
  await instant.stop();
  await paced.stop();
  rmSync(work, { recursive: true, force: true });
  writeFileSync(options.out, `${JSON.stringify(report(), null, 1)}\n`);
}

type Measured = Awaited<ReturnType<typeof measureAll>>;

async function board(gateway: Gateway, direct: Measured) {
  const installed = await install(gateway, cache);
  if ("missing" in installed) return { name: gateway.name, served: false as const, reason: installed.missing };
  const { folder, version } = installed;
  const of = { name: gateway.name, language: gateway.language, version };
  // One process for each upstream, so that neither run sees the other's connections and caches.
  const whole = await started(gateway, folder, instant.origin);
  if ("reason" in whole) return { ...of, served: false as const, reason: whole.reason };
  const streams = await started(gateway, folder, paced.origin);
  if ("reason" in streams) {
    await whole.stop();
    return { ...of, served: false as const, reason: streams.reason };
  }
  try {
    const measured = await measureAll(whole.target, streams.target.port, streams.target);
    return { ...of, served: true as const, ...measured, mockBound: isMockBound(measured, direct) };
  } catch (error) {
    return { ...of, served: false as const, reason: String(error) };
  } finally {
    await whole.stop();
    await streams.stop();
  }
}

/** A rate within a tenth of what the mock itself serves says more about the mock. */
function isMockBound(measured: Measured, direct: Measured): boolean {
  return measured.frontier.unbounded.perSecond > 0.9 * direct.frontier.unbounded.perSecond;
}

async function started(gateway: Gateway, folder: string, upstream: string) {
  const directory = mkdtempSync(join(work, "gateway-"));
  const log = join(directory, "log");
  const start: Start = { upstream, port: await freePort(), directory, cores: coreCount(options.cores) };
  const child = startPinned(await gateway.start(start, folder), options.cores, log);
  const target: Target = {
    port: start.port,
    model: gateway.model ?? "mock",
    headers: gateway.headers?.(start) ?? { authorization: "Bearer mock" },
    ...(child.pid !== undefined && { pid: child.pid }),
  };
  const reason = await untilServed(target, () => child.exitCode !== null);
  if (reason === undefined) return { target, stop: () => end(child) };
  await end(child);
  return { reason: `${reason}; last lines of its log: ${readFileSync(log, "utf8").slice(-500)}` };
}

/** Waits for a 200 with the mock's answer. Returns what came instead when the time is over. */
async function untilServed({ port, model, headers }: Target, hasEnded: () => boolean): Promise<string | undefined> {
  let last = "no answer";
  for (const until = Date.now() + START_SECONDS * 1000; Date.now() < until && !hasEnded(); await delay(250)) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: body(model, false),
      });
      const text = await response.text();
      if (response.ok && text.includes("quick brown fox")) return undefined;
      last = `${response.status} ${text.slice(0, 200)}`;
    } catch (error) {
      last = String(error);
    }
  }
  return last;
}

async function measureAll(target: Target, pacedPort: number, pacedTarget: Target | undefined) {
  const streamTarget = pacedTarget ?? { ...target, port: pacedPort };
  const idle = target.pid === undefined ? undefined : residentMegabytes(target.pid);
  const alone = await repeated(target, 1);
  const rungs: LoadResult[] = [];
  for (const connections of numbers(options.rungs)) rungs.push(await attempt(target, connections, SECONDS));
  const cpu = await cpuOf(target);
  const memory = await memoryOf(target);
  const stream = await repeated(streamTarget, 1, true);
  const streamRungs: LoadResult[] = [];
  for (const connections of numbers(options.streams)) {
    // At least two whole streams of each connection.
    const seconds = Math.max(SECONDS, (2.5 * FRAMES * FRAME_MS) / 1000);
    streamRungs.push(await attempt(streamTarget, connections, seconds, true));
  }
  return { alone, frontier: frontier(rungs), rungs, cpu, memory: { idle, ...memory }, stream, streamRungs };
}

/** The most requests a second at which 99 % of the answers take no longer than a bound, and none fails. */
function frontier(rungs: readonly LoadResult[]) {
  const best = (boundMs: number) => {
    const within = rungs.filter(
      ({ failures, latency }) => failures === 0 && (latency?.p99 ?? Infinity) <= boundMs * 1000,
    );
    const rung = within.sort((a, b) => b.perSecond - a.perSecond)[0];
    return { perSecond: rung?.perSecond ?? 0, connections: rung?.connections ?? null };
  };
  return {
    ...Object.fromEntries(BOUNDS_MS.map((bound) => [`p99 ${bound} ms`, best(bound)])),
    unbounded: best(Number.POSITIVE_INFINITY),
  };
}

/** Several turns with the same load, and their median by p99. A run whose turns differ is measured again. */
async function repeated(target: Target, connections: number, isStream = false) {
  for (let run = 1; ; run += 1) {
    const turns: LoadResult[] = [];
    for (let turn = 0; turn < Number(options.turns); turn += 1) {
      turns.push(await attempt(target, connections, isStream ? Math.max(4, SECONDS) : SECONDS, isStream));
    }
    const measure = ({ latency, firstFrame }: LoadResult) => (isStream ? firstFrame?.p50 : latency?.p50) ?? 0;
    const sorted = turns.toSorted((a, b) => measure(a) - measure(b));
    const median = sorted[Math.floor(sorted.length / 2)] as LoadResult;
    const spread = (measure(sorted.at(-1) as LoadResult) - measure(sorted[0] as LoadResult)) / measure(median);
    if (spread <= 2 * MAX_SPREAD || run === 2) return { ...median, spread, turns };
    rejected.push({ target: target.port, connections, isStream, spread, turns });
  }
}

async function cpuOf(target: Target) {
  if (target.pid === undefined) return undefined;
  const before = cpuSeconds(target.pid);
  const beganAt = performance.now();
  const { requests, failures } = await attempt(target, MEMORY_CONNECTIONS, SECONDS * 2);
  // The load's unmeasured beginning takes CPU time as well: a fifth of its seconds.
  const share = (SECONDS * 2) / ((performance.now() - beganAt) / 1000);
  return { microsecondsPerRequest: ((cpuSeconds(target.pid) - before) * share * 1e6) / requests, requests, failures };
}

/** Resident memory under one fixed load, and how fast it still grows in the second half of it. */
async function memoryOf({ pid, ...target }: Target) {
  if (pid === undefined) return {};
  const seconds = Number(options["memory-seconds"]);
  const samples: { atSeconds: number; megabytes: number }[] = [];
  const beganAt = performance.now();
  const timer = setInterval(() => {
    samples.push({ atSeconds: (performance.now() - beganAt) / 1000, megabytes: residentMegabytes(pid) });
  }, 500);
  await attempt(target, MEMORY_CONNECTIONS, seconds);
  clearInterval(timer);
  const late = samples.slice(Math.floor(samples.length / 2));
  const loaded = late.at(-1)?.megabytes;
  await delay(12_000);
  return { loaded, growthMegabytesPerMinute: 60 * slope(late), recovered: residentMegabytes(pid), samples };
}

/** Least squares. */
function slope(samples: readonly { atSeconds: number; megabytes: number }[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(samples.map(({ atSeconds }) => atSeconds));
  const y = mean(samples.map(({ megabytes }) => megabytes));
  const above = samples.reduce((sum, each) => sum + (each.atSeconds - x) * (each.megabytes - y), 0);
  return above / samples.reduce((sum, each) => sum + (each.atSeconds - x) ** 2, 0);
}

async function attempt(
  { port, model, headers }: Target,
  connections: number,
  seconds: number,
  isStream = false,
): Promise<LoadResult> {
  const file = join(work, "body.json");
  writeFileSync(file, body(model, isStream));
  const args = [String(port), "/v1/chat/completions", String(connections), String(seconds), "--body", file];
  for (const [name, value] of Object.entries(headers)) args.push("--header", `${name}: ${value}`);
  if (isStream) args.push("--frames", String(FRAMES), "--stall-ms", String(STALL_MS));
  const child = spawn("taskset", ["-c", options["rig-cores"], load, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const output = (await child.stdout.setEncoding("utf8").toArray()).join("");
  if (output === "") throw new Error(`the load generator failed with ${connections} connections`);
  return JSON.parse(output);
}

function body(model: string, stream: boolean): string {
  const messages = [{ role: "user", content: "Count to sixty-four, one token at a time, please." }];
  return JSON.stringify({ model, messages, max_tokens: 64, ...(stream && { stream }) });
}

function summary(result: Awaited<ReturnType<typeof board>>, direct: Measured): object {
  if (!result.served) return { name: result.name, served: false, reason: result.reason };
  const whole = (value: number | undefined) => (value === undefined ? null : Math.round(value));
  const clean = result.streamRungs.filter(({ failures, stalls }) => failures === 0 && stalls === 0);
  return {
    name: result.name,
    version: result.version,
    addedP50Us: whole((result.alone.latency?.p50 ?? 0) - (direct.alone.latency?.p50 ?? 0)),
    addedP99Us: whole((result.alone.latency?.p99 ?? 0) - (direct.alone.latency?.p99 ?? 0)),
    perSecond: Object.fromEntries(
      Object.entries(result.frontier).map(([bound, { perSecond }]) => [bound, whole(perSecond)]),
    ),
    cpuUs: whole(result.cpu?.microsecondsPerRequest),
    addedFirstTokenUs: whole((result.stream.firstFrame?.p50 ?? 0) - (direct.stream.firstFrame?.p50 ?? 0)),
    addedGapP99Us: whole((result.stream.gap?.p99 ?? 0) - (direct.stream.gap?.p99 ?? 0)),
    cleanStreams: Math.max(0, ...clean.map(({ connections }) => connections)),
    megabytes: [result.memory.idle, result.memory.loaded, result.memory.recovered].map(whole),
    growthMegabytesPerMinute: Number(result.memory.growthMegabytesPerMinute?.toFixed(1)),
    mockBound: result.mockBound,
  };
}

function report(): object {
  const machine = { model: cpus()[0]?.model, cores: availableParallelism(), node: process.version, load: loadavg() };
  const commit = spawnSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).stdout.trim();
  return { date: new Date().toISOString(), commit, machine, options, rejected, results };
}

function compile(name: string): string {
  const binary = join(work, name);
  execFileSync("cc", ["-O2", "-o", binary, join(import.meta.dirname, `${name}.c`)], { stdio: "inherit" });
  return binary;
}

function numbers(list: string): number[] {
  return list.split(",").map(Number);
}

/** Number of cores in a list for taskset, such as `0-3,6`. */
function coreCount(list: string): number {
  return list.split(",").reduce((sum, part) => {
    const [first = 0, last = first] = part.split("-").map(Number);
    return sum + last - first + 1;
  }, 0);
}
