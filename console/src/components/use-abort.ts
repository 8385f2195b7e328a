import { useEffect, useMemo } from "react";

interface Abort {
  /** Aborts the last call. Returns the signal of the next one. */
  next(): AbortSignal;
  abort(): void;
}

/** Aborts a component's call to the service when another one takes its place, and when the component leaves the page. */
export function useAbort(): Abort {
  const abort = useMemo(() => {
    let last: AbortController | undefined;
    return {
      next: () => {
        last?.abort();
        last = new AbortController();
        return last.signal;
      },
      abort: () => last?.abort(),
    };
  }, []);
  useEffect(() => abort.abort, [abort]);
  return abort;
}
