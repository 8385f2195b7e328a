/** Settings of a deployment of this engine. */

import { z } from "zod";
import { timeoutSeconds } from "../openai-compatible/connection-settings.ts";
import { ggufReferenceFields, hubFile, toGgufReference } from "../shared/gguf-reference.ts";

/** Options that Parlance sets itself, or that would expose the server to others. */
const OWN_OPTIONS = [
  "-m",
  "--model",
  "-mu",
  "--model-url",
  "-hf",
  "-hfr",
  "--hf-repo",
  "--host",
  "--port",
  "--api-key",
  "--api-key-file",
  "--alias",
  "-a",
  "-c",
  "--ctx-size",
  "-np",
  "--parallel",
  "-t",
  "--threads",
  "-ngl",
  "--gpu-layers",
  "--n-gpu-layers",
  "-mm",
  "--mmproj",
  "--api-prefix",
  "--path",
  "--media-path",
  "--ssl-key-file",
  "--ssl-cert-file",
  "--context-shift",
];

const options = z
  .array(z.string())
  .superRefine((value, context) => {
    for (const [index, option] of value.entries()) {
      const name = option.split("=")[0] ?? "";
      if (!OWN_OPTIONS.includes(name)) continue;
      context.addIssue({ code: "custom", path: [index], message: `${name} is set by Parlance itself` });
    }
  })
  .default([]);

export const llamaServerSettings = z
  .strictObject({
    binary: z.string().min(1).default("llama-server").describe("llama.cpp's server: a path, or a name on PATH"),
    ...ggufReferenceFields,
    projector_file: z
      .string()
      .min(1)
      .optional()
      .describe("Path of the GGUF file that lets the model see images (mmproj)"),
    projector_hf: hubFile
      .optional()
      .describe("The same as a file on the hub, which is downloaded: owner/repository/mmproj-file.gguf"),
    context_size: z
      .int()
      .min(256)
      .default(4096)
      .describe("Maximum tokens of prompt and answer together, per slot; 8 slots of 4096 need the memory of 32768"),
    slots: z.int().min(1).max(256).default(4).describe("Requests decoded in one batch; more wait"),
    threads: z.int().min(1).max(1024).optional().describe("Default: llama-server decides"),
    gpu_layers: z.int().min(0).optional().describe("Layers on the GPU. Default: as many as fit"),
    options: options.describe("Additional command-line arguments, one entry per word, such as --flash-attn, on"),
    start_timeout_seconds: timeoutSeconds.default(600).describe("Maximum time to load the model"),
    first_byte_timeout_seconds: timeoutSeconds.default(300).describe("Maximum time to the first token of an answer"),
    idle_timeout_seconds: timeoutSeconds.default(120).describe("Maximum time between two tokens"),
  })
  .refine(({ projector_file, projector_hf }) => projector_file === undefined || projector_hf === undefined, {
    error: "cannot be set beside projector_hf",
    path: ["projector_file"],
  })
  .transform((value, context) => ({
    binary: value.binary,
    reference: toGgufReference(value, context),
    projectorFile: value.projector_file,
    projectorHf: value.projector_hf,
    contextSize: value.context_size,
    slots: value.slots,
    threads: value.threads,
    gpuLayers: value.gpu_layers,
    options: value.options,
    startTimeoutSeconds: value.start_timeout_seconds,
    firstByteTimeoutSeconds: value.first_byte_timeout_seconds,
    idleTimeoutSeconds: value.idle_timeout_seconds,
  }));

export type LlamaServerSettings = z.output<typeof llamaServerSettings>;
