/** The replicas that count together, as this one knows them. */

import { randomUUID } from "node:crypto";
import type { Heartbeat } from "./counter-store.ts";
import type { Share } from "./local-usage.ts";

/** Number of replicas, kept where it outlasts the store: for one that starts while the store is unavailable. */
export interface ReplicaCount {
  read(): Promise<number>;
  write(replicas: number): Promise<void>;
}

export class ReplicaSet {
  /** This replica. */
  readonly id: string = randomUUID();
  readonly #count: ReplicaCount | undefined;
  #ids: readonly string[] = [this.id];
  /** Replicas to expect until the store has counted them. */
  #expected = 1;

  constructor(count: ReplicaCount | undefined) {
    this.#count = count;
  }

  get size(): number {
    return this.#ids.length;
  }

  get others(): string[] {
    return this.#ids.filter((id) => id !== this.id);
  }

  /** Part of each limit that this replica enforces alone: the smallest one until it has joined the others. */
  get share(): Share {
    const replicas = Math.max(this.size, this.#expected);
    return { replicas, rank: replicas - this.size + this.#ids.indexOf(this.id) };
  }

  /** Reads how many replicas there were. Without the database, requests of unknown keys are refused anyway. */
  async readExpected(): Promise<void> {
    const before = await this.#count?.read().catch(() => 1);
    this.#expected = Math.max(1, before ?? 1);
  }

  update({ replicas }: Heartbeat): void {
    const before = this.#expected;
    this.#ids = [...new Set([...replicas.keys(), this.id])].sort();
    this.#expected = this.size;
    if (this.size !== before) void this.#count?.write(this.size).catch(() => {});
  }
}
