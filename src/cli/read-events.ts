import { Fault } from "../kernel/faults.ts";
import { EventReader } from "../kernel/server-sent-events.ts";

/**
 * Reads the `data` of server-sent events until `[DONE]`, parsed as JSON. Throws a Fault when the service closes the
 * connection before, such as when it stops.
 */
export async function* readEvents(response: Response): AsyncGenerator<unknown> {
  const reader = new EventReader();
  try {
    for await (const chunk of response.body ?? []) {
      for (const { data } of reader.read(chunk) ?? []) {
        if (data === "[DONE]") return;
        yield JSON.parse(data);
      }
    }
  } catch (failure) {
    // `fetch` reports a broken connection as a TypeError.
    throw failure instanceof TypeError ? incomplete(failure) : failure;
  }
  throw incomplete();
}

function incomplete(cause?: unknown): Fault {
  const message = "The service closed the connection before its answer was complete.";
  return new Fault("upstream-failed", message, { cause });
}
