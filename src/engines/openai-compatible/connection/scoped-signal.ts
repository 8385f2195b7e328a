/**
 * Runs work with a signal that aborts when `signal` does and is released after it. Listeners on a longer-lived signal,
 * and on an `AbortSignal.any` of it, would be kept as long as that signal.
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
