/** Settings of a deployment of this engine. */

import { z } from "zod";
import { timeoutSeconds } from "../openai-compatible/connection-settings.ts";

/** Options that Parlance sets itself, or that would expose the server or other files. */
const RESERVED_OPTIONS = new Set([
  ...["-m", "--model", "--diffusion-model", "-l", "--listen-ip", "--listen-port", "--serve-html-path"],
  ...["-t", "--threads", "--vae", "--clip_l", "--clip_g", "--t5xxl", "--llm"],
]);

const path = z.string().min(1);

const options = z
  .array(z.string())
  .superRefine((value, context) => {
    for (const [index, option] of value.entries()) {
      const name = option.split("=")[0] ?? "";
      if (!RESERVED_OPTIONS.has(name)) continue;
      context.addIssue({ code: "custom", path: [index], message: `${name} is set by Parlance itself` });
    }
  })
  .default([]);

export const sdServerSettings = z
  .strictObject({
    binary: path.default("sd-server").describe("stable-diffusion.cpp's server: a path, or a name on PATH"),
    file: path.describe("Path of the model, as safetensors or GGUF: a complete one, or the diffusion model of `parts`"),
    parts: z
      .strictObject({
        vae: path.optional().describe("Path of the VAE"),
        clip_l: path.optional().describe("Path of the text encoder CLIP-L"),
        clip_g: path.optional().describe("Path of the text encoder CLIP-G"),
        t5xxl: path.optional().describe("Path of the text encoder T5-XXL"),
        llm: path.optional().describe("Path of the language model that reads the prompt, as of Z-Image and Qwen-Image"),
      })
      .prefault({})
      .describe("Other files of a model whose parts are separate"),
    threads: z.int().min(1).max(1024).optional().describe("Default: sd-server decides"),
    options: options.describe(
      "Additional command-line arguments, one entry per word, such as --steps, 8, --cfg-scale, 1, --offload-to-cpu",
    ),
    start_timeout_seconds: timeoutSeconds.default(600).describe("Maximum time to load the model"),
    image_timeout_seconds: timeoutSeconds.default(1800).describe("Maximum time to make the images of one request"),
  })
  .transform((value) => ({
    binary: value.binary,
    file: value.file,
    parts: value.parts,
    threads: value.threads,
    options: value.options,
    startTimeoutSeconds: value.start_timeout_seconds,
    imageTimeoutSeconds: value.image_timeout_seconds,
  }));

export type SdServerSettings = z.output<typeof sdServerSettings>;
