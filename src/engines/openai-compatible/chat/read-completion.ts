import type { ChatRequest } from "../../../contracts/chat-model.ts";
import type { ForwardedCompletion } from "../../../contracts/chat-proxy.ts";
import { estimateTextTokens } from "../../../contracts/estimate-tokens.ts";
import { newId } from "../../../kernel/id.ts";
import type { TokenUsage } from "../../../kernel/usage.ts";
import { calledFunctions, parseOpenAiUsage } from "../../../wire/usage/openai-usage.ts";
import { withCalls } from "../../../wire/usage/usage-fields.ts";
import { parseUpstreamError, UpstreamError } from "../upstream-error.ts";
import { CHAT_COMPLETION, TEXT_COMPLETION } from "./completion-kind.ts";
import { estimateUsage } from "./estimate-usage.ts";
import { FirstCalls } from "./first-call.ts";
import { setValue } from "./json-text.ts";

/** An answer that is not streamed. */
export interface CompleteAnswer {
  completion: ForwardedCompletion;
  usage: TokenUsage;
}

/** Parses a complete answer, with `model` replaced and `id` set where it is missing. `promptBytes`: of a forwarded body. Throws UpstreamError for anything else. */
export function readCompletion(
  body: string,
  request: Pick<ChatRequest, "model" | "messages" | "tools" | "format" | "parallelToolCalls">,
  promptBytes: () => number = () => 0,
): CompleteAnswer {
  const parsed = parse(body);
  const error = parseUpstreamError(parsed);
  if (error !== undefined) throw error;
  const fields = parsed as Record<string, unknown> | null;
  const choices = fields?.choices;
  if (fields === null || !Array.isArray(choices) || choices.length === 0)
    throw new UpstreamError("answered with something other than a completion");
  const reason = choices[0]?.finish_reason;
  if (typeof reason !== "string" || reason === "error")
    throw new UpstreamError("ended its answer before it was complete");
  const takesOneCall = !request.parallelToolCalls && request.tools.length > 0;
  const isChanged = takesOneCall && new FirstCalls().keepIn(choices);
  const usage =
    withCalls(
      parseOpenAiUsage(fields.usage, fields.service_tier),
      choices.flatMap((choice) => calledFunctions(choice?.message)),
    ) ?? estimateUsage(request, estimateTextTokens(textOf(choices)), promptBytes());
  let json = setValue(isChanged ? JSON.stringify(fields) : body, "model", JSON.stringify(request.model));
  fields.model = request.model;
  if (typeof fields.id !== "string" || fields.id === "") {
    fields.id = newId((typeof choices[0]?.text === "string" ? TEXT_COMPLETION : CHAT_COMPLETION).idPrefix);
    json = setValue(json, "id", `"${fields.id}"`);
  }
  return { completion: { fields, json }, usage };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch (error) {
    const isPage = /^\s*</.test(body);
    throw new UpstreamError(isPage ? "answered with a page" : "answered with something other than JSON", {
      cause: error,
    });
  }
}

/** Everything generated: text, reasoning and tool calls. */
function textOf(choices: ReadonlyArray<{ message?: unknown; text?: unknown }>): string {
  return choices
    .map((choice) => {
      if (typeof choice?.text === "string") return choice.text;
      const { content, reasoning_content, reasoning, tool_calls } = (choice?.message ?? {}) as Record<string, unknown>;
      return [content, reasoning_content ?? reasoning].join("") + (tool_calls ? JSON.stringify(tool_calls) : "");
    })
    .join("");
}
