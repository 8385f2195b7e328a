/** Shared counts for quota: how much of each limit is in use within a moving window. */
export interface Counters {
  /**
   * Takes `amount` from every limit named, or from none when one of them lacks room.
   * Amounts are whole numbers in the limit's own unit (requests, tokens, nano-dollars).
   */
  take(claims: readonly Claim[]): Promise<Taken>;
  /** Corrects what an earlier `take` claimed by `difference` (negative gives back), within the same window. */
  adjust(key: string, difference: number, windowSeconds: number): Promise<void>;
  close(): Promise<void>;
}

export interface Claim {
  key: string;
  amount: number;
  limit: number;
  windowSeconds: number;
}

export type Taken =
  | { granted: true; used: Readonly<Record<string, number>> }
  /** `key` is the limit that lacked room; `retryAfterSeconds` is when enough of it will have left the window. */
  | { granted: false; key: string; used: number; retryAfterSeconds: number };
