/** Store in which replicas share counters. Methods throw when it is unavailable; times are milliseconds on its clock. */

import type { Correction, CounterClaim, TakenReservation } from "./counters.ts";
import type { Slice } from "./moving-window.ts";

export interface CounterStore {
  /** Shown in log messages. */
  readonly name: string;
  /**
   * Connects and installs the scripts or functions. `onLost` is called when the connection breaks, with which the store
   * may have lost its counts.
   */
  open(onLost: (error: Error) => void): Promise<Opened>;
  /**
   * Replaces the recorded usage of a replica in these parts of windows, and forgets its open reservations, which are a
   * part of it, until it joins.
   */
  restore(replica: string, windows: readonly WindowSnapshot[]): Promise<void>;
  /**
   * Registers a replica as a member, with exactly these open reservations, and keeps `share` from the others until it
   * joins again, leaves, or its lease expires.
   */
  join(replica: string, reserved: readonly OpenReservation[], share: readonly ReservedAmount[]): Promise<void>;
  /** Renews a replica's lease and releases the reservations of replicas whose lease expired. */
  heartbeat(replica: string): Promise<Heartbeat>;
  /** Returns undefined when the replica is not a member: it never joined, its lease expired, or the data was lost. */
  take(replica: string, id: string, claims: readonly CounterClaim[]): Promise<StoreTaken | undefined>;
  settle(replica: string, reservation: TakenReservation, corrections: readonly Correction[]): Promise<void>;
  begin(key: string, windowSeconds: number, amount: number): Promise<void>;
  /** Releases its open reservations. */
  leave(replica: string): Promise<void>;
  close(): Promise<void>;
}

/** A replica without a heartbeat for this long is considered dead, and its reservations are released. */
export const LEASE_MS = 10_000;

export interface Opened {
  now: number;
  /** Identifies the stored counts; changes when they are lost. */
  epoch: string;
}

export interface Heartbeat {
  now: number;
  /** False: as for `take`. */
  isMember: boolean;
  /** Time of each live replica's last heartbeat. */
  replicas: ReadonlyMap<string, number>;
}

export interface WindowSnapshot {
  key: string;
  windowSeconds: number;
  /** Number of the slice with which the snapshot begins: older ones stay as they are. */
  from: number;
  slices: readonly Slice[];
}

export interface OpenReservation {
  id: string;
  claims: readonly ReservedAmount[];
}

export interface ReservedAmount {
  key: string;
  windowSeconds: number;
  amount: number;
  sliceNumber: number;
}

export interface StoreTaken {
  now: number;
  /** Amounts in the order of the claims. */
  used: readonly number[];
  /** Undefined: granted. */
  refusal: { index: number; retryAfterSeconds: number } | undefined;
}
