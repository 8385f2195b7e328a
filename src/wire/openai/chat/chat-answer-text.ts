/** Reads and removes the text of forwarded answers. */

import type { TextDelta } from "../../../contracts/answer-text.ts";
import { parseEvents } from "../../../kernel/server-sent-events.ts";
import { forwardedText } from "../../forwarded-answer.ts";

interface Choice {
  index?: number;
  finish_reason?: string | null;
  delta?: Record<string, unknown> | null;
  message?: Record<string, unknown> | null;
}

type Chunk = Record<string, unknown> & { choices?: Choice[] | null };

/** Fields without generated text: names from the caller, markers, and base64 data. */
const NO_TEXT: ReadonlySet<string> = new Set(["role", "id", "type", "name", "format", "data", "signature"]);

/** Yields the text of every field: upstreams have more text fields than OpenAI. */
function textsOf({ index: choice = 0, delta, message }: Choice): TextDelta[] {
  const texts: TextDelta[] = [];
  const walk = (value: unknown, part: string) => {
    if (typeof value === "string") texts.push({ choice, part, text: value });
    if (typeof value !== "object" || value === null) return;
    const fields = Object.entries(value).filter(([key]) => !NO_TEXT.has(key));
    for (const [key, inner] of fields) {
      const isWritten = key === "arguments" && typeof inner === "object";
      walk(isWritten ? JSON.stringify(inner) : inner, `${part}.${Array.isArray(value) ? placeOf(inner, key) : key}`);
    }
  };
  walk(delta ?? message, "");
  return texts;
}

function chunksOf(frames: Uint8Array): Chunk[] {
  return parseEvents(frames).map(({ data }) => JSON.parse(data) as Chunk);
}

export function choicesOfFrames(frames: Uint8Array): Choice[] {
  return chunksOf(frames).flatMap(({ choices }) => choices ?? []);
}

export function endedIn(frames: Uint8Array): number[] {
  return choicesOfFrames(frames).flatMap(({ index = 0, finish_reason: reason }) => (reason ? [index] : []));
}

/** Returns a frame of the same answer that ends the choices, each with the fields of `end`. */
export function endOpenChoices(frames: Uint8Array, open: readonly number[], end: object): Uint8Array {
  const last = chunksOf(frames).findLast(({ choices }) => (choices?.length ?? 0) > 0) ?? {};
  const choices = open.map((index) => ({ index, ...end }));
  return new TextEncoder().encode(`data: ${JSON.stringify({ ...last, choices })}\n\n`);
}

export const chatAnswerText = forwardedText({
  textsOfFrames: (frames) => choicesOfFrames(frames).flatMap(textsOf),

  endedIn,

  textsOfCompletion: ({ fields }) => ((fields.choices ?? []) as Choice[]).flatMap(textsOf),

  endBlocked: (frames, open) =>
    endOpenChoices(frames, open, { delta: {}, logprobs: null, finish_reason: "content_filter" }),

  emptyBlocked({ fields }) {
    // Drop all other fields: upstreams repeat the text in some of them, for example as tokens.
    const choices = ((fields.choices ?? []) as Choice[]).map(({ index = 0 }) => ({
      index,
      message: { role: "assistant", content: "", refusal: null },
      logprobs: null,
      finish_reason: "content_filter",
    }));
    const emptied = { ...fields, choices };
    return { fields: emptied, json: JSON.stringify(emptied) };
  },
});

/** Tool calls arrive in pieces, each with the index of its call. */
function placeOf(element: unknown, key: string): string | number {
  return (element as { index?: number } | null)?.index ?? key;
}
