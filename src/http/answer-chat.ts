/** Answers a chat in the client's format: the one path of chat completions, text completions, messages, responses and Ollama. */

import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from "fastify";
import type { ChatAnswer } from "../inference/chat-call.ts";
import type { ChatOptions } from "../inference/chat-requests.ts";
import type { Inference } from "../inference/inference.ts";
import { turnBetweenParts } from "../kernel/async/turn-between-parts.ts";
import { Fault } from "../kernel/faults.ts";
import {
  type ChatFormat,
  type FormatChat,
  type FormatContext,
  ignoredBy,
  renderAnswer,
  renderFrames,
} from "../wire/chat-format.ts";
import type { UnknownFieldsPolicy } from "../wire/openai/unknown-fields.ts";
import { onDisconnect } from "./on-disconnect.ts";
import { reportIgnoredFields } from "./report-ignored-fields.ts";
import { sendAnswer } from "./send-answer.ts";
import { sendEvents } from "./send-events.ts";
import { WaitFrames } from "./wait-frames.ts";

/**
 * Handler of a route whose body is all that a chat consists of. `prepare` completes what was read; `askOf` answers in
 * another way than `ask`, where it returns one.
 */
export function chatHandler<Chat extends FormatChat>(
  inference: Inference,
  format: ChatFormat<FormatContext, Chat>,
  unknownFields: UnknownFieldsPolicy,
  prepare?: (reply: FastifyReply, chat: Chat) => Promise<void>,
  askOf?: (reply: FastifyReply, chat: Chat, ask: AskChat<Chat>) => AskChat<Chat> | undefined,
): RouteHandlerMethod {
  return async (request, reply) => {
    const chat = format.read(request.body, formatContext(request, unknownFields));
    if (prepare !== undefined) {
      request.record.model = chat.model;
      await turnBetweenParts(request.bodyBytes);
      await prepare(reply, chat);
    }
    const ask = askModel(inference, format, reply);
    return answerChat(inference, format, chat, reply, askOf?.(reply, chat, ask) ?? ask);
  };
}

export function formatContext({ headers, id }: FastifyRequest, unknownFields: UnknownFieldsPolicy): FormatContext {
  return { callerHeaders: headers, unknownFields, requestId: id };
}

/** Asks a model, or runs a loop of models and tools. */
export type AskChat<Chat> = (chat: Chat, options: ChatOptions) => Promise<ChatAnswer>;

/** Runs the chat and sends its answer. A handler returns this function's result. */
export async function answerChat<Context extends FormatContext, Chat extends FormatChat>(
  inference: Inference,
  format: ChatFormat<Context, Chat>,
  chat: Chat,
  reply: FastifyReply,
  ask: AskChat<Chat> = askModel(inference, format, reply),
): Promise<unknown> {
  const { request } = reply;
  request.record.model = chat.model;
  // What was read is converted next, and then sent.
  await turnBetweenParts(request.bodyBytes);
  const waiting = chat.isStreamed ? new WaitFrames<ChatAnswer>((reason) => format.waitFrame(reason, chat)) : undefined;
  const answering = run(format, chat, reply, waiting, ask);
  const answer = waiting === undefined ? await answering : await waiting.answerOrWait(answering);
  if (answer !== undefined) {
    if (format.headers !== undefined) reply.headers(format.headers(chat, answer.rateLimitStatus));
    reportIgnoredFields(reply, ignoredBy(format, answer, chat));
    if (waiting === undefined) return sendAnswer(reply, answer, { body: renderAnswer(format, answer, chat) });
  } else if (format.headers !== undefined) {
    reply.headers(format.headers(chat, undefined));
  }
  const toErrorFrame = (failure: unknown) => format.errorFrame(failure, chat);
  const contentType = format.streamType === undefined ? {} : { contentType: format.streamType };
  if (answer !== undefined) {
    return sendAnswer(reply, answer, { events: renderFrames(format, answer, chat), toErrorFrame, ...contentType });
  }
  const events = (waiting as WaitFrames<ChatAnswer>).until(answering, (late) => {
    request.record.settlement = late.settlement;
    return renderFrames(format, late, chat);
  });
  return sendEvents(reply, events, toErrorFrame, format.streamType);
}

/** Times that a prompt is shortened, by a quarter each time. */
const MAX_SHORTENINGS = 12;

/** Runs the chat, again with a shorter prompt where the format allows it and the prompt does not fit. Throws a Fault. */
export async function runWithin<Context extends FormatContext, Chat extends FormatChat>(
  { shorten }: Pick<ChatFormat<Context, Chat>, "shorten">,
  chat: Chat,
  run: (chat: Chat) => Promise<ChatAnswer>,
): Promise<ChatAnswer> {
  let sent = chat;
  for (let shortenings = 0; ; shortenings += 1) {
    try {
      return await run(sent);
    } catch (failure) {
      const isTooLong = failure instanceof Fault && failure.code === "context_length_exceeded";
      const shorter = isTooLong && shortenings < MAX_SHORTENINGS ? shorten?.(sent) : undefined;
      if (shorter === undefined) throw failure;
      sent = shorter;
    }
  }
}

function run<Context extends FormatContext, Chat extends FormatChat>(
  { fail }: Pick<ChatFormat<Context, Chat>, "fail">,
  chat: Chat,
  reply: FastifyReply,
  waiting: WaitFrames<ChatAnswer> | undefined,
  ask: AskChat<Chat>,
): Promise<ChatAnswer> {
  const { counted } = reply.request.record;
  const options = { moderation: chat.moderation, onDisconnect: onDisconnect(reply), onWait: waiting?.onWait, counted };
  const answering = ask(chat, options);
  return fail === undefined ? answering : answering.catch((failure: unknown) => fail(failure, chat));
}

function askModel<Context extends FormatContext, Chat extends FormatChat>(
  inference: Inference,
  format: ChatFormat<Context, Chat>,
  { request }: FastifyReply,
): AskChat<Chat> {
  return (chat, options) =>
    runWithin(format, chat, async (each) => {
      const call = format.call(each);
      await turnBetweenParts(request.bodyBytes);
      return inference.chat(request.caller, call, options);
    });
}
