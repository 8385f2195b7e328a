/** A child process with many upstreams. */

import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";

export type FleetCommand =
  | { do: "start" }
  | { do: "kill"; port: number }
  /** Says that it gets no new requests. */
  | { do: "drain"; port: number }
  /** Multiplies all of its times. */
  | { do: "slow"; port: number; factor: number }
  /** Returns the counts since the last time. */
  | { do: "stats" };

export interface FleetReply {
  port?: number;
  stats?: FleetStats;
}

export interface FleetStats {
  requests: number;
  promptTokens: number;
  cachedTokens: number;
  /** Second and later turns of conversations, and those whose history was cached. */
  laterTurns: number;
  cachedTurns: number;
  /** Requests that began on an upstream beyond its bound. */
  beyondBound: number;
  /** Most running requests of one upstream. */
  highestRunning: number;
}

export class UpstreamFleet {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL("./upstream-fleet-child.ts", import.meta.url)));
  readonly #replies = new Map<number, (reply: FleetReply) => void>();
  #ids = 0;

  constructor() {
    this.#child.on("message", ({ id, ...reply }: FleetReply & { id: number }) => {
      this.#replies.get(id)?.(reply);
      this.#replies.delete(id);
    });
  }

  async start(): Promise<number> {
    return (await this.#send({ do: "start" })).port ?? 0;
  }

  async kill(port: number): Promise<void> {
    await this.#send({ do: "kill", port });
  }

  async drain(port: number): Promise<void> {
    await this.#send({ do: "drain", port });
  }

  async slow(port: number, factor: number): Promise<void> {
    await this.#send({ do: "slow", port, factor });
  }

  async stats(): Promise<FleetStats> {
    const { stats } = await this.#send({ do: "stats" });
    if (stats === undefined) throw new Error("no statistics");
    return stats;
  }

  close(): void {
    this.#child.disconnect();
  }

  #send(command: FleetCommand): Promise<FleetReply> {
    this.#ids += 1;
    const id = this.#ids;
    return new Promise((resolve) => {
      this.#replies.set(id, resolve);
      this.#child.send({ id, ...command });
    });
  }
}
