import { findBinary } from "../host/find-binary.ts";

/** Throws a Fault that says where the program was searched. */
export function findLlamaServer(name: string): Promise<string> {
  const install = "Install llama.cpp, or name its llama-server in the deployment's `binary`.";
  return findBinary(name, { program: "llama.cpp's server", install });
}
