import { setImmediate as nextTurn } from "node:timers/promises";

/** Bodies below cost some milliseconds at most. */
const LARGE_BYTES = 512 * 1024;

/** Lets the event loop turn between two parts of the work on a body, where the body is large. */
export async function turnBetweenParts(bodyBytes: number | undefined): Promise<void> {
  if (bodyBytes !== undefined && bodyBytes >= LARGE_BYTES) await nextTurn();
}
