import type { FastifyPluginAsync } from "fastify";
import { answerChat, formatContext } from "../../http/answer-chat.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import type { Inference } from "../../inference/inference.ts";
import { Message, MessageEvent, TokenCount } from "../../wire/anthropic/message-answers.ts";
import { messagesFormat } from "../../wire/anthropic/messages.ts";
import { CountTokensBody, MessagesBody, readCountTokensBody } from "../../wire/anthropic/messages-body.ts";
import { checkCountedFields, ignoredFields, toPromptParts } from "../../wire/anthropic/messages-call.ts";
import { toRateLimitHeaders } from "../../wire/anthropic/rate-limit-headers.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import type { BodyContent } from "../files/index.ts";
import { type ServiceTools, startToolLoop } from "../tools/index.ts";
import { toMessagesLoop } from "./messages-loop.ts";

interface MessagesParts {
  content?: BodyContent;
  tools?: ServiceTools;
  /** Calls of tools that this service runs in one message. */
  maxToolCalls?: number;
}

/** POST /v1/messages and /v1/messages/count_tokens, in Anthropic's format. */
export function messages(
  inference: Inference,
  unknownFields: UnknownFieldsPolicy,
  { content, tools, maxToolCalls = 0 }: MessagesParts = {},
): FastifyPluginAsync {
  return routes(
    rawOperation(
      "POST /messages",
      {
        summary: "Answers a chat in Anthropic's format, streamed or not.",
        tag: "Chat",
        permission: "project",
        counts: "by-handler",
        body: MessagesBody,
        answer: Message,
        content: ["text/event-stream"],
        events: MessageEvent,
      },
      async (request, reply) => {
        const chat = messagesFormat.read(request.body, formatContext(request, unknownFields));
        request.record.model = chat.model;
        const { caller } = request;
        const isNative = () => {
          const { passThrough } = messagesFormat.call(chat);
          return passThrough !== undefined && inference.mayForward(caller, chat.model, passThrough);
        };
        const loop = tools && toMessagesLoop(tools, chat, caller, isNative);
        const fields = loop === undefined ? (["messages", "mcp_servers"] as const) : (["messages"] as const);
        if (content !== undefined) chat.body = await content(reply, chat.body, fields);
        if (loop === undefined) return answerChat(inference, messagesFormat, chat, reply);
        return answerChat(inference, messagesFormat, chat, reply, (_chat, ask) =>
          startToolLoop({ inference, caller, maxCalls: maxToolCalls }, loop, ask),
        );
      },
    ),
    rawOperation(
      "POST /messages/count_tokens",
      {
        summary: "Counts the tokens of a prompt in Anthropic's format; an estimate for upstreams.",
        tag: "Chat",
        permission: "project",
        counts: "by-handler",
        body: CountTokensBody,
        answer: TokenCount,
      },
      async (request, reply) => {
        const body = readCountTokensBody(request.body);
        request.record.model = body.model;
        checkCountedFields(body, unknownFields);
        const counted = await inference.countPromptTokens(request.caller, {
          ...toPromptParts(body),
          model: body.model,
        });
        reply.headers(toRateLimitHeaders(counted.rateLimitStatus)).header("request-id", request.id);
        reply.header("x-parlance-token-count", counted.isEstimate ? "estimate" : "exact");
        reportIgnoredFields(reply, ignoredFields(body));
        return { input_tokens: counted.promptTokens };
      },
    ),
  );
}
