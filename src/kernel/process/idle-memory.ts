import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Poll } from "../jobs/poll.ts";

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

const EVERY_MS = 10_000;
/** CPU use, as a fraction of one core, from which a period counts as busy. */
const BUSY_SHARE = 0.05;
const IDLE_SHARE = 0.02;

/**
 * Releases the memory that V8 keeps after a busy period, up to a quarter of the process. It takes 0.1 s, once after
 * each busy period.
 */
export function releaseMemoryWhenIdle(everyMs = EVERY_MS): Disposable {
  // The start is a busy period: importing leaves as much garbage as the heap holds afterwards.
  let wasBusy = true;
  let before = process.cpuUsage();
  const poll = new Poll(
    () => {
      const { user, system } = process.cpuUsage(before);
      before = process.cpuUsage();
      const share = (user + system) / 1000 / everyMs;
      if (share > BUSY_SHARE) wasBusy = true;
      if (share > IDLE_SHARE || !wasBusy) return;
      wasBusy = false;
      collect();
    },
    { everyMs },
  );
  return { [Symbol.dispose]: () => poll.stop() };
}

function collect(): void {
  // The only access to V8's collector: a context created with the flag has the function `gc`.
  setFlagsFromString("--expose-gc");
  const collectNow: Collect = runInNewContext("gc");
  setFlagsFromString("--no-expose-gc");
  // Only this kind of collection returns pages to the system.
  collectNow({ type: "major", execution: "sync", flavor: "last-resort" });
}
