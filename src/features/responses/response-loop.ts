import { runWithin } from "../../http/answer-chat.ts";
import { type ResponseChat, responsesFormat, toCall } from "../../wire/responses/responses-format.ts";
import { toTypedCall } from "../../wire/typed-call.ts";
import type { LoopRequest, ServiceTools } from "../tools/index.ts";

/** Returns the request of a tool loop for a response. `positions`: those of the tools that this service runs. */
export function toResponseLoop(tools: ServiceTools, positions: ReadonlySet<number>, chat: ResponseChat): LoopRequest {
  const { body, prompt } = chat;
  return {
    maxCalls: body.max_tool_calls ?? undefined,
    open: async (context) => {
      const input = typeof prompt.input === "string" ? [] : prompt.input;
      const prior = { items: [...prompt.context, ...input], include: body.include ?? [] };
      const open = await tools.open(body, chat.tools, positions, { ...context, ...prior });
      chat.tools = open.tools;
      return open;
    },
    ask: (run) => runWithin(responsesFormat, chat, (each) => run(toTypedCall(toCall(each)))),
  };
}
