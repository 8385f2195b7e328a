/**
 * Reads the server-sent events of a response as JSON. `endsWithDone`: throws when the connection ends before `[DONE]`,
 * such as when the service stops.
 */
export async function* readEvents<Event>(response: Response, endsWithDone = false): AsyncGenerator<Event> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let pending = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (pending + value).split("\n");
    pending = lines.pop() ?? "";
    for (const line of lines) {
      const data = line.replace(/^data: /, "");
      if (data === "[DONE]") return;
      if (data !== line) yield JSON.parse(data) as Event;
    }
  }
  if (endsWithDone) throw new Error("The connection ended before the answer was complete.");
}
