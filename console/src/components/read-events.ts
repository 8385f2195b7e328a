/** Reads the server-sent events of a response as JSON, up to `[DONE]`. */
export async function* readEvents<Event>(response: Response): AsyncGenerator<Event> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let pending = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (pending + value).split("\n");
    pending = lines.pop() ?? "";
    for (const line of lines) {
      const data = line.replace(/^data: /, "");
      if (data !== line && data !== "[DONE]") yield JSON.parse(data) as Event;
    }
  }
}
