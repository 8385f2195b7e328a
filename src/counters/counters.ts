/** Shared counts for quota: how much of each limit is in use within a moving window. */
export interface Counters {
  /** Changes when earlier counts may be lost: what counts for longer than a window has to be begun anew. */
  readonly epoch: string;
  readonly state: CountersState;
  /**
   * Takes `amount` from every limit named, or from none when one of them lacks room.
   * Amounts are whole numbers in the limit's own unit (requests, tokens, nano-dollars).
   */
  take(claims: readonly Claim[]): Promise<Taken>;
  /**
   * Ends a reservation, exactly once: each difference (negative gives back) belongs to the moment of its `take`, so that
   * nothing changes once that has left the window. Only claims that were held can be corrected.
   */
  settle(reservation: TakenReservation, corrections: readonly Correction[]): Promise<void>;
  /** Counts what was used before this limit was counted; in an epoch only the first `begin` of a key's window does. */
  begin(key: string, windowSeconds: number, amount: number): Promise<void>;
  close(): Promise<void>;
}

export interface CountersState {
  /** Undefined: there is no store to share them in. */
  isShared: boolean | undefined;
  /** As last seen, this one included. */
  replicas: number;
}

export interface Claim {
  key: string;
  amount: number;
  limit: number;
  windowSeconds: number;
  /** To be settled: given back as a whole when the process that took it dies before. */
  isHeld: boolean;
}

export interface Correction {
  key: string;
  windowSeconds: number;
  /** As it was claimed. */
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
  /** `key` is the limit that lacks room longest; `retryAfterSeconds` is when enough of it will have left the window. */
  | { granted: false; key: string; retryAfterSeconds: number; used: Used };

type Used = Readonly<Record<string, number>>;
