/** Masks content before it is stored: what the guardrails of its request find, and what its project names. */

import type { ContentMessage, ContentPart } from "../../contracts/chat-content.ts";
import { type Guardrail, guardrailList } from "../../contracts/guardrail.ts";
import { finderOf, type TextFinder } from "../../inference/guardrails/finders.ts";
import type { GuardrailServices } from "../../inference/guardrails/guardrail-services.ts";
import { maskTexts } from "../../inference/guardrails/mask-texts.ts";
import type { RecordedContent, RecordedTool, RequestRecording } from "../../inference/recording/request-recording.ts";

/** One object for each, by which finders are cached. */
const OF_PROJECT: Readonly<Record<RequestRecording["redact"][number], Guardrail>> = {
  pii: guardrailList.parse([{ type: "pii", action: "mask" }])[0] as Guardrail,
  secrets: guardrailList.parse([{ type: "secrets", action: "mask" }])[0] as Guardrail,
};

/** Finders that mask the content of a recording; none: it is stored as it is. */
export function findersOf(
  { guardrails, redact }: Pick<RequestRecording, "guardrails" | "redact">,
  services: GuardrailServices,
): readonly TextFinder[] {
  const masking = guardrails.filter(({ type }) => type === "pii" || type === "secrets" || type === "words");
  const all = new Set([...masking, ...redact.map((name) => OF_PROJECT[name])]);
  return [...all].flatMap((guardrail) => finderOf(guardrail, services) ?? []);
}

/** Throws when a finder fails. */
export async function redactContent(
  content: RecordedContent,
  finders: readonly TextFinder[],
  signal: AbortSignal,
): Promise<RecordedContent> {
  if (finders.length === 0) return content;
  const texts = [...textsOf(content)];
  const masked = (await maskTexts(texts, finders, signal)).values();
  const next = () => masked.next().value ?? "";
  const message = (each: ContentMessage): ContentMessage => ({
    ...each,
    parts: each.parts.map((part) => withText(part, next)),
  });
  const inputMessages = content.inputMessages.map(message);
  const outputMessages = content.outputMessages.map(message);
  const { tools } = content;
  if (tools === undefined) return { inputMessages, outputMessages };
  return { inputMessages, outputMessages, tools: tools.map(() => JSON.parse(next()) as RecordedTool) };
}

/** Field of a part that contains text. */
function fieldOf(part: ContentPart): string | undefined {
  return ["content", "arguments", "response", "uri", "name"].find(
    (field) => field in part && !(part.type === "tool_call" && field === "name"),
  );
}

function* textsOf({ inputMessages, outputMessages, tools = [] }: RecordedContent): Generator<string> {
  for (const { parts } of [...inputMessages, ...outputMessages]) {
    for (const part of parts) {
      const field = fieldOf(part);
      if (field !== undefined) yield String((part as Record<string, unknown>)[field] ?? "");
    }
  }
  for (const tool of tools) yield JSON.stringify(tool);
}

function withText(part: ContentPart, next: () => string): ContentPart {
  const field = fieldOf(part);
  return field === undefined ? part : ({ ...part, [field]: next() } as ContentPart);
}
