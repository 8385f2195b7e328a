/** Plays an audio stream while it arrives. */

/** Formats that a MediaSource can append as they arrive; others are played once they are complete. */
const STREAMED: Readonly<Record<string, string>> = { mp3: "audio/mpeg", aac: "audio/aac" };

export function canStream(format: string): boolean {
  const type = STREAMED[format];
  return type !== undefined && typeof MediaSource !== "undefined" && MediaSource.isTypeSupported(type);
}

export interface PlayedStream {
  /** URL of an audio element that plays what has arrived. */
  url: string;
  /** Resolves with the complete recording. */
  complete: Promise<Blob>;
}

/** Reads `body`, whose format `canStream`. */
export function playStream(body: ReadableStream<Uint8Array<ArrayBuffer>>, format: string): PlayedStream {
  const type = STREAMED[format] ?? "";
  const source = new MediaSource();
  const url = URL.createObjectURL(source);
  return { url, complete: append(body, source, type) };
}

async function append(body: ReadableStream<Uint8Array<ArrayBuffer>>, source: MediaSource, type: string): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const opened = new Promise((resolve) => source.addEventListener("sourceopen", resolve, { once: true }));
  let buffer: SourceBuffer | undefined;
  const reader = body.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    parts.push(value);
    await opened;
    buffer ??= source.addSourceBuffer(type);
    const appended = buffer;
    const updated = new Promise((resolve) => appended.addEventListener("updateend", resolve, { once: true }));
    // The page may have been left, which closes the source.
    if (source.readyState !== "open") continue;
    buffer.appendBuffer(value);
    await updated;
  }
  if (source.readyState === "open") source.endOfStream();
  return new Blob(parts, { type });
}
