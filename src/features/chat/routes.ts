import type { FastifyPluginAsync } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import { chatHandler } from "../../http/answer-chat.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { entryOfAnswered } from "../../http/request-log.ts";
import type { Inference } from "../../inference/inference.ts";
import { ChatBody } from "../../wire/openai/chat/chat-body.ts";
import { chatCompletionsFormat } from "../../wire/openai/chat/chat-completions.ts";
import { ChatCompletion, ChatCompletionEvent } from "../../wire/openai/chat/completion-answers.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import type { BodyContent } from "../files/index.ts";
import type { StoredCompletions } from "../recorded-content/index.ts";
import type { ServiceTools } from "../tools/index.ts";

interface ChatCompletionParts {
  content?: BodyContent;
  stored?: StoredCompletions | undefined;
  /** Whether the project of a caller lets completions be stored. */
  mayStore?: (caller: Caller) => boolean;
  tools?: Pick<ServiceTools, "access">;
}

/** POST /v1/chat/completions */
export function chatCompletions(
  inference: Inference,
  unknownFields: UnknownFieldsPolicy,
  { content, stored, mayStore, tools }: ChatCompletionParts = {},
): FastifyPluginAsync {
  return routes(
    rawOperation(
      "POST /chat/completions",
      {
        summary: "Creates a chat completion, streamed or not.",
        tag: "Chat",
        permission: "project",
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
            // An upstream would search.
            if (chat.body.web_search_options != null) {
              tools?.access.check(reply.request.caller, "web_search", "web_search_options");
            }
            chat.body = await content(reply, chat.body, ["messages"]);
          }),
        (reply, chat) => {
          if (chat.body.store !== true) return undefined;
          const store = mayStore?.(reply.request.caller) === false ? undefined : stored;
          chat.isStoreIgnored = store === undefined;
          return store?.storeWith(() => entryOfAnswered(reply.request, reply), chat.body);
        },
      ),
    ),
  );
}
