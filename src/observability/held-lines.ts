import { type DestinationStream, pino } from "pino";

/**
 * Some two dozen lines. Beyond 16 KiB sonic-boom writes in pieces, and what is written at a process's end could come
 * between the halves of a line.
 */
const HELD_LENGTH = 15 * 1024;
const HELD_MILLISECONDS = 50;
const WARN = pino.levels.values.warn as number;

/**
 * Holds a log's lines for a moment, since each write wakes a thread. A warning or an error takes all that is held with
 * it at once: those are what is looked for when a process was killed.
 */
export function heldLines(descriptor: number): DestinationStream {
  // Would itself count the bytes of all that it holds at each line that it is given.
  const output = pino.destination({ dest: descriptor });
  let lines = "";
  let isTimed = false;
  const writeAll = (to = output) => {
    if (lines !== "") to.write(lines);
    lines = "";
  };
  const onTime = () => {
    isTimed = false;
    writeAll();
  };
  // After pino's own listener, which writes what `output` has.
  process.on("exit", () => writeAll(pino.destination({ dest: descriptor, sync: true })));
  const held = {
    // Has pino set `lastLevel` before each line.
    [Symbol.for("pino.metadata")]: true,
    lastLevel: 0,
    write(line: string) {
      lines += line;
      if (held.lastLevel >= WARN || lines.length >= HELD_LENGTH) return writeAll();
      if (isTimed) return;
      isTimed = true;
      setTimeout(onTime, HELD_MILLISECONDS).unref();
    },
  };
  return held;
}
