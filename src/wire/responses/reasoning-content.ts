/**
 * `encrypted_content` of reasoning items: what the provider of an answer recognizes, in an envelope of this service. Other
 * upstreams that have the Responses API write values of their own, which only they read.
 */

import type { ReasoningBlock } from "../../contracts/chat-message.ts";

const SIGNED = "parlance.signed.";
const ENCRYPTED = "parlance.encrypted.";

type Item = Readonly<Record<string, unknown>>;

export function toEncryptedContent({ signature, encrypted }: Omit<ReasoningBlock, "text">): string | null {
  if (encrypted !== undefined) return ENCRYPTED + encrypted;
  return signature === undefined ? null : SIGNED + signature;
}

/** Whether the value belongs to this service, so that no upstream could read it. */
export function isEnvelope(value: unknown): boolean {
  return typeof value === "string" && (value.startsWith(SIGNED) || value.startsWith(ENCRYPTED));
}

/** Reads an item of an earlier answer; undefined without a value of this service. */
export function toReasoningBlock({ encrypted_content: value, content, summary }: Item): ReasoningBlock | undefined {
  if (typeof value !== "string") return undefined;
  if (value.startsWith(ENCRYPTED)) return { text: "", encrypted: value.slice(ENCRYPTED.length) };
  if (!value.startsWith(SIGNED)) return undefined;
  return { text: textOf(content) + textOf(summary), signature: value.slice(SIGNED.length) };
}

function textOf(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  return parts.map((part: Item | null) => (typeof part?.text === "string" ? part.text : "")).join("");
}
