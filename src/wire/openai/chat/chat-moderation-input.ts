/** Selects the texts of a chat request for moderation: everything that a chat model may read, in any field. */

import { type Fault, unsupportedValue } from "../../../kernel/faults.ts";
import { joinedTexts, type ModerationTexts, writtenIn } from "../../moderation-texts.ts";
import type { ChatCompletionBody } from "./chat-body.ts";
import type { Message } from "./chat-messages.ts";

/** Fields whose texts no model reads, and `messages`, which are moderated one by one. */
const NOT_READ: ReadonlySet<string> = new Set([
  "messages",
  "model",
  "moderation",
  "stream_options",
  "stop",
  "logit_bias",
  "tool_choice",
  "modalities",
  "service_tier",
  "user",
  "metadata",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
]);

/**
 * Builds the moderation input: each message by itself, the conversation as one text, and each other field that a model
 * may read, such as descriptions of tools.
 */
export function toModerationInput(body: ChatCompletionBody): ModerationTexts {
  const further = Object.entries(body).filter(([field]) => !NOT_READ.has(field));
  const texts = body.messages.map(textsOf);
  return {
    texts: [...texts.flat(), ...joinedTexts(body.messages, texts), ...further.flatMap(([, value]) => writtenIn(value))],
    unmoderatable: unmoderatablePart(body.messages),
  };
}

function textsOf({ role: _role, content, ...rest }: Message): string[] {
  const { tool_call_id: _id, name, ...others } = rest as Record<string, unknown>;
  // A model reads the parts as one text.
  const parts = typeof content === "string" ? [content] : (content ?? []).map(textOfPart);
  // A name alone is too little context for moderation: a tool may be named `kill_process`.
  const namePrefix = typeof name === "string" ? `${name}\n` : "";
  // Text in a field such as `reasoning_content` belongs to the message, however short.
  const further = Object.values(others).flatMap((value) => (typeof value === "string" ? [value] : writtenIn(value)));
  return [namePrefix + parts.join(""), ...further];
}

function textOfPart({ text, refusal }: Readonly<Record<string, unknown>>): string {
  return [text, refusal].filter((each) => typeof each === "string").join("");
}

const TEXT_PARTS: ReadonlySet<string> = new Set(["text", "refusal"]);

function unmoderatablePart(messages: readonly Message[]): Fault | undefined {
  for (const [index, { content }] of messages.entries()) {
    if (typeof content !== "object" || content === null) continue;
    const at = content.findIndex(({ type }) => !TEXT_PARTS.has(type));
    const part = content[at];
    if (part === undefined) continue;
    const message = `The moderation policy blocks messages by their text, and this part is of the type '${part.type}'.`;
    return unsupportedValue(message, `messages[${index}].content[${at}].type`);
  }
  return undefined;
}
