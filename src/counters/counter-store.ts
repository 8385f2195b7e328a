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
  /** Registers a replica that restores its usage. The others wait for it. */
  announce(replica: string): Promise<void>;
  /**
   * Replaces what a replica has used in these parts of windows. What it brings back, records may have stood in for (see
   * `raise`): their part becomes less by as much.
   */
  restore(replica: string, windows: readonly WindowSnapshot[]): Promise<void>;
  /** Returns `joins` of the next heartbeats; undefined: the counts have been lost since `open`. */
  join(replica: string, joining: Joining): Promise<number | undefined>;
  /** Renews a replica's lease and releases the reservations of replicas whose lease expired. */
  heartbeat(replica: string): Promise<Heartbeat>;
  /** Returns undefined when the replica does not share: it never joined, its lease expired, or the data was lost. */
  take(replica: string, id: string, claims: readonly CounterClaim[]): Promise<StoreTaken | undefined>;
  settle(replica: string, reservation: TakenReservation, corrections: readonly Correction[]): Promise<void>;
  /** Counts what a window lacks to this amount, without what is reserved. */
  raise(key: string, windowSeconds: number, amount: number): Promise<void>;
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

export interface Joining {
  /** `restored`: it waits for the others. `sharing`: it counts with them. */
  state: "restored" | "sharing";
  /** As `open` has said. */
  epoch: string;
  /** Whether it has counted alone. Once it shares, the others see it by `joins`. */
  hasCounted: boolean;
  /** Exactly the open reservations of the replica, which are a part of what it has used. */
  reserved: readonly OpenReservation[];
  /** Kept from the others until it joins again, leaves, or its lease expires. */
  share: readonly ReservedAmount[];
}

export interface Heartbeat {
  now: number;
  /** Changes when a replica that had counted alone shares again: what records stood in for may have changed. */
  joins: number;
  /** Those whose lease has not expired. */
  replicas: ReadonlyMap<string, { state: "restoring" | Joining["state"]; seenAt: number }>;
}

export interface WindowSnapshot {
  key: string;
  windowSeconds: number;
  /** Number of the slice with which the snapshot begins: older ones stay as they are. */
  from: number;
  slices: readonly Slice[];
  /** Part of what it has used that is only reserved. */
  reserved: number;
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
