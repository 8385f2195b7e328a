/** Sliding-window counters for quota. */
export interface Counters {
  /** Changes when counts may lack what was used: what is recorded elsewhere has to be compared with `raise` again. */
  readonly generation: number;
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
  /**
   * Says what has been used at least, by records; without what is only reserved. A counter that has less counts the rest.
   * Nothing may be recorded before it is settled, or it would count twice.
   */
  raise(key: string, windowSeconds: number, amount: number): Promise<void>;
  /** Resolves once all settlements so far are counted, or the store has failed to. */
  settled(): Promise<unknown>;
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
