/** Reservations of a process that it has not settled. */

import type { CounterClaim, TakenReservation } from "./counters.ts";

type WindowName = Pick<CounterClaim, "key" | "windowSeconds">;

export class OpenReservations {
  readonly #byId: Map<string, { takenAt: number; claims: readonly CounterClaim[] }> = new Map();
  readonly #sums: Map<string, number> = new Map();

  add({ id, takenAt }: TakenReservation, claims: readonly CounterClaim[]): void {
    const reserved = claims.filter(({ isReserved }) => isReserved);
    if (reserved.length === 0) return;
    this.#byId.set(id, { takenAt, claims: reserved });
    for (const claim of reserved) this.#addTo(claim, claim.amount);
  }

  delete(id: string): void {
    const { claims = [] } = this.#byId.get(id) ?? {};
    this.#byId.delete(id);
    for (const claim of claims) this.#addTo(claim, -claim.amount);
  }

  /** What they hold of a window. */
  sum(name: WindowName): number {
    return this.#sums.get(idOf(name)) ?? 0;
  }

  entries(): { id: string; takenAt: number; claims: readonly CounterClaim[] }[] {
    return [...this.#byId].map(([id, each]) => ({ id, ...each }));
  }

  #addTo(name: WindowName, amount: number): void {
    const sum = this.sum(name) + amount;
    if (sum === 0) this.#sums.delete(idOf(name));
    else this.#sums.set(idOf(name), sum);
  }
}

function idOf({ key, windowSeconds }: WindowName): string {
  return `${windowSeconds} ${key}`;
}
