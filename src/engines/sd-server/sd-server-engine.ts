import { defineEngine } from "../define-engine.ts";
import { findSdServer } from "./find-sd-server.ts";
import { sdServerSettings } from "./settings.ts";

/** Image models in stable-diffusion.cpp's server, which Parlance starts on this machine and supervises. */
export const sdServerEngine = defineEngine({
  name: "sd-server",
  tasks: ["image"],
  settings: sdServerSettings,
  isLocal: true,
  files: ({ file, parts }) => [file, ...Object.values(parts).filter((part) => part !== undefined)],
  async prepare({ binary }): Promise<void> {
    await findSdServer(binary);
  },
  module: () => import("./open-sd-server.ts"),
});
