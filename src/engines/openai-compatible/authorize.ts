/** Credentials that change: headers for one request, whose `url` is complete. Throws a Fault. */
export type Authorize = (
  request: { url: string; body: string },
  signal: AbortSignal,
) => Promise<Record<string, string>>;
