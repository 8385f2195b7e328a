declare module "sherpa-onnx-node" {
  const sherpaOnnx: import("./load-sherpa-onnx.ts").SherpaOnnx & {
    Vad: new (
      config: import("../listening/voice-activity.ts").VadConfig,
      bufferSeconds: number,
    ) => import("../listening/voice-activity.ts").Vad;
  };
  export default sherpaOnnx;
}
