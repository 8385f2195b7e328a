import { InferenceSession } from "onnxruntime-node";

/** `model` is a path, or the bytes themselves. */
export function openSession(model: string | Uint8Array, threads: number): Promise<InferenceSession> {
  const options: InferenceSession.SessionOptions = {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // Threads that wait by spinning take the cores from what else runs; without, Kokoro needs a quarter less of them.
    extra: { session: { intra_op: { allow_spinning: "0" } } },
  };
  return typeof model === "string" ? InferenceSession.create(model, options) : InferenceSession.create(model, options);
}
