/** The package types its native build only; the WebAssembly build has the same classes. */
declare module "@evan/opus/wasm/index.mjs" {
  export { Encoder } from "@evan/opus";
}
