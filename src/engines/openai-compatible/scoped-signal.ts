/**
 * Does work with a signal that aborts when `signal` does and is gone with the work: what listens to one that lasts longer
 * is kept for as long, and so is what listens to an `AbortSignal.any` of it.
 */
export async function withScopedSignal<Result>(
  signal: AbortSignal,
  work: (own: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const own = new AbortController();
  const abort = () => own.abort(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    return await work(own.signal);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
