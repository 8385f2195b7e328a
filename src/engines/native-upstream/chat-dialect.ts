/** What the shared code needs to know of a provider's own chat API. */

import type { ChatAbilities, ChatEvent, ChatRequest } from "../../contracts/chat-model.ts";
import type { FrameSink } from "../openai-compatible/chat/frame-sink.ts";
import type { UpstreamError } from "../openai-compatible/upstream-error.ts";
import type { OptionalField } from "./missing-field.ts";

/** What the chat APIs of most providers can do. */
export const NATIVE_ABILITIES: ChatAbilities = {
  tools: true,
  jsonSchema: true,
  logprobs: false,
  vision: true,
  files: true,
  reasoning: true,
  choices: 1,
  completions: false,
  infill: false,
};

export interface ChatDialect {
  /** Name of the provider, for messages. */
  readonly provider: string;
  readonly abilities: ChatAbilities;
  /** Optional fields of a request that the API has. */
  readonly fields: ReadonlySet<OptionalField>;
  /** The same of a request with a prompt in place of messages, where its API is another one. */
  readonly promptFields?: ReadonlySet<OptionalField>;
  /** Converts the request; the answer is streamed. Throws a Fault that names what the API does not have. */
  toCall(request: ChatRequest, upstreamModel: string): NativeCall;
  /** Creates a reader of one streamed answer. */
  newSink(request: ChatRequest): FrameSink<ChatEvent>;
  /** Reads a refusal in the provider's form; undefined: the form that most upstreams share. */
  readError?(refusal: Refusal): ReadError | undefined;
}

export interface NativeCall {
  /** Path after the base URL. */
  path: string;
  body: Readonly<Record<string, unknown>>;
  headers?: Readonly<Record<string, string>>;
}

export interface Refusal {
  status: number;
  /** Parsed JSON; undefined for anything else. */
  body: unknown;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface ReadError {
  /** Status that the error means; default: that of the answer. */
  status?: number | undefined;
  error: UpstreamError;
  retryAfterSeconds?: number | undefined;
}
