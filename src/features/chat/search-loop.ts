/** Chats with `web_search_options`, for which this service searches as it does for the tool `web_search` of responses. */

import type { Caller } from "../../contracts/caller.ts";
import { runWithin } from "../../http/answer-chat.ts";
import { type CompletionChat, chatCompletionsFormat } from "../../wire/openai/chat/chat-completions.ts";
import { toSearchTool, withSearch } from "../../wire/openai/chat/web-search-options.ts";
import { toTypedCall } from "../../wire/typed-call.ts";
import type { LoopRequest, OpenTools, ServiceTools } from "../tools/index.ts";

const TYPE = "web_search";

/**
 * Returns the request of a tool loop; undefined: this service does not search. `isNative`: whether the model is one of
 * another service that searches by itself. Throws a Fault.
 */
export function toSearchLoop(
  tools: ServiceTools,
  chat: CompletionChat,
  caller: Caller,
  isNative: () => boolean,
): LoopRequest | undefined {
  if (chat.body.web_search_options == null) return undefined;
  const check = (current: Caller) => tools.access.check(current, TYPE, "web_search_options");
  // An upstream would search, too.
  check(caller);
  if (!tools.types.includes(TYPE) || isNative()) return undefined;
  const search = toSearchTool(chat.body);
  const { web_search_options: _options, store, ...body } = chat.body;
  const searching: CompletionChat = { ...chat, body: body as CompletionChat["body"] };
  // Each turn of the model would be stored as a completion of its own.
  chat.isStoreIgnored = store === true;
  let open: OpenTools | undefined;
  return {
    model: chat.model,
    check,
    open: async (context) => {
      const sent = chatCompletionsFormat.call(searching).request.tools;
      const names = new Map(sent.map(({ name }) => [name, { type: "function" as const, name, namespace: undefined }]));
      const run = { ...context, items: [], include: [], isTransient: true };
      open = await tools.open({ tools: [search] }, { tools: [], names }, new Set([0]), run);
      return open;
    },
    ask: (run) =>
      runWithin(chatCompletionsFormat, searching, (each) => {
        const call = toTypedCall(chatCompletionsFormat.call(each));
        const [found] = open?.functions.values() ?? [];
        return run(found === undefined ? call : withSearch(call, found.definition));
      }),
  };
}
