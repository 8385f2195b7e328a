import { findBinary } from "../host/find-binary.ts";

/** Throws a Fault that says where the program was searched. */
export function findSdServer(name: string): Promise<string> {
  const install =
    "Build it with scripts/build-sd-server.sh, or name stable-diffusion.cpp's sd-server in the deployment's `binary`.";
  return findBinary(name, { program: "stable-diffusion.cpp's server", install });
}
