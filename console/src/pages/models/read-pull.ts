/** Reads the progress events of a pull. Throws the error that an event reports. */
export async function readPull(response: Response, onProgress: (share: number) => void): Promise<void> {
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
      if (data === line || data === "[DONE]") continue;
      const event = JSON.parse(data) as {
        received_bytes?: number;
        total_bytes?: number | null;
        error?: { message: string };
      };
      if (event.error !== undefined) throw new Error(event.error.message);
      if (event.total_bytes) onProgress((event.received_bytes ?? 0) / event.total_bytes);
    }
  }
}
