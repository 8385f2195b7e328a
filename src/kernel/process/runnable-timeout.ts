import { readFileSync } from "node:fs";

/**
 * Calls `end` once a process has had `ms` in which it ran or waited for something else than a core: on a busy machine, the
 * start of a program takes several times as long, and says nothing about what the program asks.
 */
export function afterRunnable(pid: number | undefined, ms: number, end: () => void): Disposable {
  const beganAt = performance.now();
  let timer: NodeJS.Timeout;
  const check = () => {
    const remainingMs = ms + starvedMs(pid) - (performance.now() - beganAt);
    if (remainingMs <= 0) end();
    else timer = setTimeout(check, remainingMs);
  };
  timer = setTimeout(check, ms);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/**
 * Milliseconds that the main thread of a process has waited for a core; 0 where the system does not say. Linux's
 * `/proc/PID/schedstat`: nanoseconds on a core, nanoseconds waiting for one, time slices.
 */
function starvedMs(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[1]) / 1e6 || 0;
  } catch {
    return 0;
  }
}
