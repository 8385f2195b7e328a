import { InferenceSession } from "onnxruntime-node";

/** Opens an ONNX model by its path or from its bytes. */
export function openSession(model: string | Uint8Array, threads: number): Promise<InferenceSession> {
  const options: InferenceSession.SessionOptions = {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    // Waiting threads would spin: Kokoro needs a quarter less CPU time without.
    extra: { session: { intra_op: { allow_spinning: "0" } } },
  };
  return typeof model === "string" ? InferenceSession.create(model, options) : InferenceSession.create(model, options);
}
