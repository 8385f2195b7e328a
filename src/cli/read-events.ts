/** Reads the `data` of server-sent events until `[DONE]`, parsed as JSON. */
export async function* readEvents(response: Response): AsyncGenerator<unknown> {
  if (response.body === null) return;
  let rest = "";
  for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
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
}
