import { Fault } from "../kernel/faults.ts";

/**
 * Reads the `data` of server-sent events until `[DONE]`, parsed as JSON. Throws a Fault when the service closes the
 * connection before, such as when it stops.
 */
export async function* readEvents(response: Response): AsyncGenerator<unknown> {
  let rest = "";
  try {
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        // Other lines are comments, which keep a waiting connection open, and names of events.
        if (!line.startsWith("data: ")) continue;
        const data = line.slice("data: ".length);
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
