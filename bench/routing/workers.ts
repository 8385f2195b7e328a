/**
 * Answers per second with several workers, beside what the cores allow. `node bench/routing.ts --workers 1,2,4`
 *
 * Mock, clients and Parlance share the cores, so these allow at most `cores / (CPU time of all three for a request)`.
 */

import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { median } from "../timing.ts";
import { type Contender, forked, parlance } from "./contenders.ts";
import { childrenOf, cpuSecondsOf, measure } from "./load.ts";

const ROUNDS = 5;
const CONNECTIONS = 64;
/** V8 needs about ten thousand requests to finish optimizing, in each process. */
const WARM_UP_SECONDS = 9;

interface Round {
  perSecond: number;
  /** CPU time of a request in microseconds: of the owner, of the workers, of the mock and of the clients. */
  owner: number;
  workers: number;
  mock: number;
  clients: number;
}

export async function compareWorkers(counts: readonly number[], seconds: number): Promise<void> {
  const upstream = await forked("straight", "upstream.ts");
  const contenders: Contender[] = [];
  try {
    for (const workers of counts) contenders.push(await parlance(upstream.origin, workers));
    console.log(
      `${cpus().length} cores, Node ${process.version}, ${CONNECTIONS} connections, medians of ${ROUNDS} rounds`,
    );
    for (const stream of [false, true]) {
      const load = { stream, connections: CONNECTIONS };
      const warming = contenders.map((each, index) => ({
        each,
        seconds: (stream ? 0.5 : 1) * WARM_UP_SECONDS * Math.min(2, counts[index] ?? 1),
      }));
      for (const { each, seconds: own } of warming) await measure(each, { ...load, seconds: own });
      const rounds = contenders.map((): Round[] => []);
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [index, each] of contenders.entries()) {
          rounds[index]?.push(await measureAll(each, upstream, { ...load, seconds }));
        }
      }
      report(stream, counts, rounds);
    }
    for (const [index, { pid }] of contenders.entries()) {
      const workers = childrenOf(pid).map(memoryOf).join(", ");
      console.log(`${counts[index]}: ${memoryOf(pid)}${workers === "" ? "" : `; workers: ${workers}`}`);
    }
  } finally {
    for (const each of [upstream, ...contenders].reverse()) await each.stop();
  }
}

async function measureAll(
  contender: Contender,
  upstream: Contender,
  load: Parameters<typeof measure>[1],
): Promise<Round> {
  const read = () => ({
    workers: childrenOf(contender.pid).reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
    mock: cpuSecondsOf(upstream.pid),
  });
  const before = read();
  const clientsBefore = process.cpuUsage();
  const { perSecond, requests, cpuMicroseconds } = await measure(contender, load);
  const { user, system } = process.cpuUsage(clientsBefore);
  const after = read();
  const workers = ((after.workers - before.workers) * 1e6) / requests;
  return {
    perSecond,
    workers,
    owner: cpuMicroseconds - workers,
    mock: ((after.mock - before.mock) * 1e6) / requests,
    clients: (user + system) / requests,
  };
}

function report(stream: boolean, counts: readonly number[], rounds: readonly Round[][]): void {
  console.log(`\n${stream ? "64 events" : "not streamed"}`);
  console.log("workers   answers/s   of one process   allowed/s   ratio   CPU us: owner  workers  mock  clients");
  for (const [index, workers] of counts.entries()) {
    const own = rounds[index] ?? [];
    const of = (value: (round: Round) => number) => median(own.map(value));
    const allowed = (each: Round) => (cpus().length * 1e6) / (each.owner + each.workers + each.mock + each.clients);
    const ofOne = median(own.map((each, round) => each.perSecond / (rounds[0]?.[round]?.perSecond ?? 1)));
    const cells = [
      of((each) => each.perSecond)
        .toFixed(0)
        .padStart(16),
      ofOne.toFixed(2).padStart(17),
      of(allowed).toFixed(0).padStart(12),
      of((each) => each.perSecond / allowed(each))
        .toFixed(2)
        .padStart(8),
      of((each) => each.owner)
        .toFixed(0)
        .padStart(16),
      of((each) => each.workers)
        .toFixed(0)
        .padStart(9),
      of((each) => each.mock)
        .toFixed(0)
        .padStart(6),
      of((each) => each.clients)
        .toFixed(0)
        .padStart(9),
    ];
    console.log(String(workers).padEnd(3) + cells.join(""));
  }
}

/** Resident memory, and the part of it that the process adds: shared pages count by their share. */
function memoryOf(pid: number | undefined): string {
  const status = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
  const [resident, proportional] = ["Rss", "Pss"].map((name) => {
    const [, kilobytes] = new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status) ?? [];
    return Math.round(Number(kilobytes) / 1024);
  });
  return `${proportional} MB (resident ${resident})`;
}
