/** Limits of one scope; undefined: unlimited. */
export interface Limits {
  requestsPerMinute?: number | undefined;
  requestsPerDay?: number | undefined;
  tokensPerMinute?: number | undefined;
  /** In units of 1,000,000 bytes, as uploaded. */
  audioMegabytesPerMinute?: number | undefined;
  imagesPerMinute?: number | undefined;
  concurrentRequests?: number | undefined;
}

/** A scope whose usage is counted together. */
export interface LimitedScope {
  /** Shown in messages. */
  name: string;
  key: string;
  limits: Limits;
}
