/** Settings of a deployment of this engine. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { ggufReferenceFields, toGgufReference } from "../shared/gguf-reference.ts";
import { tokenIdsSetting } from "../shared/token-ids.ts";

export const llamaCppSettings = lazy
  .strictObject(() => ({
    ...ggufReferenceFields,
    context_size: z
      .int()
      .min(256)
      .optional()
      .describe(
        "Maximum tokens of prompt and answer together, per slot. Default: the model's training context, as far as memory allows; at most 2,048 for the task embedding",
      ),
    slots: z.int().min(1).max(256).default(4).describe("Requests decoded in one batch; more wait"),
    threads: z.int().min(1).max(1024).optional().describe("Default: one per core, as far as more are faster"),
    gpu: z
      .union([z.enum(["auto", "cuda", "vulkan", "metal"]), z.literal(false)])
      .default("auto")
      .describe("auto: the best backend whose binaries are installed; false: CPU only"),
    gpu_layers: z.int().min(0).optional().describe("Layers on the GPU. Default: as many as fit"),
    flash_attention: z
      .union([z.literal("auto"), z.boolean()])
      .default("auto")
      .describe(
        "Flash attention: long prompts and concurrent requests are evaluated faster, in less memory. On a CPU, a request with a seed beyond 256 tokens decodes more slowly while it is alone. auto: on, except on a CPU for models with a sliding window or recurrent state",
      ),
    batch_size: z
      .int()
      .min(32)
      .max(4096)
      .optional()
      .describe(
        "Maximum tokens per batch; an aborted request frees its slot between two batches. Default: 256; on a GPU 2,048, or 512 with less than 16 GB of free memory",
      ),
    prefix_reuse: z
      .boolean()
      .default(true)
      .describe("Whether a slot reuses the evaluated prefix of an earlier request (prefix caching)"),
    prompt_cache_gb: z
      .number()
      .min(0)
      .max(10_000)
      .default(0)
      .describe(
        "Disk for evaluated system prompts and tools of 1,024 tokens and more, which a model then continues from after a restart. Encrypted, in `prompt-cache/` of the data directory; what was not used for 24 hours is removed. Deployments share it, so give all the same. 0: none. For the task chat, with `prefix_reuse`",
      ),
    max_choices: z.int().min(1).max(128).default(8).describe("Maximum choices of a request (`n`)"),
    long_input: z
      .enum(["refuse", "average"])
      .optional()
      .describe(
        "For the task embedding: what to do with an input beyond the model's window. refuse: 400 with both counts. average: the mean of its windows, weighted by their tokens. Default: average for reranking, for requests under a name of OpenAI's or with token IDs of its vocabulary, and refuse for others",
      ),
    token_ids: tokenIdsSetting,
    lora: z
      .array(
        z.strictObject({
          file: z.string().min(1).describe("Path of a GGUF file with a LoRA adapter for this model"),
          scale: z.number().min(-10).max(10).default(1).describe("Factor of its weights"),
        }),
      )
      .max(8)
      .default([])
      .describe("LoRA adapters, for the task chat. Deployments with the same `file` share its memory"),
    chat_template_file: z
      .string()
      .min(1)
      .optional()
      .describe("Path of a Jinja chat template that replaces the model's own"),
  }))
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
    promptCacheBytes: value.prompt_cache_gb * 1e9,
    maxChoices: value.max_choices,
    longInput: value.long_input,
    tokenIds: value.token_ids,
    lora: value.lora.map(({ file, scale }) => ({ path: file, scale })),
    chatTemplateFile: value.chat_template_file,
  }));

export type LlamaCppSettings = z.output<typeof llamaCppSettings>;
