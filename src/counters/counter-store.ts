/** Where replicas count together. Everything throws when the store is away; times are milliseconds on its clock. */

import type { Claim, Correction, TakenReservation } from "./counters.ts";
import type { Slice } from "./moving-window.ts";

export interface CounterStore {
  /** Names it in messages. */
  readonly name: string;
  /** Called when what was counted may be lost: the connection broke. */
  onLost: (error: Error) => void;
  /** Makes it ready to be used. */
  open(): Promise<Opened>;
  /** Replaces what a replica has used of each window. */
  place(replica: string, windows: readonly PlacedWindow[]): Promise<void>;
  /** Makes a replica one that counts, with these reservations and no others. */
  enter(replica: string, held: readonly HeldReservation[]): Promise<void>;
  /** Says that a replica lives. Gives back what dead ones hold. */
  beat(replica: string): Promise<Beat>;
  /** Undefined when the replica is not one that counts: it never entered, was taken for dead, or the data was lost. */
  take(replica: string, id: string, claims: readonly Claim[]): Promise<StoreTaken | undefined>;
  settle(replica: string, reservation: TakenReservation, corrections: readonly Correction[]): Promise<void>;
  begin(key: string, windowSeconds: number, amount: number): Promise<void>;
  /** Gives back what it still holds. */
  leave(replica: string): Promise<void>;
  close(): Promise<void>;
}

/** A replica that was not heard of for this long is taken for dead, and what it holds is given back. */
export const LEASE_MILLISECONDS = 10_000;

export interface Opened {
  now: number;
  /** Names the data, as long as they are not lost. */
  epoch: string;
}

export interface Beat {
  now: number;
  /** False: as for `take`. */
  isMember: boolean;
  /** When each was last heard of; without those taken for dead. */
  replicas: ReadonlyMap<string, number>;
}

export interface PlacedWindow {
  key: string;
  windowSeconds: number;
  slices: readonly Slice[];
}

export interface HeldReservation {
  id: string;
  claims: readonly { key: string; windowSeconds: number; amount: number; sliceNumber: number }[];
}

export interface StoreTaken {
  now: number;
  /** In the order of the claims. */
  used: readonly number[];
  /** Undefined: granted. */
  refusal: { index: number; retryAfterSeconds: number } | undefined;
}
