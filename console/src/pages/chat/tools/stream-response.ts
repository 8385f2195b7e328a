import type { AnswerReader } from "../stream-answer.ts";
import type { ResponseBody } from "./response-body.ts";
import { toCitation, toServiceCall } from "./service-tools.ts";

/** Reads a streamed response with the calls of tools that the service runs, and their sources. */
export function responseReader(body: ResponseBody): AnswerReader {
  return async ({ openai, signal, answer, onPart, show, sinceStart }) => {
    const { data: stream, request_id: requestId } = await openai.responses.create(body, { signal }).withResponse();
    if (requestId) answer.requestId = requestId;
    for await (const event of stream) {
      switch (event.type) {
        case "response.output_text.delta":
          onPart();
          answer.text += event.delta;
          break;
        case "response.reasoning_text.delta":
        case "response.reasoning_summary_text.delta":
          onPart();
          answer.reasoning += event.delta;
          break;
        case "response.output_text.annotation.added": {
          const citation = toCitation({ ...event.annotation });
          const citations = answer.citations ?? [];
          const isNew = citations.every(({ title, url }) => title !== citation?.title || url !== citation.url);
          if (citation !== undefined && isNew) answer.citations = [...citations, citation];
          break;
        }
        case "response.output_item.added":
        case "response.output_item.done": {
          const { item } = event;
          const call = toServiceCall({ ...item });
          if (call !== undefined) {
            const others = (answer.serviceCalls ?? []).filter(({ id }) => id !== call.id);
            answer.serviceCalls = [...others, call];
          }
          if (item.type === "function_call" && event.type === "response.output_item.done") {
            answer.toolCalls.push({ id: item.call_id, name: item.name, arguments: item.arguments });
          }
          break;
        }
        case "response.completed":
        case "response.incomplete": {
          const { usage, incomplete_details: incomplete } = event.response;
          if (usage) {
            answer.measures = {
              ...sinceStart(),
              promptTokens: usage.input_tokens,
              cachedTokens: usage.input_tokens_details?.cached_tokens ?? 0,
              completionTokens: usage.output_tokens,
            };
          }
          if (incomplete?.reason === "max_output_tokens") answer.finishReason = "length";
          if (incomplete?.reason === "content_filter") answer.finishReason = "content_filter";
          break;
        }
        case "response.failed":
          throw new Error(event.response.error?.message ?? "The response failed.");
        case "error":
          throw new Error(event.message);
      }
      show();
    }
  };
}
