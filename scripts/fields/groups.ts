/** The bodies of requests whose fields the table decides, with where the field list of each comes from. */

import { fieldsOfInterface } from "./sdk-fields.ts";
import { VENDOR_GROUPS } from "./vendor-groups.ts";

export interface FieldGroup {
  document: "OpenAI" | "Anthropic" | "Google" | "Cohere" | "Mistral" | "Jina" | "Voyage";
  operation: string;
  /** Path of the object that has the fields; "" for the body itself. */
  at: string;
  /** Names of the fields in the document. */
  names: readonly string[];
  /** Task of the model that answers; undefined: no model does. */
  task?: "chat" | "embedding" | "rerank" | "moderation" | "speech" | "transcription" | "image";
  /** Completes a body from the fields under test. */
  body(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>;
  /** Whether the body is a form, with a file of this kind. */
  form?: "audio" | "image" | "text";
  /** Resource that the path needs before the operation. */
  needs?: { path: string; body: object };
}

const OPENAI = "openai/resources";
const ANTHROPIC = "@anthropic-ai/sdk/resources";
const namesOf = (file: string, name: string) => fieldsOfInterface(file, name).map((field) => field.name);
const openai = (file: string, name: string) => namesOf(`${OPENAI}/${file}.d.ts`, name);
const google = (name: string) => namesOf("@google/genai/dist/genai.d.ts", name);
const anthropic = (file: string, name: string) => namesOf(`${ANTHROPIC}/${file}.d.ts`, name);

const user = { role: "user", content: "Say hi." };
const parameters = { type: "object", properties: {} };
const messages = [user];
const chat = { messages };
const completionsFile = "chat/completions/completions";
const grader = { type: "string_check", name: "equal", operation: "eq", input: "a", reference: "a" };
const evalBody = {
  data_source_config: { type: "custom", item_schema: { type: "object" } },
  testing_criteria: [grader],
};
const rows = { type: "jsonl", source: { type: "file_content", content: [{ item: {}, sample: { output_text: "x" } }] } };
const session = (fields: object) => ({ session: { type: "realtime", ...fields } });
const image = { prompt: "A bird" };
const message = (fields: object) => ({ max_tokens: 20, messages: [fields] });
const part = (fields: object) => message({ role: "user", content: [{ type: "text", text: "Hi" }, fields] });

const generationConfig = google("GenerationConfig");
/** Fields of the client itself. */
const CLIENT_FIELDS = ["httpOptions", "abortSignal", "automaticFunctionCalling", "automaticContinuation"];
const contents = [{ parts: [{ text: "Hi" }] }];

/** Fields without which others are refused. */
function withCompanions(fields: Readonly<Record<string, unknown>>): object {
  return {
    ...("top_logprobs" in fields && { logprobs: true }),
    ...(("stream_options" in fields || "partial_images" in fields) && { stream: true }),
    ...("known_speaker_references" in fields && { known_speaker_names: ["Ann"] }),
    ...("known_speaker_names" in fields && { known_speaker_references: ["data:audio/wav;base64,UklGRg=="] }),
  };
}

export const FIELD_GROUPS: Readonly<Record<string, FieldGroup>> = {
  chat: {
    ...{ document: "OpenAI", operation: "/v1/chat/completions", at: "", task: "chat" },
    names: openai(completionsFile, "ChatCompletionCreateParamsBase"),
    body: (fields) => ({ ...chat, ...withCompanions(fields), ...fields }),
  },
  chatStreamOptions: {
    ...{ document: "OpenAI", operation: "/v1/chat/completions", at: "stream_options", task: "chat" },
    names: openai(completionsFile, "ChatCompletionStreamOptions"),
    body: (fields) => ({ ...chat, stream: true, stream_options: fields }),
  },
  chatAssistantMessage: {
    ...{ document: "OpenAI", operation: "/v1/chat/completions", at: "messages[]", task: "chat" },
    names: openai(completionsFile, "ChatCompletionAssistantMessageParam"),
    body: (fields) => ({ messages: [user, { role: "assistant", content: "Hi.", ...fields }, user] }),
  },
  chatUserMessage: {
    ...{ document: "OpenAI", operation: "/v1/chat/completions", at: "messages[]", task: "chat" },
    names: openai(completionsFile, "ChatCompletionUserMessageParam"),
    body: (fields) => ({ messages: [{ ...user, ...fields }] }),
  },
  chatFunction: {
    ...{ document: "OpenAI", operation: "/v1/chat/completions", at: "tools[].function", task: "chat" },
    names: openai("shared", "FunctionDefinition"),
    body: (fields) => ({ ...chat, tools: [{ type: "function", function: { name: "f", parameters, ...fields } }] }),
  },
  responses: {
    ...{ document: "OpenAI", operation: "/v1/responses", at: "", task: "chat" },
    names: openai("responses/responses", "ResponseCreateParamsBase"),
    body: (fields) => ({ input: "Hi", ...withCompanions(fields), ...fields }),
  },
  responsesFunction: {
    ...{ document: "OpenAI", operation: "/v1/responses", at: "tools[]", task: "chat" },
    names: openai("responses/responses", "FunctionTool"),
    body: (fields) => ({ input: "Hi", tools: [{ type: "function", name: "f", parameters, ...fields }] }),
  },
  responsesReasoning: {
    ...{ document: "OpenAI", operation: "/v1/responses", at: "reasoning", task: "chat" },
    names: openai("shared", "Reasoning"),
    body: (fields) => ({ input: "Hi", reasoning: fields }),
  },
  responsesText: {
    ...{ document: "OpenAI", operation: "/v1/responses", at: "text", task: "chat" },
    names: openai("responses/responses", "ResponseTextConfig"),
    body: (fields) => ({ input: "Hi", text: fields }),
  },
  responsesMessage: {
    ...{ document: "OpenAI", operation: "/v1/responses", at: "input[]", task: "chat" },
    names: openai("responses/responses", "EasyInputMessage"),
    body: (fields) => ({ input: [{ role: "assistant", content: "Hi.", ...fields }, user] }),
  },
  compact: {
    ...{ document: "OpenAI", operation: "/v1/responses/compact", at: "", task: "chat" },
    names: openai("responses/responses", "ResponseCompactParams"),
    body: (fields) => ({ input: [user], ...fields }),
  },
  decisions: {
    ...{ document: "OpenAI", operation: "/v1/decisions", at: "", task: "chat" },
    names: openai("decisions", "DecisionCreateParams"),
    body: (fields) => ({ input: "Hi", questions: [{ type: "predicate", instructions: "It is long." }], ...fields }),
  },
  completions: {
    ...{ document: "OpenAI", operation: "/v1/completions", at: "", task: "chat" },
    names: openai("completions", "CompletionCreateParamsBase"),
    body: (fields) => ({ prompt: "Hi", ...withCompanions(fields), ...fields }),
  },
  embeddings: {
    ...{ document: "OpenAI", operation: "/v1/embeddings", at: "", task: "embedding" },
    names: openai("embeddings", "EmbeddingCreateParams"),
    body: (fields) => ({ input: "Hi", ...fields }),
  },
  moderations: {
    ...{ document: "OpenAI", operation: "/v1/moderations", at: "", task: "moderation" },
    names: openai("moderations", "ModerationCreateParams"),
    body: (fields) => ({ input: "Hi", ...fields }),
  },
  speech: {
    ...{ document: "OpenAI", operation: "/v1/audio/speech", at: "", task: "speech" },
    names: openai("audio/speech", "SpeechCreateParams"),
    body: (fields) => ({ input: "Hi.", voice: "alloy", response_format: "pcm", ...fields }),
  },
  transcriptions: {
    ...{ document: "OpenAI", operation: "/v1/audio/transcriptions", at: "", task: "transcription", form: "audio" },
    names: openai("audio/transcriptions", "TranscriptionCreateParamsBase"),
    body: (fields) => ({ ...withCompanions(fields), ...fields }),
  },
  translations: {
    ...{ document: "OpenAI", operation: "/v1/audio/translations", at: "", task: "transcription", form: "audio" },
    names: openai("audio/translations", "TranslationCreateParams"),
    body: (fields) => fields,
  },
  imageGenerations: {
    ...{ document: "OpenAI", operation: "/v1/images/generations", at: "", task: "image" },
    names: openai("images", "ImageGenerateParamsBase"),
    body: (fields) => ({ ...image, ...withCompanions(fields), ...fields }),
  },
  imageEdits: {
    ...{ document: "OpenAI", operation: "/v1/images/edits", at: "", task: "image", form: "image" },
    names: openai("images", "ImageEditParamsBase"),
    body: (fields) => ({ ...image, ...withCompanions(fields), ...fields }),
  },
  imageVariations: {
    ...{ document: "OpenAI", operation: "/v1/images/variations", at: "", task: "image", form: "image" },
    names: openai("images", "ImageCreateVariationParams"),
    body: (fields) => fields,
  },
  vectorStores: {
    ...{ document: "OpenAI", operation: "/v1/vector_stores", at: "" },
    names: openai("vector-stores/vector-stores", "VectorStoreCreateParams"),
    body: (fields) => fields,
  },
  vectorStoreUpdates: {
    ...{ document: "OpenAI", operation: "/v1/vector_stores/{id}", at: "" },
    names: openai("vector-stores/vector-stores", "VectorStoreUpdateParams"),
    needs: { path: "/v1/vector_stores", body: {} },
    body: (fields) => fields,
  },
  vectorStoreSearch: {
    ...{ document: "OpenAI", operation: "/v1/vector_stores/{id}/search", at: "" },
    names: openai("vector-stores/vector-stores", "VectorStoreSearchParams"),
    needs: { path: "/v1/vector_stores", body: {} },
    body: (fields) => ({ query: "Hi", ...fields }),
  },
  files: {
    ...{ document: "OpenAI", operation: "/v1/files", at: "", form: "text" },
    names: openai("files", "FileCreateParams"),
    body: (fields) => ({ purpose: "user_data", ...fields }),
  },
  uploads: {
    ...{ document: "OpenAI", operation: "/v1/uploads", at: "" },
    names: openai("uploads/uploads", "UploadCreateParams"),
    body: (fields) => ({ bytes: 3, filename: "a.txt", mime_type: "text/plain", purpose: "user_data", ...fields }),
  },
  evals: {
    ...{ document: "OpenAI", operation: "/v1/evals", at: "" },
    names: openai("evals/evals", "EvalCreateParams"),
    body: (fields) => ({ ...evalBody, ...fields }),
  },
  evalRuns: {
    ...{ document: "OpenAI", operation: "/v1/evals/{id}/runs", at: "" },
    names: openai("evals/runs/runs", "RunCreateParams"),
    needs: { path: "/v1/evals", body: evalBody },
    body: (fields) => ({ data_source: rows, ...fields }),
  },
  conversations: {
    ...{ document: "OpenAI", operation: "/v1/conversations", at: "" },
    names: openai("conversations/conversations", "ConversationCreateParams"),
    body: (fields) => fields,
  },
  conversationItems: {
    ...{ document: "OpenAI", operation: "/v1/conversations/{id}/items", at: "" },
    names: openai("conversations/items", "ItemCreateParams"),
    needs: { path: "/v1/conversations", body: {} },
    body: (fields) => ({ items: [user], ...fields }),
  },
  containers: {
    ...{ document: "OpenAI", operation: "/v1/containers", at: "" },
    names: openai("containers/containers", "ContainerCreateParams"),
    body: (fields) => ({ name: "box", ...fields }),
  },
  clientSecrets: {
    ...{ document: "OpenAI", operation: "/v1/realtime/client_secrets", at: "" },
    names: openai("realtime/client-secrets", "ClientSecretCreateParams"),
    body: (fields) => fields,
  },
  realtimeSession: {
    ...{ document: "OpenAI", operation: "/v1/realtime/client_secrets", at: "session" },
    names: openai("realtime/realtime", "RealtimeSessionCreateRequest"),
    body: session,
  },
  generateContent: {
    ...{ document: "Google", operation: "/v1beta/models/{model}:generateContent", at: "", task: "chat" },
    names: [
      ...["model", "contents"],
      ...google("GenerateContentConfig").filter((name) => ![...generationConfig, ...CLIENT_FIELDS].includes(name)),
    ],
    body: (fields) => ({ contents, ...fields }),
  },
  generationConfig: {
    ...{ document: "Google", operation: "/v1beta/models/{model}:generateContent", at: "generationConfig" },
    task: "chat",
    names: generationConfig,
    body: (fields) => ({
      contents,
      generationConfig: {
        ...("logprobs" in fields && { responseLogprobs: true }),
        ...(("responseSchema" in fields || "responseJsonSchema" in fields) && { responseMimeType: "application/json" }),
        ...fields,
      },
    }),
  },
  embedContent: {
    ...{ document: "Google", operation: "/v1beta/models/{model}:embedContent", at: "", task: "embedding" },
    names: [...["model", "content"], ...google("EmbedContentConfig").filter((name) => !CLIENT_FIELDS.includes(name))],
    body: (fields) => ({ content: contents[0], ...fields }),
  },
  messages: {
    ...{ document: "Anthropic", operation: "/v1/messages", at: "", task: "chat" },
    names: [
      ...new Set([
        ...anthropic("messages/messages", "MessageCreateParamsBase"),
        ...anthropic("beta/messages/messages", "MessageCreateParamsBase").filter((name) => name !== "betas"),
      ]),
    ],
    body: (fields) => ({ ...message(user), ...fields }),
  },
  countTokens: {
    ...{ document: "Anthropic", operation: "/v1/messages/count_tokens", at: "", task: "chat" },
    names: anthropic("messages/messages", "MessageCountTokensParams"),
    body: (fields) => ({ messages, ...fields }),
  },
  messagesTool: {
    ...{ document: "Anthropic", operation: "/v1/messages", at: "tools[]", task: "chat" },
    names: anthropic("messages/messages", "Tool"),
    body: (fields) => ({ ...message(user), tools: [{ name: "f", input_schema: parameters, ...fields }] }),
  },
  messagesMetadata: {
    ...{ document: "Anthropic", operation: "/v1/messages", at: "metadata", task: "chat" },
    names: anthropic("messages/messages", "Metadata"),
    body: (fields) => ({ ...message(user), metadata: fields }),
  },
  messagesOutput: {
    ...{ document: "Anthropic", operation: "/v1/messages", at: "output_config", task: "chat" },
    names: anthropic("messages/messages", "OutputConfig"),
    body: (fields) => ({ ...message(user), output_config: fields }),
  },
  messagesText: {
    ...{ document: "Anthropic", operation: "/v1/messages", at: "messages[].content[]", task: "chat" },
    names: anthropic("messages/messages", "TextBlockParam"),
    body: (fields) => part({ type: "text", text: "Hi", ...fields }),
  },
  messagesDocument: {
    ...{ document: "Anthropic", operation: "/v1/messages", at: "messages[].content[]", task: "chat" },
    names: anthropic("messages/messages", "DocumentBlockParam"),
    body: (fields) =>
      part({ type: "document", source: { type: "text", media_type: "text/plain", data: "x" }, ...fields }),
  },
  ...VENDOR_GROUPS,
};
