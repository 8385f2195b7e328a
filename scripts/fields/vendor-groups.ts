/** Bodies in the formats of vendors whose clients are not installed here, with the fields of their documents. */

import type { FieldGroup } from "./groups.ts";

const messages = [{ role: "user", content: "Hi" }];

export const VENDOR_GROUPS: Readonly<Record<string, FieldGroup>> = {
  // cohere-ai 8.1.0: V2ChatRequest and V2EmbedRequest.
  cohereChat: {
    ...{ document: "Cohere", operation: "/v2/chat", at: "", task: "chat" },
    names: [
      ...["model", "messages", "stream", "tools", "strict_tools", "documents", "citation_options", "response_format"],
      ...["safety_mode", "max_tokens", "stop_sequences", "temperature", "seed", "frequency_penalty"],
      ...["presence_penalty", "k", "p", "logprobs", "tool_choice", "thinking", "priority", "raw_prompting"],
    ],
    body: (fields) => ({ messages, ...fields }),
  },
  cohereEmbed: {
    ...{ document: "Cohere", operation: "/v2/embed", at: "", task: "embedding" },
    names: [
      ...["model", "texts", "images", "inputs", "input_type", "max_tokens", "output_dimension", "embedding_types"],
      ...["truncate", "priority"],
    ],
    body: (fields) => ("inputs" in fields ? fields : { texts: ["Hi"], ...fields }),
  },
  // @mistralai/mistralai 2.7.0: FIMCompletionRequest.
  mistralFim: {
    ...{ document: "Mistral", operation: "/v1/fim/completions", at: "", task: "chat" },
    names: [
      ...["model", "prompt", "suffix", "temperature", "top_p", "max_tokens", "min_tokens", "stream", "stop"],
      ...["random_seed", "metadata"],
    ],
    body: (fields) => ({ prompt: "Hi", ...fields }),
  },
  cohereRerank: {
    ...{ document: "Cohere", operation: "/v2/rerank", at: "", task: "rerank" },
    names: ["model", "query", "documents", "top_n", "max_tokens_per_doc", "priority"],
    body: (fields) => ({ query: "Hi", documents: ["a", "b"], ...fields }),
  },
  jinaEmbeddings: {
    ...{ document: "Jina", operation: "/v1/embeddings", at: "", task: "embedding" },
    names: [
      ...["model", "input", "embedding_type", "task", "dimensions", "normalized", "late_chunking", "truncate"],
      "return_multivector",
    ],
    body: (fields) => ({ input: ["Hi"], ...fields }),
  },
  jinaRerank: {
    ...{ document: "Jina", operation: "/v1/rerank", at: "", task: "rerank" },
    names: ["model", "query", "documents", "top_n", "return_documents", "return_embeddings", "truncation"],
    body: (fields) => ({ query: "Hi", documents: ["a", "b"], ...fields }),
  },
  voyageEmbeddings: {
    ...{ document: "Voyage", operation: "/v1/embeddings", at: "", task: "embedding" },
    names: ["input", "model", "input_type", "truncation", "output_dimension", "output_dtype", "encoding_format"],
    body: (fields) => ({ input: ["Hi"], ...fields }),
  },
  voyageRerank: {
    ...{ document: "Voyage", operation: "/v1/rerank", at: "", task: "rerank" },
    names: ["query", "documents", "model", "top_k", "return_documents", "truncation"],
    body: (fields) => ({ query: "Hi", documents: ["a", "b"], ...fields }),
  },
};
