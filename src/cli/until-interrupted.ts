/** Runs `work` until Ctrl-C or SIGTERM aborts its signal, which ends it without a failure: what it began is ended, too. */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    await work(interruption.signal);
  } catch (failure) {
    if (!interruption.signal.aborted) throw failure;
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}
