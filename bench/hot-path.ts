/**
 * CPU time of a request in Parlance as a multiple of a bare Fastify + undici proxy: `node bench/hot-path.ts [seconds]`.
 *
 * All run by turns against one mock upstream. `--before FOLDER` adds another version: a checkout of it with its
 * dependencies installed. A shape whose proxy varies by more than 10 % is measured again.
 */

import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Contender, forked, parlance } from "./routing/contenders.ts";
import { type Load, measure } from "./routing/load.ts";
import { median } from "./timing.ts";

const { values: options, positionals } = parseArgs({
  options: { turns: { type: "string", default: "9" }, before: { type: "string" } },
  allowPositionals: true,
});
const SECONDS = Number(positionals[0] ?? 2);
const TURNS = Number(options.turns);
const CONNECTIONS = 32;
const WARM_UP_SECONDS = 6;
const MAX_SPREAD = 0.1;
const MAX_RUNS = 3;

const SHAPES: Readonly<Record<string, Pick<Load, "stream" | "bodyBytes">>> = {
  "whole answer": { stream: false },
  "64 events": { stream: true },
  "body of 64 KB": { stream: false, bodyBytes: 64_000 },
  "body of 400 KB": { stream: false, bodyBytes: 400_000 },
};

const upstream = await forked("straight", "upstream.ts");
const bare = await forked("Fastify + undici", "bare-proxy.ts", upstream.origin);
const services: Contender[] = [];
if (options.before !== undefined) {
  const before = await parlance(upstream.origin, 1, [], resolve(options.before));
  services.push({ ...before, name: "before" });
}
services.push(await parlance(upstream.origin));
try {
  console.log(
    `${cpus().length} cores, Node ${process.version}, ${TURNS} turns of ${SECONDS} s, ${CONNECTIONS} connections`,
  );
  console.log(
    `                  bare µs (spread)    ${services.map(({ name }) => `${name} µs (spread)   ratio`).join("   ")}`,
  );
  for (const [name, shape] of Object.entries(SHAPES)) console.log(await compare(name, shape));
  for (const service of services) console.log(`${service.name} holds ${residentMegabytes(service)} MB`);
} finally {
  for (const contender of [...services, bare, upstream]) await contender.stop();
}

async function compare(name: string, shape: Pick<Load, "stream" | "bodyBytes">): Promise<string> {
  const cpuOf = async (contender: Contender, seconds: number) =>
    (await measure(contender, { ...shape, connections: CONNECTIONS, seconds })).cpuMicroseconds;
  for (const contender of [bare, ...services]) await cpuOf(contender, WARM_UP_SECONDS);
  for (let run = 1; ; run += 1) {
    const ofBare: number[] = [];
    const ofServices = services.map((): number[] => []);
    for (let turn = 0; turn < TURNS; turn += 1) {
      ofBare.push(await cpuOf(bare, SECONDS));
      for (const [index, service] of services.entries()) ofServices[index]?.push(await cpuOf(service, SECONDS));
    }
    const cells = ofServices.map((values) => `${cell(values)}   ${(median(values) / median(ofBare)).toFixed(2)}`);
    const line = `${name.padEnd(15)}${cell(ofBare)}  ${cells.join("  ")}`;
    if (spread(ofBare) <= MAX_SPREAD) return line;
    console.log(`${line}  rejected: the bare proxy varies`);
    if (run === MAX_RUNS) return `${name.padEnd(15)}no run in which the bare proxy is steady`;
  }
}

function cell(values: readonly number[]): string {
  return `${median(values).toFixed(0)} (${(100 * spread(values)).toFixed(0)} %)`.padStart(19);
}

/** Half the distance between the quartiles, as a share of the median. */
function spread(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
  return (at(0.75) - at(0.25)) / 2 / median(values);
}

function residentMegabytes({ pid }: Contender): number {
  const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kilobytes) / 1024);
}
