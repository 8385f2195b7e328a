import type { FastifyPluginAsync } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import { chatHandler } from "../../http/answer-chat.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { entryOfAnswered } from "../../http/request-log.ts";
import type { Inference } from "../../inference/inference.ts";
import { ChatBody } from "../../wire/openai/chat/chat-body.ts";
import { type CompletionChat, chatCompletionsFormat } from "../../wire/openai/chat/chat-completions.ts";
import { ChatCompletion, ChatCompletionEvent } from "../../wire/openai/chat/completion-answers.ts";
import { searchesByItself } from "../../wire/openai/chat/web-search-options.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import type { BodyContent } from "../files/index.ts";
import type { StoredCompletions } from "../recorded-content/index.ts";
import { type ServiceTools, startToolLoop } from "../tools/index.ts";
import { toSearchLoop } from "./search-loop.ts";

interface ChatCompletionParts {
  content?: BodyContent;
  stored?: StoredCompletions | undefined;
  /** Whether the project of a caller lets completions be stored. */
  mayStore?: (caller: Caller) => boolean;
  tools?: ServiceTools;
  /** Searches of one answer. */
  maxToolCalls?: number;
}

/** POST /v1/chat/completions */
export function chatCompletions(
  inference: Inference,
  unknownFields: UnknownFieldsPolicy,
  { content, stored, mayStore, tools, maxToolCalls = 0 }: ChatCompletionParts = {},
): FastifyPluginAsync {
  return routes(
    rawOperation(
      "POST /chat/completions",
      {
        summary: "Creates a chat completion, streamed or not.",
        tag: "Chat",
        permission: "project",
        counts: "by-handler",
        body: ChatBody,
        answer: ChatCompletion,
        content: ["text/event-stream"],
        events: ChatCompletionEvent,
        route: { config: { outlinesMessages: true, takesPrompt: "chat" } },
      },
      chatHandler(
        inference,
        chatCompletionsFormat,
        unknownFields,
        content &&
          (async (reply, chat) => {
            chat.body = await content(reply, chat.body, ["messages"]);
          }),
        (reply, chat, ask) => {
          const { caller } = reply.request;
          const isNative = () => searchesByItself(chat.model) && isForwarded(caller, chat);
          const loop = tools && toSearchLoop(tools, chat, caller, isNative);
          if (loop !== undefined) {
            return (_chat, options) => startToolLoop({ inference, caller, maxCalls: maxToolCalls }, loop, options);
          }
          if (chat.body.store !== true) return undefined;
          const saved = mayStore?.(caller) === false ? undefined : stored;
          chat.isStoreIgnored = saved === undefined;
          const store = saved?.storeWith(() => entryOfAnswered(reply.request, reply), chat.body);
          return store && ((each, options) => ask(each, { ...options, store }));
        },
      ),
    ),
  );

  function isForwarded(caller: Caller, chat: CompletionChat): boolean {
    const { passThrough } = chatCompletionsFormat.call(chat);
    return passThrough !== undefined && inference.mayForward(caller, chat.model, passThrough);
  }
}
