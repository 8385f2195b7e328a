import { type DestinationStream, pino } from "pino";

/** Some two dozen lines; what a pipe to a container's log takes at once is not much more. */
const HELD_BYTES = 15 * 1024;
const HELD_MILLISECONDS = 50;
const WARN = pino.levels.values.warn as number;

/**
 * Holds a log's lines for a moment, since each write wakes a thread. A warning or an error takes all that is held with
 * it at once: those are what is looked for when a process was killed.
 */
export function heldLines(descriptor: number): DestinationStream {
  const output = pino.destination({ dest: descriptor, minLength: HELD_BYTES });
  let isTimed = false;
  let isHurried = false;
  const writeAll = () => {
    isHurried = true;
    output.flush();
  };
  // While a write is under way `flush` does nothing, so that what was held since waits for the next one.
  output.on("drain", () => {
    if (!isHurried) return;
    isHurried = false;
    output.flush();
  });
  const onTime = () => {
    isTimed = false;
    writeAll();
  };
  const held = {
    // Has pino set `lastLevel` before each line.
    [Symbol.for("pino.metadata")]: true,
    lastLevel: 0,
    write(line: string) {
      output.write(line);
      if (held.lastLevel >= WARN) return writeAll();
      if (isTimed) return;
      isTimed = true;
      setTimeout(onTime, HELD_MILLISECONDS).unref();
    },
  };
  return held;
}
