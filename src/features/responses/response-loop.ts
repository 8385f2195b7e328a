import { runWithin } from "../../http/answer-chat.ts";
import { type ResponseChat, responsesFormat, toCall } from "../../wire/responses/responses-format.ts";
import { functionsIn, loadedTools, TOOL_SEARCH } from "../../wire/responses/tool-search.ts";
import { toTypedCall } from "../../wire/typed-call.ts";
import { closedOnFailure, type LoopRequest, type ServiceTools } from "../tools/index.ts";

/** Returns the request of a tool loop for a response. `positions`: those of the tools that this service runs. */
export function toResponseLoop(tools: ServiceTools, positions: ReadonlySet<number>, chat: ResponseChat): LoopRequest {
  const { body, prompt } = chat;
  return {
    model: chat.model,
    maxCalls: body.max_tool_calls ?? undefined,
    check: (caller) => tools.access.checkAll(caller, body.tools ?? []),
    open: async (context) => {
      const input = typeof prompt.input === "string" ? [] : prompt.input;
      const prior = { items: [...prompt.context, ...input], include: body.include ?? [] };
      const open = await tools.open(body, chat.tools, positions, { ...context, ...prior }, defersServer(body));
      return closedOnFailure(open.close, () => {
        for (const each of functionsIn(loadedTools(prior.items))) open.deferred.load(each);
        chat.tools = open.tools;
        return open;
      });
    },
    ask: (run) => runWithin(responsesFormat, chat, (each) => run(toTypedCall(toCall(each)))),
  };
}

/** Returns whether the tools of a server are deferred, which takes a search that loads them. */
function defersServer({ tools = [] }: ResponseChat["body"]): (serverLabel: string) => boolean {
  const hasSearch = tools.some(({ type }) => type === TOOL_SEARCH);
  const deferred = tools.filter(({ type, defer_loading: isDeferred }) => type === "mcp" && isDeferred === true);
  const labels = new Set(deferred.map(({ server_label: label }) => label));
  return (serverLabel) => hasSearch && labels.has(serverLabel);
}
