/** Entry of the process that scores windows of any number of recordings. Its argument is the path of the ONNX file. */

import { SileroVad, type VadStream } from "./silero-vad.ts";

/** The next window of a recording; without one, the recording has ended. */
export interface VadRequest {
  stream: number;
  window?: Float32Array;
}

export type VadReply = { stream: number; probability: number } | { stream: number; error: string };

const [, , path = ""] = process.argv;
const loading = SileroVad.load(path);
loading.catch(() => {});
const streams = new Map<number, VadStream>();

process.on("message", ({ stream, window }: VadRequest) => {
  if (window === undefined) streams.delete(stream);
  else void score(stream, window).then((reply) => process.send?.(reply));
});
// The parent process has ended.
process.once("disconnect", () => process.exit(0));

async function score(stream: number, window: Float32Array): Promise<VadReply> {
  try {
    const vad = await loading;
    const scored = streams.get(stream) ?? vad.stream();
    streams.set(stream, scored);
    return { stream, probability: await scored.probability(window) };
  } catch (error) {
    return { stream, error: String(error) };
  }
}
