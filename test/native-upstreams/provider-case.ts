/** What a provider's row in the table of abilities needs. */

import type { PreparedAnswer, ReceivedRequest, WireFormat } from "../support/upstreams/native/stand-in.ts";
import type { Api } from "./apis.ts";

export interface ProviderCase {
  /** Default: the name of the engine. */
  name?: string;
  engine: string;
  format: WireFormat;
  /** Settings of a deployment in front of the stand-in. */
  settings(origin: string): object;
  /** Starts what the settings need. */
  start?(): Promise<AsyncDisposable>;
  answers: {
    /** Two calls of `get_weather`, for Paris and Oslo, after the reasoning "Two cities." if `hasReasoning`. */
    calls: PreparedAnswer;
    /** The text "It is warm." with 90 prompt tokens, 30 of them cached, and 25 completion tokens. */
    text: PreparedAnswer;
    /** A text cut off by the limit of tokens. */
    cut: PreparedAnswer;
    /** The provider's refusal to answer for reasons of safety; left out: it has none. */
    refused?: PreparedAnswer;
    /** The provider limits requests, and asks for a wait of 17 s. */
    limited: PreparedAnswer;
    /** The provider is overloaded. */
    overloaded: PreparedAnswer;
    /** The key is wrong. */
    unauthorized: PreparedAnswer;
  };
  /** Tokens that the text reports as written to a cache. */
  writtenTokens: number;
  hasReasoning: boolean;
  /** Whether it can read PDF; otherwise it gets the text. */
  readsPdf: boolean;
  readsImages: boolean;
  hasSchemas: boolean;
  /** Matches of `toMatchObject` for what the provider gets. */
  expected: {
    image: object;
    pdf?: object;
    tools: object;
    choices: Record<"required" | "get_weather" | "none", object>;
    /** The turn with calls and results; `signed` if the provider recognizes its reasoning. */
    results: object;
    schema?: object;
    effort?: object;
    marked?: object;
  };
  /** Reads the credentials of a request. Throws if they are wrong. */
  credentials(request: ReceivedRequest): void;
  /** A field of chat completions that the provider does not have; left out: it refuses fields by itself. */
  missing?: { field: string; value: unknown };
  /** API whose bodies are forwarded, and the complete answer of a stream, for requests that are not streamed. */
  forwarded?: { api: Api["name"]; toComplete(answer: PreparedAnswer): PreparedAnswer };
}
