/** The package declares types for its native build only; the WebAssembly build exports the same classes. */
declare module "@evan/opus/wasm/index.mjs" {
  export { Encoder } from "@evan/opus";
}
