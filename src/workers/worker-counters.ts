/** Counters of a worker, which the owner keeps for all of them. */

import type {
  Correction,
  CounterClaim,
  Counters,
  CountersState,
  Taken,
  TakenReservation,
} from "../counters/counters.ts";
import type { Channel } from "./channel.ts";
import type { OwnerMethods } from "./protocol.ts";

export class WorkerCounters implements Counters {
  readonly #owner: Pick<Channel<OwnerMethods>, "call" | "notify">;
  #generation = 0;
  #reservations = 0;

  constructor(owner: Pick<Channel<OwnerMethods>, "call" | "notify">) {
    this.#owner = owner;
  }

  /** As the owner said at the last `take`. */
  get generation(): number {
    return this.#generation;
  }

  /** The owner reports the state. */
  readonly state: CountersState = { isShared: undefined, replicas: 1 };

  async take(claims: readonly CounterClaim[]): Promise<Taken> {
    this.#reservations += 1;
    const id = String(this.#reservations);
    const bare = claims.map(({ key, amount, limit, windowSeconds, isReserved }) => {
      return { key, amount, limit, windowSeconds, isReserved };
    });
    const { generation, ...taken } = await this.#owner.call("take", id, bare);
    this.#generation = generation;
    return taken.granted ? { ...taken, reservation: { id, takenAt: taken.reservation.takenAt } } : taken;
  }

  /** Messages arrive in order, so what the owner counts next includes this. */
  async settle({ id }: TakenReservation, corrections: readonly Correction[]): Promise<void> {
    const bare = corrections.map(({ key, windowSeconds, amount, difference }) => {
      return { key, windowSeconds, amount, difference };
    });
    this.#owner.notify("settle", id, bare);
  }

  raise(key: string, windowSeconds: number, amount: number): Promise<void> {
    return this.#owner.call("raise", key, windowSeconds, amount);
  }

  /** The owner records what they cost, after it has received them. */
  async settled(): Promise<void> {}

  async close(): Promise<void> {}
}
