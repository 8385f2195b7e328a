declare module "sherpa-onnx-node" {
  const sherpaOnnx: import("./load-sherpa-onnx.ts").SherpaOnnx;
  export default sherpaOnnx;
}
