/** Masks content before it is stored: what the guardrails of its request find, and what its project names. */

import type { ContentMessage, ContentPart } from "../../contracts/chat-content.ts";
import { type Guardrail, guardrailList } from "../../contracts/guardrail.ts";
import { finderOf, type TextFinder } from "../../inference/guardrails/finders.ts";
import { maskTexts } from "../../inference/guardrails/mask-texts.ts";
import type { RecordedContent, RecordedTool, RequestRecording } from "../../inference/recording/request-recording.ts";
import type { CompletionFields } from "./sealed-content.ts";

export interface StorableContent extends RecordedContent {
  /** Fields of its request that a stored chat completion repeats. */
  request?: CompletionFields["request"] | undefined;
}

/** One object for each, by which finders are cached. */
const OF_PROJECT: Readonly<Record<RequestRecording["redact"][number], Guardrail>> = {
  pii: guardrailList.parse([{ type: "pii", action: "mask" }])[0] as Guardrail,
  secrets: guardrailList.parse([{ type: "secrets", action: "mask" }])[0] as Guardrail,
};

/** Finders that mask the content of a recording; none: it is stored as it is. */
export function findersOf(
  { guardrails, redact }: Pick<RequestRecording, "guardrails" | "redact">,
  context: Parameters<typeof finderOf>[1],
): readonly TextFinder[] {
  const masking = guardrails.filter(({ type }) => type === "pii" || type === "secrets" || type === "words");
  const all = new Set([...masking, ...redact.map((name) => OF_PROJECT[name])]);
  return [...all].flatMap((guardrail) => finderOf(guardrail, context) ?? []);
}

/** Throws when a finder fails. */
export async function redactContent(
  content: StorableContent,
  finders: readonly TextFinder[],
  signal: AbortSignal,
): Promise<StorableContent> {
  if (finders.length === 0) return content;
  const texts: string[] = [];
  rewriteContent(content, (text) => {
    texts.push(text);
    return text;
  });
  const masked = (await maskTexts(texts, finders, signal)).values();
  return rewriteContent(content, () => masked.next().value ?? "");
}

/** A decision for each kind of part, so that a new one does not compile without one. */
const TEXT_FIELDS: {
  readonly [Type in ContentPart["type"]]: readonly (string & keyof Extract<ContentPart, { type: Type }>)[];
} = {
  text: ["content"],
  reasoning: ["content"],
  refusal: ["content"],
  tool_call: ["id", "name", "arguments"],
  tool_call_response: ["id", "response"],
  uri: ["uri"],
  blob: ["name"],
};

type Rewrite = (text: string) => string;

/** Rewrites the texts of content one after the other, those of equal content in the same order. */
function rewriteContent(content: StorableContent, rewrite: Rewrite): StorableContent {
  const { inputMessages, outputMessages, tools, request } = content;
  return {
    inputMessages: inputMessages.map((message) => rewriteMessage(message, rewrite)),
    outputMessages: outputMessages.map((message) => rewriteMessage(message, rewrite)),
    ...(tools !== undefined && {
      tools: tools.map((tool) => JSON.parse(rewrite(JSON.stringify(tool))) as RecordedTool),
    }),
    ...(request !== undefined && {
      request: Object.fromEntries(Object.entries(request).map(([name, value]) => [name, rewriteField(value, rewrite)])),
    }),
  };
}

/** A number would no longer be JSON. */
function rewriteField(value: unknown, rewrite: Rewrite): unknown {
  if (typeof value === "string") return rewrite(value);
  return typeof value === "object" && value !== null ? JSON.parse(rewrite(JSON.stringify(value))) : value;
}

function rewriteMessage(message: ContentMessage, rewrite: Rewrite): ContentMessage {
  const { name, parts } = message;
  return {
    ...message,
    ...(name !== undefined && { name: rewrite(name) }),
    parts: parts.map((part) => rewritePart(part, rewrite)),
  };
}

function rewritePart(part: ContentPart, rewrite: Rewrite): ContentPart {
  const output: Record<string, unknown> = { ...part };
  for (const field of TEXT_FIELDS[part.type]) {
    const text = output[field];
    if (typeof text === "string") output[field] = rewrite(text);
  }
  return output as ContentPart;
}
