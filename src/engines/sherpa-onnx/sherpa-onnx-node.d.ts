declare module "sherpa-onnx-node" {
  const sherpaOnnx: import("./load-sherpa-onnx.ts").SherpaOnnx & {
    /** With a VadConfig, which only voice-activity.ts writes. */
    Vad: new (
      config: object,
      bufferSeconds: number,
    ) => import("../listening/voice-activity.ts").Vad;
  };
  export default sherpaOnnx;
}
