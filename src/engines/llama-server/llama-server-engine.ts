import { defineEngine } from "../define-engine.ts";
import { llamaServerSettings } from "./settings.ts";

/** GGUF models through llama.cpp's own server, which Parlance starts on this machine and supervises. */
export const llamaServerEngine = defineEngine({
  name: "llama-server",
  tasks: ["chat"],
  settings: llamaServerSettings,
  module: () => import("./open-llama-server.ts"),
});
