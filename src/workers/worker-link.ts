/** One worker as the owner knows it: what it asks for, what it holds, and how it ends. */

import type { Worker } from "node:cluster";
import type { Counters } from "../counters/counters.ts";
import type { AddressCounts } from "../http/connections.ts";
import type { MetricsSnapshot } from "../observability/metrics-snapshot.ts";
import { Channel, type Message } from "./channel.ts";
import type { OwnerServices } from "./owner-services.ts";
import type { OwnerMethods, WorkerMethods } from "./protocol.ts";
import { WorkerConnections } from "./worker-connections.ts";
import { WorkerReservations } from "./worker-reservations.ts";

export class WorkerLink {
  readonly channel: Channel<WorkerMethods>;
  readonly worker: Worker;
  /** Deployments whose circuit is open in this worker. */
  openCircuits: readonly string[] = [];
  /** As last measured. */
  metrics: MetricsSnapshot = [];
  isListening = false;
  /** Questions since its last answer. */
  unanswered = 0;
  readonly #reservations: WorkerReservations;
  readonly #connections: WorkerConnections;

  constructor(worker: Worker, services: OwnerServices, counters: Counters, connections: AddressCounts) {
    this.worker = worker;
    this.#reservations = new WorkerReservations(counters);
    this.#connections = new WorkerConnections(connections);
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
    this.#connections.release();
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
      openConnection: (address) => this.#connections.open(address),
      closeConnection: (address) => this.#connections.close(address),
    };
  }
}

/** A worker that ends while it is sent a message ends with its `exit`, too. */
function ignoreEndedWorker(): void {}
