import type OpenAI from "openai";
import { t } from "../../../i18n/translate.ts";
import type { AnswerReader, AnswerReading } from "../answers/stream-answer.ts";
import type { Answer } from "../conversation.ts";
import type { ResponseBody } from "./response-body.ts";
import { type ServiceCall, toCitation, toServiceCall } from "./service-tools.ts";

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
        case "response.completed":
        case "response.incomplete":
          endAnswer(answer, event.response, sinceStart);
          break;
        default:
          appendEvent(answer, event);
      }
      show();
    }
  };
}

/** Adds a call, or puts it in the place of its earlier state. */
function withCall(calls: readonly ServiceCall[] = [], call: ServiceCall): ServiceCall[] {
  const index = calls.findIndex(({ id }) => id === call.id);
  return index < 0 ? [...calls, call] : calls.with(index, call);
}

function withInput(calls: readonly ServiceCall[] = [], id: string, input: string): ServiceCall[] {
  return calls.map((call) => (call.id === id ? { ...call, input } : call));
}

/** Appends what tools of the service do, and throws the failure of the answer. */
function appendEvent(answer: Answer, event: OpenAI.Responses.ResponseStreamEvent): void {
  switch (event.type) {
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
      if (call !== undefined) answer.serviceCalls = withCall(answer.serviceCalls, call);
      if (item.type === "function_call" && event.type === "response.output_item.done") {
        answer.toolCalls.push({ id: item.call_id, name: item.name, arguments: item.arguments });
      }
      break;
    }
    // Shown while the call runs.
    case "response.mcp_call_arguments.done":
      answer.serviceCalls = withInput(answer.serviceCalls, event.item_id, event.arguments);
      break;
    case "response.code_interpreter_call_code.done":
      answer.serviceCalls = withInput(answer.serviceCalls, event.item_id, event.code);
      break;
    case "response.failed":
      throw new Error(event.response.error?.message ?? t("The response failed."));
    case "error":
      throw new Error(event.message);
  }
}

function endAnswer(
  answer: Answer,
  { usage, incomplete_details: incomplete }: OpenAI.Responses.Response,
  sinceStart: AnswerReading["sinceStart"],
): void {
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
}
