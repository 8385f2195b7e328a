/**
 * Runs work with a signal that aborts when `signal` does and is released after it. Listeners on a longer-lived signal,
 * and on an `AbortSignal.any` of it, would be kept as long as that signal.
 */
export async function withScopedSignal<Result>(
  signal: AbortSignal,
  work: (own: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    return await work(controller.signal);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
