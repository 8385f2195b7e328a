/** Answers of Ollama's API. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { TokenLogprob } from "../openai/chat/completion-answers.ts";
import { named } from "../openapi/named.ts";
import { OllamaErrorAnswer } from "../openapi/service-answers.ts";

const count = z.int().min(0);

export const OllamaVersion = named("OllamaVersion", z.object({ version: z.string() }));

const details = lazy.object(() => ({
  parent_model: z.string(),
  format: z.string(),
  family: z.string(),
  families: z.array(z.string()),
  parameter_size: z.string(),
  quantization_level: z.string(),
}));

export const OllamaModels = named(
  "OllamaModels",
  lazy.object(() => ({
    models: z.array(
      z.object({
        name: z.string(),
        model: z.string(),
        modified_at: z.string(),
        size: z.number(),
        digest: z.string(),
        details,
        expires_at: z.string().optional().describe("Of loaded models."),
        size_vram: z.number().optional().describe("Of loaded models."),
        context_length: count.optional().describe("Of loaded models."),
      }),
    ),
  })),
);

export const OllamaModel = named(
  "OllamaModel",
  lazy.object(() => ({
    license: z.string(),
    modelfile: z.string(),
    parameters: z.string(),
    template: z.string(),
    details,
    model_info: z.record(z.string(), z.union([z.string(), z.number()])),
    capabilities: z.array(z.string()),
    modified_at: z.string(),
  })),
);

const nanoseconds = count.optional().describe("Nanoseconds.");

const common = {
  model: z.string(),
  created_at: z.string(),
  done: z.boolean(),
  done_reason: z.string().optional().describe("stop, length, load or unload."),
  total_duration: nanoseconds,
  load_duration: nanoseconds,
  prompt_eval_count: count.optional(),
  prompt_eval_duration: nanoseconds,
  eval_count: count.optional(),
  eval_duration: nanoseconds,
  logprobs: z.array(TokenLogprob).optional(),
};

const toolCall = lazy.object(() => ({
  function: z.object({ name: z.string(), arguments: z.unknown().describe("Object.") }),
}));

export const OllamaChat = named(
  "OllamaChat",
  lazy.object(() => ({
    ...common,
    message: z.object({
      role: z.literal("assistant"),
      content: z.string(),
      thinking: z.string().optional(),
      tool_calls: z.array(toolCall).optional(),
    }),
  })),
);
export const OllamaChatLine = named(
  "OllamaChatLine",
  z.union([OllamaChat, OllamaErrorAnswer]).describe("An error ends the stream."),
);

export const OllamaGenerate = named(
  "OllamaGenerate",
  lazy.object(() => ({ ...common, response: z.string(), thinking: z.string().optional() })),
);
export const OllamaGenerateLine = named(
  "OllamaGenerateLine",
  z.union([OllamaGenerate, OllamaErrorAnswer]).describe("An error ends the stream."),
);

export const OllamaEmbed = named(
  "OllamaEmbed",
  lazy.object(() => ({
    model: z.string(),
    embeddings: z.array(z.array(z.number())),
    total_duration: nanoseconds,
    load_duration: nanoseconds,
    prompt_eval_count: count,
  })),
);

export const OllamaEmbedding = named(
  "OllamaEmbedding",
  lazy.object(() => ({ embedding: z.array(z.number()) })),
);
