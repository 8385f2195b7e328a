/** Renders a message as the frames of a stream. */

import type { AnswerIdentity } from "../answer-identity.ts";
import { newMessage, toEmptyBlock, toStop, toUsage } from "./messages-envelope.ts";
import type { MessagePart, MessagePartEvent } from "./messages-parts.ts";

const NOTHING_USED = { completionTokens: 0, reasoningTokens: 0, estimated: false };

/** Yields server-sent events, each frame complete. Throws failures, which the caller renders with `toErrorFrame`. */
export async function* toMessageFrames(
  events: AsyncIterable<MessagePartEvent>,
  answer: AnswerIdentity,
): AsyncGenerator<string> {
  let hasStarted = false;
  const start = (promptTokens: number, cachedTokens: number) => {
    hasStarted = true;
    const usage = toUsage({ ...NOTHING_USED, promptTokens, cachedTokens });
    return toFrame("message_start", { message: { ...newMessage(answer), usage } }) + PING;
  };
  for await (const event of events) {
    // Upstreams report the length of the prompt only at the end.
    if (!hasStarted) yield event.type === "start" ? start(event.promptTokens, event.cachedTokens) : start(0, 0);
    switch (event.type) {
      case "part-start":
        yield toFrame("content_block_start", { index: event.index, content_block: toEmptyBlock(event.part) });
        break;
      case "part-delta":
        yield toFrame("content_block_delta", { index: event.index, delta: toDelta(event.part, event.text) });
        break;
      case "part-signature": {
        const delta = { type: "signature_delta", signature: event.signature };
        yield toFrame("content_block_delta", { index: event.index, delta });
        break;
      }
      case "part-citation": {
        const delta = { type: "citations_delta", citation: event.citation };
        yield toFrame("content_block_delta", { index: event.index, delta });
        break;
      }
      case "part-stop":
        yield toFrame("content_block_stop", { index: event.index });
        break;
      case "end": {
        const delta = {
          container: null,
          stop_details: null,
          ...toStop(event),
        };
        yield toFrame("message_delta", { delta, usage: toUsage(event.usage, event.serverToolUse) });
        yield toFrame("message_stop", {});
      }
    }
  }
}

function toDelta({ type }: MessagePart, text: string): Record<string, string> {
  if (type === "text" || type === "refusal") return { type: "text_delta", text };
  if (type === "reasoning") return { type: "thinking_delta", thinking: text };
  return { type: "input_json_delta", partial_json: text };
}

function toFrame(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** Event that clients skip. */
export const PING = toFrame("ping", {});

/** Renders an error within a stream, which ends after it. */
export function toErrorFrame(body: object): string {
  return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
}
