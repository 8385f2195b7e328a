/** How much may be used; what is undefined is not limited. */
export interface Limits {
  requestsPerMinute?: number | undefined;
  requestsPerDay?: number | undefined;
  tokensPerMinute?: number | undefined;
  /** Of 1,000,000 bytes, as uploaded. */
  audioMegabytesPerMinute?: number | undefined;
  concurrentRequests?: number | undefined;
}

/** Whose use is counted together. */
export interface LimitedScope {
  /** Names it in messages. */
  name: string;
  key: string;
  limits: Limits;
}
