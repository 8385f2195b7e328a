/** What a deployment of this engine may say in the configuration. */

import { z } from "zod";
import { ggufReferenceFields, toGgufReference } from "../gguf-reference.ts";
import { timeoutSeconds } from "../openai-compatible/settings.ts";

/** Set by Parlance itself, or would expose what only Parlance may reach. */
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
    binary: z
      .string()
      .min(1)
      .default("llama-server")
      .describe("llama.cpp's own server: a path, or a name that is looked up on PATH"),
    ...ggufReferenceFields,
    projector_file: z
      .string()
      .min(1)
      .optional()
      .describe("Path of the GGUF file that lets the model see images (mmproj)"),
    context_size: z
      .int()
      .min(256)
      .default(4096)
      .describe("Tokens of prompt and answer together, for each slot; 8 slots of 4096 need the memory of 32768"),
    slots: z.int().min(1).max(256).default(4).describe("Requests decoded together; more wait"),
    threads: z.int().min(1).max(1024).optional().describe("Left out: llama-server's own choice"),
    gpu_layers: z.int().min(0).optional().describe("Layers kept on the GPU. Left out: as many as fit"),
    options: options.describe("Further options of llama-server, each word an entry, such as --flash-attn, on"),
    start_timeout_seconds: timeoutSeconds.default(600).describe("To load the model"),
    first_byte_timeout_seconds: timeoutSeconds.default(300).describe("To the first token of an answer"),
    idle_timeout_seconds: timeoutSeconds.default(120).describe("Between two tokens"),
  })
  .transform((value, context) => ({
    binary: value.binary,
    reference: toGgufReference(value, context),
    projectorFile: value.projector_file,
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
