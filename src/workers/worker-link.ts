/** One worker as the owner knows it: what it asks for, what it holds, and how it ends. */

import type { Worker } from "node:cluster";
import type { Counters } from "../counters/counters.ts";
import type { ConnectionCounter } from "../http/connections.ts";
import type { MetricsSnapshot } from "../observability/metrics-snapshot.ts";
import { Channel, type Message } from "./channel.ts";
import type { OwnerServices } from "./owner-services.ts";
import type { OwnerMethods, WorkerMethods } from "./protocol.ts";
import { WorkerReservations } from "./worker-reservations.ts";

export class WorkerLink {
  readonly channel: Channel<WorkerMethods>;
  readonly worker: Worker;
  /** Deployments whose circuit is open in this worker. */
  openCircuits: readonly string[] = [];
  /** As last measured. */
  metrics: MetricsSnapshot = [];
  readonly #reservations: WorkerReservations;
  readonly #connections: ConnectionCounter;
  readonly #addresses = new Map<string, number>();

  constructor(worker: Worker, services: OwnerServices, counters: Counters, connections: ConnectionCounter) {
    this.worker = worker;
    this.#reservations = new WorkerReservations(counters);
    this.#connections = connections;
    const port = {
      send: (messages: readonly Message[]) => {
        if (worker.isConnected()) worker.send(messages as Message[], ignoreEndedWorker);
      },
      onMessages: (receive: (messages: readonly Message[]) => void) => void worker.on("message", receive),
    };
    this.channel = new Channel(port, this.#methodsFor(services));
  }

  /** Releases what the worker held. Called once everything that it sent has arrived. */
  async ended(): Promise<void> {
    this.channel.close();
    for (const [address, count] of this.#addresses) {
      for (let each = 0; each < count; each += 1) this.#connections.close(address);
    }
    this.#addresses.clear();
    await this.#reservations.release();
  }

  #methodsFor(services: OwnerServices): OwnerMethods {
    return {
      ...services.methods,
      take: (id, claims) => this.#reservations.take(id, claims),
      settle: (id, corrections) => this.#reservations.settle(id, corrections),
      noteOpenCircuits: (deployments) => {
        this.openCircuits = deployments;
      },
      openConnection: (address) => {
        const isAdmitted = this.#connections.open(address) === true;
        if (isAdmitted) this.#addresses.set(address, (this.#addresses.get(address) ?? 0) + 1);
        return isAdmitted;
      },
      closeConnection: (address) => {
        this.#connections.close(address);
        this.#addresses.set(address, (this.#addresses.get(address) ?? 1) - 1);
      },
    };
  }
}

/** A worker that ends while it is sent a message ends with its `exit`, too. */
function ignoreEndedWorker(): void {}
