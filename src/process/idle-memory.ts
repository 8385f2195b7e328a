import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

const EVERY_MILLISECONDS = 10_000;
/** Of one core: more was a time of work, less is none. */
const BUSY_SHARE = 0.05;
const IDLE_SHARE = 0.02;

/**
 * Gives the memory back that a busy time has left V8 with, once it is over: V8 itself keeps it for the next one, a
 * quarter of all that the process holds. It takes a tenth of a second, and happens once after each busy time.
 */
export function releaseMemoryWhenIdle(everyMilliseconds = EVERY_MILLISECONDS): Disposable {
  let wasBusy = false;
  let before = process.cpuUsage();
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const share = (user + system) / 1000 / everyMilliseconds;
    if (share > BUSY_SHARE) wasBusy = true;
    if (share > IDLE_SHARE || !wasBusy) return;
    wasBusy = false;
    collect();
  }, everyMilliseconds).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function collect(): void {
  // The only way to V8's collector; a context that is made under the flag has its function.
  setFlagsFromString("--expose-gc");
  const collectNow: Collect = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  // Only this kind gives the pages back as well.
  collectNow({ type: "major", execution: "sync", flavor: "last-resort" });
}
