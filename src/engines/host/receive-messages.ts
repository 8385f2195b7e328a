import { setTimeout as pause } from "node:timers/promises";

/** A message of some megabytes arrives within this time of the part before it. */
const QUIET_MS = 1;
const MAX_MS = 20;

/**
 * Receives the messages that wait in the pipe from the service. ONNX Runtime blocks the event loop while it computes,
 * and Node.js reads some 200 KB in each of its turns: between two computations alone, a megabyte took five of them to
 * arrive, and delayed every request behind it.
 */
export async function receiveMessages(): Promise<void> {
  const end = performance.now() + MAX_MS;
  let hasReceived = true;
  const onMessage = () => {
    hasReceived = true;
  };
  process.on("message", onMessage);
  while (hasReceived && performance.now() < end) {
    hasReceived = false;
    await pause(QUIET_MS);
  }
  process.off("message", onMessage);
}
