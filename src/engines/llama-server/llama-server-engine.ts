import { defineEngine } from "../define-engine.ts";
import { findLlamaServer } from "./find-llama-server.ts";
import { llamaServerSettings } from "./settings.ts";

/** GGUF models in llama.cpp's server, which Parlance starts on this machine and supervises. */
export const llamaServerEngine = defineEngine({
  name: "llama-server",
  tasks: ["chat"],
  settings: llamaServerSettings,
  isLocal: true,
  files: ({ projectorFile }) => (projectorFile === undefined ? [] : [projectorFile]),
  async prepare({ binary, reference, projectorHf }, _task, { pull, signal }): Promise<void> {
    await findLlamaServer(binary);
    await pull(reference, signal);
    if (projectorHf !== undefined) await pull({ hf: projectorHf }, signal);
  },
  module: () => import("./open-llama-server.ts"),
});
