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
  const output = pino.destination({ dest: descriptor, minLength: HELD_BYTES, periodicFlush: HELD_MILLISECONDS });
  const held = {
    // Has pino set `lastLevel` before each line.
    [Symbol.for("pino.metadata")]: true,
    lastLevel: 0,
    write(line: string) {
      output.write(line);
      if (held.lastLevel >= WARN) output.flush();
    },
  };
  return held;
}
