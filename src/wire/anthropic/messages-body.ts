/** POST /v1/messages and /v1/messages/count_tokens: validates the body. */

import { z } from "zod";
import { invalidRequest } from "../../kernel/faults.ts";
import { keepSource, sourceOf } from "../../kernel/json/json-source.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { optional } from "../openai/optional.ts";
import { parse } from "../openai/validate.ts";
import { named } from "../openapi/named.ts";
import { Messages, SystemPrompt } from "./messages-content.ts";
import { McpServers } from "./messages-mcp.ts";
import { ToolChoiceField, Tools } from "./messages-tools.ts";

const Share = z.number().min(0).max(1);
const JsonFormat = lazy.looseObject(() => ({
  type: z.literal("json_schema"),
  schema: z.record(z.string(), z.unknown()),
}));

export const CountTokensBody = named(
  "MessageTokenCountBody",
  lazy.looseObject(() => ({
    model: z.string().min(1),
    messages: Messages,
    system: optional(SystemPrompt),
    tools: optional(Tools),
    tool_choice: optional(ToolChoiceField),
    mcp_servers: optional(McpServers),
    thinking: optional(z.looseObject({ type: z.string().min(1), display: z.string().nullish() })),
    output_config: optional(z.looseObject({ format: optional(JsonFormat), effort: optional(z.string()) })),
    /** Beta name of `output_config.format`. */
    output_format: optional(JsonFormat),
  })),
);

export const MessagesBody = named(
  "MessagesBody",
  CountTokensBody.extend({
    max_tokens: z.int().min(1),
    stream: optional(z.boolean()),
    stop_sequences: optional(listOf(z.string().min(1)).max(4)),
    temperature: optional(Share),
    top_p: optional(Share),
    top_k: optional(z.int().min(0)),
  }),
);

export type MessagesPrompt = z.output<typeof CountTokensBody>;
export type MessagesBody = z.output<typeof MessagesBody>;

/**
 * Validates the body, and keeps its bytes for an upstream that has the Messages API. Throws a Fault that names the first
 * invalid field.
 */
export function readMessagesBody(value: unknown): MessagesBody {
  const body = withoutThread(parse(MessagesBody, value));
  // The schema drops null.
  if (!Object.values(value as object).includes(null)) keepSource(body, sourceOf(value as object));
  return body;
}

/** Validates like `readMessagesBody`, for a prompt that is only counted. Throws a Fault. */
export function readCountTokensBody(value: unknown): MessagesPrompt {
  return withoutThread(parse(CountTokensBody, value));
}

/** Code on which Anthropic's clients send the conversation again, complete and without a thread. */
export const THREAD_UNSUPPORTED = "thread_unsupported_request";

/**
 * Refuses `thread`, with which a request continues one that the server stores: an answer without it would lack its
 * history. Not for an upstream either, whose key projects share, so that each could continue another's threads.
 */
function withoutThread<Body extends MessagesPrompt>(body: Body): Body {
  if (body.thread === undefined || body.thread === null) return body;
  const message = "Threads are not supported here: send the complete conversation in 'messages', without 'thread'.";
  throw invalidRequest(message, "thread", THREAD_UNSUPPORTED);
}
