import type { Counters } from "../../../src/counters/counters.ts";
import { Channel } from "../../../src/workers/channel.ts";
import type { OwnerMethods } from "../../../src/workers/protocol.ts";
import { WorkerCounters } from "../../../src/workers/worker-counters.ts";
import { WorkerReservations } from "../../../src/workers/worker-reservations.ts";
import { linkedPorts } from "./linked-ports.ts";

/** Counters of a worker whose owner counts with these. */
export function workerOf(counters: Counters): WorkerCounters {
  const reservations = new WorkerReservations(counters);
  const [owner, worker] = linkedPorts();
  new Channel(owner, {
    take: (id, claims) => reservations.take(id, claims),
    settle: (id, corrections) => reservations.settle(id, corrections),
    raise: (key, windowSeconds, amount) => counters.raise(key, windowSeconds, amount),
  });
  return new WorkerCounters(new Channel<OwnerMethods>(worker, {}));
}
