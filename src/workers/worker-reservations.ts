/** Reservations of one worker in the owner's counters, which are released when the worker ends. */

import type { Correction, CounterClaim, Counters, Taken, TakenReservation } from "../counters/counters.ts";
import type { OwnerTaken } from "./protocol.ts";

export class WorkerReservations {
  readonly #counters: Counters;
  readonly #open = new Map<string, { reservation: TakenReservation; claims: readonly CounterClaim[] }>();
  #hasEnded = false;

  constructor(counters: Counters) {
    this.#counters = counters;
  }

  /** `id`: the worker's name for the reservation. */
  async take(id: string, claims: readonly CounterClaim[]): Promise<OwnerTaken> {
    const outcome: Taken = await this.#counters.take(claims);
    const reserved = claims.filter(({ isReserved }) => isReserved);
    if (outcome.granted && reserved.length > 0) {
      this.#open.set(id, { reservation: outcome.reservation, claims: reserved });
      if (this.#hasEnded) await this.release();
    }
    return { ...outcome, generation: this.#counters.generation };
  }

  async settle(id: string, corrections: readonly Correction[]): Promise<void> {
    const open = this.#open.get(id);
    this.#open.delete(id);
    if (open !== undefined) await this.#counters.settle(open.reservation, corrections);
  }

  /** Releases what the worker has not settled, and what it takes from now on. */
  async release(): Promise<void> {
    this.#hasEnded = true;
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const { reservation, claims } of open) {
      const released = claims.map((claim) => ({ ...claim, difference: -claim.amount }));
      await this.#counters.settle(reservation, released);
    }
  }
}
