/** Shared counts for quota: how much of each limit is in use within a moving window. */
export interface Counters {
  /**
   * Takes `amount` from every limit named, or from none when one of them lacks room.
   * Amounts are whole numbers in the limit's own unit (requests, tokens, nano-dollars).
   */
  take(claims: readonly Claim[]): Promise<Taken>;
  /**
   * Corrects what an earlier `take` claimed by `difference` (negative gives back). It belongs to the moment of that
   * `take`, so that nothing changes once that has left the window.
   */
  adjust(correction: Correction): Promise<void>;
  close(): Promise<void>;
}

export interface Claim {
  key: string;
  amount: number;
  limit: number;
  windowSeconds: number;
}

export interface Correction {
  key: string;
  difference: number;
  windowSeconds: number;
  /** As the `take` that is corrected gave it. */
  takenAt: number;
}

export type Taken =
  /** `used` is by key, this claim included. `takenAt` is in milliseconds, on the counters' own clock. */
  | { granted: true; takenAt: number; used: Readonly<Record<string, number>> }
  /** `key` is the limit that lacks room longest; `retryAfterSeconds` is when enough of it will have left the window. */
  | { granted: false; key: string; used: number; retryAfterSeconds: number };
