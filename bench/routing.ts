/**
 * Overhead of Parlance between a client and an upstream. `node bench/routing.ts [seconds]`; with `--workers 1,2,4`, of
 * one process and several instead.
 *
 * Runs the same clients against the same mock upstream directly and through nginx, a bare Fastify + undici proxy, and
 * Parlance with keys, routing, usage, metrics and logging. All share the machine and run by turns, so only the ratios can
 * be compared with other machines.
 */

import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Contender, forked, nginx, parlance } from "./routing/contenders.ts";
import { type Measured, measure } from "./routing/load.ts";
import { measurePaced } from "./routing/paced.ts";
import { compareWorkers } from "./routing/workers.ts";
import { median } from "./timing.ts";

const { values: given, positionals } = parseArgs({ options: { workers: { type: "string" } }, allowPositionals: true });
const SECONDS = Number(positionals[0] ?? 1);
const ROUNDS = 9;
const PACED_STREAMS = 512;
/** V8 releases memory when the process is idle. */
const IDLE_SECONDS = 30;
/** V8 needs about ten thousand requests to finish optimizing. */
const WARM_UP_SECONDS = 6;

if (given.workers !== undefined) {
  await compareWorkers(given.workers.split(",").map(Number), SECONDS);
  process.exit();
}

const upstream = await forked("straight", "upstream.ts");
const contenders: Contender[] = [upstream];
const reference = await nginx(upstream.origin);
if (reference === undefined)
  console.log("Skipped nginx: not installed (set NGINX to its binary); ratios are relative to the bare proxy");
else contenders.push(reference);
contenders.push(await forked("Fastify + undici", "bare-proxy.ts", upstream.origin), await parlance(upstream.origin));

try {
  console.log(
    `${cpus().length} cores, Node ${process.version}, ${ROUNDS} rounds of ${SECONDS} s, the median of each\n`,
  );
  for (const contender of contenders) {
    for (const stream of [false, true]) await measure(contender, { stream, connections: 32, seconds: WARM_UP_SECONDS });
  }
  for (const stream of [false, true]) for (const connections of [1, 32, 128]) await compare(stream, connections);
  await pace();
  const held = residentMegabytes(contenders.at(-1));
  await setTimeout(IDLE_SECONDS * 1000);
  const idle = residentMegabytes(contenders.at(-1));
  console.log(`Parlance holds ${held} MB right after the run and ${idle} MB ${IDLE_SECONDS} s later`);
} finally {
  for (const each of contenders.reverse()) await each.stop();
}

async function compare(stream: boolean, connections: number): Promise<void> {
  const rounds = new Map<string, Measured[]>(contenders.map(({ name }) => [name, []]));
  for (const contender of contenders) await measure(contender, { stream, connections, seconds: 1 });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const contender of contenders) {
      rounds.get(contender.name)?.push(await measure(contender, { stream, connections, seconds: SECONDS }));
    }
  }
  const valuesOf = (name: string, key: keyof Measured) => (rounds.get(name) ?? []).map((each) => each[key]);
  const medianOf = (name: string, key: keyof Measured) => median(valuesOf(name, key));
  // Ratios within each round, since the machine's other load changes between rounds.
  const ones = valuesOf(reference?.name ?? "Fastify + undici", "perSecond");
  const ratioOf = (name: string) => median(valuesOf(name, "perSecond").map((rate, round) => rate / (ones[round] ?? 1)));
  console.log(`${stream ? "64 events" : "not streamed"}, ${connections} connection${connections === 1 ? "" : "s"}`);
  console.log("                    requests/s   ratio   p50 ms   p99 ms   added p50   added p99   CPU us/request");
  for (const { name } of contenders) {
    const [rate, p50, p99] = (["perSecond", "p50Milliseconds", "p99Milliseconds"] as const).map((key) =>
      medianOf(name, key),
    ) as [number, number, number];
    const added = [p50 - medianOf("straight", "p50Milliseconds"), p99 - medianOf("straight", "p99Milliseconds")];
    const cells = [
      rate.toFixed(0).padStart(10),
      ratioOf(name).toFixed(2).padStart(8),
      p50.toFixed(2).padStart(9),
      p99.toFixed(2).padStart(9),
    ];
    console.log(
      name.padEnd(20) +
        cells.join("") +
        added.map((each) => each.toFixed(2).padStart(12)).join("") +
        medianOf(name, "cpuMicroseconds").toFixed(0).padStart(17),
    );
  }
  console.log();
}

async function pace(): Promise<void> {
  console.log(`${PACED_STREAMS} streams of one event each 20 ms`);
  for (const contender of contenders) {
    const { arrived, expected, p50Milliseconds, p99Milliseconds, lastMs } = await measurePaced(
      contender,
      PACED_STREAMS,
    );
    const late = [p50Milliseconds, p99Milliseconds, lastMs].map((each) => each.toFixed(0)).join(" / ");
    console.log(`${contender.name.padEnd(20)}${arrived} of ${expected} arrived, late by ${late} ms (p50 / p99 / last)`);
  }
  console.log();
}

function residentMegabytes(contender: Contender | undefined): number {
  const status = readFileSync(`/proc/${contender?.pid}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024);
}
