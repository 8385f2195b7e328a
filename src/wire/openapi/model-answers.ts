/** Answers of the routes that call models. What an upstream answers may have further fields. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { named } from "./named.ts";

const nullable = z.string().nullable();
const count = z.int().min(0);

export const ChatCompletion = named(
  "ChatCompletion",
  lazy.looseObject(() => ({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.looseObject({
        index: count,
        message: z.looseObject({ role: z.literal("assistant"), content: nullable.optional() }),
        finish_reason: z.string(),
      }),
    ),
    usage: z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count }).optional(),
  })),
);

export const StoredCompletion = named(
  "StoredCompletion",
  lazy.looseObject(() => ({
    ...ChatCompletion.shape,
    request_id: z.string().describe("ID of the request in the request history."),
    metadata: z.record(z.string(), z.string()),
    input_user: z.null(),
  })),
);

const page = { first_id: nullable, last_id: nullable, has_more: z.boolean() };

export const StoredCompletionPage = lazy.object(() => ({
  object: z.literal("list"),
  data: z.array(StoredCompletion),
  ...page,
}));

export const StoredCompletionMessages = lazy.object(() => ({
  object: z.literal("list"),
  data: z.array(
    z.looseObject({
      id: z.string(),
      role: z.string(),
      content: nullable,
      content_parts: z.array(z.looseObject({ type: z.string() })).nullable(),
    }),
  ),
  ...page,
}));

export const TextCompletion = named(
  "TextCompletion",
  lazy.looseObject(() => ({
    id: z.string(),
    object: z.literal("text_completion"),
    created: z.int(),
    model: z.string(),
    choices: z.array(z.looseObject({ index: count, text: z.string(), finish_reason: z.string() })),
    usage: z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count }).optional(),
  })),
);

export const Ranking = named(
  "Ranking",
  lazy.looseObject(() => ({
    id: z.string(),
    object: z.literal("list"),
    model: z.string(),
    results: z
      .array(
        z.object({ index: count, relevance_score: z.number(), document: z.object({ text: z.string() }).optional() }),
      )
      .describe("Most relevant first."),
    usage: z.object({ prompt_tokens: count, total_tokens: count }),
  })),
);

export const EmbeddingList = named(
  "EmbeddingList",
  lazy.object(() => ({
    object: z.literal("list"),
    data: z.array(
      z.object({
        object: z.literal("embedding"),
        index: count,
        embedding: z.union([z.array(z.number()), z.string()]).describe("Numbers, or Base64 of little-endian float32."),
      }),
    ),
    model: z.string(),
    usage: z.object({ prompt_tokens: count, total_tokens: count }),
  })),
);

export const Images = named(
  "Images",
  lazy.looseObject(() => ({
    created: z.int(),
    data: z.array(
      z.object({ b64_json: z.string().optional(), url: z.string().optional(), revised_prompt: z.string().optional() }),
    ),
    size: z.string().optional(),
    quality: z.string().optional(),
    background: z.string().optional(),
    output_format: z.string().optional(),
    usage: z.looseObject({ input_tokens: count, output_tokens: count, total_tokens: count }).optional(),
  })),
);

export const Moderation = named(
  "Moderation",
  lazy.object(() => ({
    id: z.string(),
    model: z.string(),
    results: z.array(
      z.object({
        flagged: z.boolean(),
        categories: z.record(z.string(), z.boolean()),
        category_scores: z.record(z.string(), z.number()),
        category_applied_input_types: z.record(z.string(), z.array(z.string())),
        unsupported_language: z
          .string()
          .optional()
          .describe("Language of the text, if the model does not know it. Not in OpenAI's API."),
      }),
    ),
  })),
);

export const Model = named(
  "Model",
  lazy.looseObject(() => ({
    id: z.string(),
    object: z.literal("model"),
    created: z.int(),
    owned_by: z.string(),
    access_groups: z.array(z.string()).optional(),
    metadata: z.looseObject({ task: z.string(), status: z.string(), loaded: z.boolean() }).optional(),
  })),
);
export const ModelList = lazy.object(() => ({ object: z.literal("list"), data: z.array(Model) }));
export const SpeechModelList = lazy.object(() => ({ models: z.array(z.object({ id: z.string(), name: z.string() })) }));

export const VoiceList = named(
  "VoiceList",
  lazy.object(() => ({
    object: z.literal("list"),
    data: z.array(
      z.object({
        id: z.string(),
        object: z.literal("voice"),
        name: z.string(),
        model: z.string(),
        voice: z.string().describe("The model's own voice, which differs for aliases."),
        languages: z.array(z.string()).nullable().describe("ISO 639-1 codes; null when unknown."),
      }),
    ),
    voices: z.array(z.object({ id: z.string(), name: z.string() })),
  })),
);

export const Transcript = named(
  "Transcript",
  z
    .looseObject({ text: z.string() })
    .describe("Of `verbose_json`: also task, language, duration and segments or words."),
);

export const Message = named(
  "Message",
  lazy.looseObject(() => ({
    id: z.string(),
    type: z.literal("message"),
    role: z.literal("assistant"),
    content: z.array(z.looseObject({ type: z.string() })),
    model: z.string(),
    stop_reason: nullable,
    usage: z.looseObject({ input_tokens: count, output_tokens: count }),
  })),
);
export const TokenCount = z.object({ input_tokens: count });

export const Response = named(
  "Response",
  lazy.looseObject(() => ({
    id: z.string(),
    object: z.literal("response"),
    created_at: z.int(),
    status: z.string(),
    model: z.string(),
    output: z.array(z.looseObject({ type: z.string() })),
  })),
);
export const CompactedResponse = lazy.looseObject(() => ({
  id: z.string(),
  object: z.literal("response.compaction"),
  created_at: z.int(),
  output: z.array(z.looseObject({ id: z.string(), type: z.string() })),
  usage: z.looseObject({}),
}));
export const ResponseTokens = z.object({ object: z.literal("response.input_tokens"), input_tokens: count });

export const Conversation = named(
  "Conversation",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("conversation"),
    created_at: z.int(),
    metadata: z.record(z.string(), z.string()),
  })),
);
export const ListedItem = lazy.looseObject(() => ({ id: z.string(), type: z.string() }));
export const ItemList = lazy.object(() => ({
  object: z.literal("list"),
  data: z.array(ListedItem),
  first_id: nullable,
  last_id: nullable,
  has_more: z.boolean(),
}));

export const ClientSecret = named(
  "ClientSecret",
  lazy.object(() => ({
    value: z.string().describe("The secret, which begins with `ek_`."),
    expires_at: count.describe("Seconds since 1970."),
    session: z.looseObject({ type: z.enum(["realtime", "transcription"]) }),
  })),
);

export const OllamaVersion = named("OllamaVersion", z.object({ version: z.string() }));

export const OllamaModels = named(
  "OllamaModels",
  lazy.object(() => ({ models: z.array(z.looseObject({ name: z.string(), model: z.string(), digest: z.string() })) })),
);

export const OllamaModel = named(
  "OllamaModel",
  lazy.looseObject(() => ({ capabilities: z.array(z.string()), model_info: z.record(z.string(), z.unknown()) })),
);

const ended = {
  model: z.string(),
  created_at: z.string(),
  done: z.boolean(),
  done_reason: z.string().optional(),
  total_duration: count.optional().describe("Nanoseconds."),
  prompt_eval_count: count.optional(),
  eval_count: count.optional(),
};

export const OllamaChat = named(
  "OllamaChat",
  lazy.looseObject(() => ({ ...ended, message: z.looseObject({ role: z.literal("assistant"), content: z.string() }) })),
);

export const OllamaGenerate = named("OllamaGenerate", z.looseObject({ ...ended, response: z.string() }));

export const OllamaEmbed = named(
  "OllamaEmbed",
  lazy.looseObject(() => ({ model: z.string(), embeddings: z.array(z.array(z.number())), prompt_eval_count: count })),
);

export const OllamaEmbedding = named(
  "OllamaEmbedding",
  lazy.object(() => ({ embedding: z.array(z.number()) })),
);
