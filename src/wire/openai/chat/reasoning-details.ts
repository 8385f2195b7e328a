/**
 * Reasoning that its provider recognizes, in chat completions: `reasoning_details` as of OpenRouter, `thinking_blocks`
 * as of LiteLLM, and Google's `extra_content` of tool calls.
 */

import type { ReasoningBlock } from "../../../contracts/chat-message.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { ReasoningDetail } from "./completion-answers.ts";

type Fields = Readonly<Record<string, unknown>>;
type Detail = AnswerOf<typeof ReasoningDetail>;

/** Reads the blocks that a client copied from an answer; those without a signature are left out. */
export function readReasoning({ reasoning_details: details, thinking_blocks: blocks }: Fields): ReasoningBlock[] {
  const sent = Array.isArray(details) ? details : Array.isArray(blocks) ? blocks : [];
  return sent.flatMap((block) => toBlock((block ?? {}) as Fields));
}

function toBlock({ type, text, thinking, signature, data }: Fields): ReasoningBlock[] {
  const isEncrypted = type === "reasoning.encrypted" || type === "redacted_thinking";
  if (isEncrypted) return typeof data === "string" && data !== "" ? [{ text: "", encrypted: data }] : [];
  if (typeof signature !== "string" || signature === "") return [];
  const written = text ?? thinking;
  return [{ text: typeof written === "string" ? written : "", signature }];
}

/** Writes a block as an entry of `reasoning_details`. */
function toReasoningDetail({ text, signature, encrypted }: ReasoningBlock, index: number): Detail {
  if (encrypted !== undefined) return { type: "reasoning.encrypted", index, data: encrypted };
  return { type: "reasoning.text", index, text, signature };
}

export function toExtraContent(signature: string | undefined): Fields {
  return signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
}

export function signatureOf(extra: unknown): string | undefined {
  const signature = ((extra as Fields | null)?.google as Fields | null | undefined)?.thought_signature;
  return typeof signature === "string" && signature !== "" ? signature : undefined;
}

/** Collects the blocks of one choice from its events. */
export class ReasoningDetails {
  readonly entries: Detail[] = [];
  #text = "";

  /** Returns the entry of a block that the event ends; undefined while it goes on. */
  add({ text, signature, encrypted }: ReasoningBlock): Detail | undefined {
    this.#text += text;
    if (signature === undefined && encrypted === undefined) return undefined;
    const entry = toReasoningDetail({ text: this.#text, signature, encrypted }, this.entries.length);
    this.#text = "";
    this.entries.push(entry);
    return entry;
  }
}
