/** What the routes that call models take and answer. */

import { CountTokensBody, MessagesBody } from "../anthropic/messages-body.ts";
import { OllamaChatBody, OllamaGenerateBody } from "../ollama/chat-body.ts";
import { EmbedBody, EmbeddingsBody } from "../ollama/embed.ts";
import { ShowBody } from "../ollama/models.ts";
import { SpeechBody } from "../openai/audio/speech.ts";
import { VoicesQuery } from "../openai/audio/speech-voices.ts";
import { TranscriptionBody, TranslationBody } from "../openai/audio/transcription-body.ts";
import { ChatBody } from "../openai/chat/chat-body.ts";
import { CompletionBody } from "../openai/completions/completions-body.ts";
import { EmbeddingBody } from "../openai/embeddings.ts";
import { ModelListQuery } from "../openai/models.ts";
import { ModerationBody } from "../openai/moderations.ts";
import { RerankBody } from "../openai/rerank.ts";
import { ClientSecretBody } from "../realtime/client-secret.ts";
import { RealtimeQuery } from "../realtime/session-query.ts";
import * as lists from "../responses/item-lists.ts";
import { ResponsesBody } from "../responses/responses-body.ts";
import * as answers from "./model-answers.ts";
import type { ContentType, Operation } from "./operation.ts";
import { deleted } from "./organization-answers.ts";

const of = (operation: Omit<Operation, "errors">): Operation => ({ ...operation, errors: "inference" });

const ollama = (operation: Omit<Operation, "errors">): Operation => ({ ...operation, errors: "ollama" });

const NDJSON = ["application/x-ndjson"] as const;
const RERANK = of({ body: RerankBody, answer: answers.Ranking });
const AUDIO = ["audio/mpeg", "audio/ogg", "audio/aac", "audio/flac", "audio/wav", "audio/pcm"] as const;
const TRANSCRIPTS: readonly ContentType[] = ["text/plain", "text/vtt", "text/event-stream"];
const RESPONSE = "/v1/responses/{response}";
const CONVERSATION = "/v1/conversations/{conversation}";
const MODELS = of({ query: ModelListQuery, answer: answers.ModelList });

export const MODEL_OPERATIONS: Readonly<Record<string, Operation>> = {
  "POST /v1/chat/completions": of({
    body: ChatBody,
    answer: answers.ChatCompletion,
    content: ["text/event-stream"],
  }),
  "POST /v1/completions": of({
    body: CompletionBody,
    answer: answers.TextCompletion,
    content: ["text/event-stream"],
  }),
  "POST /v1/messages": {
    body: MessagesBody,
    answer: answers.Message,
    content: ["text/event-stream"],
    errors: "messages",
  },
  "POST /v1/messages/count_tokens": { body: CountTokensBody, answer: answers.TokenCount, errors: "messages" },
  "POST /v1/responses": of({ body: ResponsesBody, answer: answers.Response, content: ["text/event-stream"] }),
  "POST /v1/responses/input_tokens": of({ body: ResponsesBody, answer: answers.ResponseTokens }),
  [`GET ${RESPONSE}`]: of({
    query: lists.RetrieveQuery,
    answer: answers.Response,
    content: ["text/event-stream"],
  }),
  [`DELETE ${RESPONSE}`]: of({ answer: deleted("response") }),
  [`POST ${RESPONSE}/cancel`]: of({ answer: answers.Response }),
  [`GET ${RESPONSE}/input_items`]: of({ query: lists.ItemListQuery, answer: answers.ItemList }),
  "POST /v1/conversations": of({
    body: lists.ConversationCreateBody,
    isBodyOptional: true,
    answer: answers.Conversation,
  }),
  [`GET ${CONVERSATION}`]: of({ answer: answers.Conversation }),
  [`POST ${CONVERSATION}`]: of({ body: lists.ConversationUpdateBody, answer: answers.Conversation }),
  [`DELETE ${CONVERSATION}`]: of({ answer: deleted("conversation.deleted") }),
  [`POST ${CONVERSATION}/items`]: of({ body: lists.ConversationItemsBody, answer: answers.ItemList }),
  [`GET ${CONVERSATION}/items`]: of({ query: lists.ItemListQuery, answer: answers.ItemList }),
  [`GET ${CONVERSATION}/items/{item}`]: of({ answer: answers.ListedItem }),
  [`DELETE ${CONVERSATION}/items/{item}`]: of({ answer: answers.Conversation }),
  "POST /v1/rerank": RERANK,
  "POST /v2/rerank": RERANK,
  "GET /api/version": ollama({ answer: answers.OllamaVersion }),
  "GET /api/tags": ollama({ answer: answers.OllamaModels }),
  "GET /api/ps": ollama({ answer: answers.OllamaModels }),
  "POST /api/show": ollama({ body: ShowBody, answer: answers.OllamaModel }),
  "POST /api/chat": ollama({ body: OllamaChatBody, answer: answers.OllamaChat, content: NDJSON }),
  "POST /api/generate": ollama({ body: OllamaGenerateBody, answer: answers.OllamaGenerate, content: NDJSON }),
  "POST /api/embed": ollama({ body: EmbedBody, answer: answers.OllamaEmbed }),
  "POST /api/embeddings": ollama({ body: EmbeddingsBody, answer: answers.OllamaEmbedding }),
  "POST /v1/embeddings": of({ body: EmbeddingBody, answer: answers.EmbeddingList }),
  "POST /v1/moderations": of({ body: ModerationBody, answer: answers.Moderation }),
  "POST /v1/audio/speech": of({ body: SpeechBody, content: [...AUDIO, "text/event-stream"] }),
  "POST /v1/audio/transcriptions": of({ form: TranscriptionBody, answer: answers.Transcript, content: TRANSCRIPTS }),
  "POST /v1/audio/translations": of({ form: TranslationBody, answer: answers.Transcript, content: TRANSCRIPTS }),
  "GET /v1/realtime": of({ query: RealtimeQuery }),
  "POST /v1/realtime/client_secrets": of({
    body: ClientSecretBody,
    isBodyOptional: true,
    answer: answers.ClientSecret,
  }),
  "GET /v1/audio/voices": of({ query: VoicesQuery, answer: answers.VoiceList }),
  "GET /v1/audio/models": of({ answer: answers.SpeechModelList }),
  "GET /v1/models": MODELS,
  "GET /v1/models/": MODELS,
  "GET /v1/models/{model}": of({ query: ModelListQuery, answer: answers.Model }),
};
