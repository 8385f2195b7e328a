/** Sliding-window counters for quota. */
export interface Counters {
  /** Changes when earlier counts may be lost: counters that outlive a window must be initialized again. */
  readonly epoch: string;
  /** Number of the outage in which this replica counts alone; 0 outside of outages. */
  readonly outage: number;
  readonly state: CountersState;
  /**
   * Takes `amount` from every limit named, or from none when one of them lacks room.
   * Amounts are whole numbers in the limit's own unit (requests, tokens, nano-dollars).
   */
  take(claims: readonly CounterClaim[]): Promise<Taken>;
  /**
   * Ends a reservation, exactly once. Each difference (negative releases) applies at the time of its `take`, so it has no
   * effect once that has left the window. Only reserved claims can be corrected.
   */
  settle(reservation: TakenReservation, corrections: readonly Correction[]): Promise<void>;
  /** Initializes a counter with earlier usage. Only the first `begin` of a key and window in an epoch has an effect. */
  begin(key: string, windowSeconds: number, amount: number): Promise<void>;
  /** Says what all replicas have used of a begun counter at least. It bounds this replica's share during an outage. */
  noteUsed(key: string, windowSeconds: number, amount: number): Promise<void>;
  close(): Promise<void>;
}

export interface CountersState {
  /** Undefined: counters are in memory only. */
  isShared: boolean | undefined;
  /** Live replicas at the last heartbeat, this one included. */
  replicas: number;
}

export interface CounterClaim {
  key: string;
  amount: number;
  limit: number;
  windowSeconds: number;
  /** Settled later: released when the process dies before it settles. */
  isReserved: boolean;
}

export interface Correction {
  key: string;
  windowSeconds: number;
  /** Amount that was claimed. */
  amount: number;
  difference: number;
}

export interface TakenReservation {
  id: string;
  /** Milliseconds on the counters' own clock. */
  takenAt: number;
}

export type Taken =
  /** `used` is by key, this claim included. */
  | { granted: true; reservation: TakenReservation; used: Used }
  /** `key` is the limit with the longest wait; `retryAfterSeconds` is when enough of it has left the window. */
  | { granted: false; key: string; retryAfterSeconds: number; used: Used };

type Used = Readonly<Record<string, number>>;
