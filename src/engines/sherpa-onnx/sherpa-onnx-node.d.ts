declare module "sherpa-onnx-node" {
  const sherpaOnnx: import("./load-sherpa-onnx.ts").SherpaOnnx & {
    /** Only speech-segmentation creates one. */
    Vad: new (
      config: object,
      bufferSeconds: number,
    ) => import("@parlance-inference/speech-segmentation/vad-segmenter").VadStream;
  };
  export default sherpaOnnx;
}
