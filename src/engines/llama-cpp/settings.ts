/** What a deployment of this engine may say in the configuration. */

import { z } from "zod";
import { ggufReferenceFields, toGgufReference } from "../gguf-reference.ts";

export const llamaCppSettings = z
  .strictObject({
    ...ggufReferenceFields,
    context_size: z
      .int()
      .min(256)
      .optional()
      .describe(
        "Tokens of prompt and answer together, for each slot. Left out: what the model was trained with, as far as memory allows",
      ),
    slots: z.int().min(1).max(256).default(4).describe("Requests decoded together; more wait"),
    threads: z.int().min(1).max(1024).optional().describe("Left out: one for each core that is useful for it"),
    gpu: z
      .union([z.enum(["auto", "cuda", "vulkan", "metal"]), z.literal(false)])
      .default("auto")
      .describe("auto takes the best whose binaries are installed; false keeps to the CPU"),
    gpu_layers: z.int().min(0).optional().describe("Layers kept on the GPU. Left out: as many as fit"),
    flash_attention: z
      .union([z.literal("auto"), z.boolean()])
      .default("auto")
      .describe(
        "Whether attention is computed in blocks: less memory, and on a CPU about a tenth faster, but the same seed then draws the same text only at the same number of threads. auto: not on a CPU; elsewhere the library decides",
      ),
    batch_size: z
      .int()
      .min(32)
      .max(4096)
      .default(256)
      .describe("Most tokens evaluated at once; a request that was given up frees its slot only between batches"),
    prefix_reuse: z
      .boolean()
      .default(true)
      .describe("Whether a prompt may begin with what an earlier request left evaluated in its slot"),
    max_choices: z.int().min(1).max(128).default(8).describe("Most answers to one request (`n`)"),
    chat_template_file: z
      .string()
      .min(1)
      .optional()
      .describe("Path of a Jinja template used instead of the model's own"),
  })
  .transform((value, context) => ({
    reference: toGgufReference(value, context),
    contextSize: value.context_size,
    slots: value.slots,
    threads: value.threads,
    gpu: value.gpu,
    gpuLayers: value.gpu_layers,
    flashAttention: value.flash_attention,
    batchSize: value.batch_size,
    prefixReuse: value.prefix_reuse,
    maxChoices: value.max_choices,
    chatTemplateFile: value.chat_template_file,
  }));

export type LlamaCppSettings = z.output<typeof llamaCppSettings>;
