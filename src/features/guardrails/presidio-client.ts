/** Finds personal data with a Presidio analyzer. */

import { type Match, resolveOverlaps } from "@parlance-inference/text-privacy/match";
import { z } from "zod";
import type { Guardrail } from "../../contracts/guardrail.ts";
import { unavailable } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { type AskOptions, postJson } from "../../kernel/outgoing/ask-json.ts";
import type { GuardrailServiceSettings } from "./settings.ts";

const Results = z.array(
  lazy.object(() => ({
    entity_type: z.string().regex(/^[A-Z][A-Z_]{0,40}$/),
    start: z.int().min(0),
    end: z.int().min(0),
    score: z.number(),
  })),
);

const DEFAULT_THRESHOLD = 0.5;
const RETRY_AFTER_SECONDS = 5;

/** Throws a Fault while the server is away, so that no text leaves unmasked. */
export async function analyzeWithPresidio(
  settings: GuardrailServiceSettings["presidio"],
  text: string,
  { entities, language = "en", scoreThreshold = DEFAULT_THRESHOLD }: Guardrail,
  options: Pick<AskOptions, "dispatcher" | "signal">,
): Promise<readonly Match[]> {
  if (settings === undefined) throw away("it is not configured as `guardrail_services.presidio`");
  if (text.trim() === "") return [];
  const url = `${settings.url.replace(/\/$/, "")}/analyze`;
  const body = JSON.stringify({ text, language, score_threshold: scoreThreshold, ...(entities && { entities }) });
  const timeoutMs = settings.timeoutSeconds * 1000;
  try {
    const results = Results.parse(await postJson(url, body, { ...options, headers: {}, timeoutMs }));
    const offsets = codePointOffsets(text);
    const matches = results.map(({ entity_type: type, start, end, score }) => ({
      ...{ type, score },
      start: offsets[start] ?? text.length,
      end: offsets[end] ?? text.length,
    }));
    return resolveOverlaps(matches.filter(({ start, end }) => start < end));
  } catch (failure) {
    options.signal.throwIfAborted();
    throw away("it is not available", failure);
  }
}

function away(why: string, cause?: unknown) {
  const message = `The guardrail \`pii\` needs the Presidio server, and ${why}. The text was not sent to a model. Retry in ${RETRY_AFTER_SECONDS} s.`;
  return unavailable(message, "engine_failed", RETRY_AFTER_SECONDS, cause);
}

/** UTF-16 offset of each code point, in which Python counts, and of the end. */
function codePointOffsets(text: string): readonly number[] {
  const offsets: number[] = [];
  let offset = 0;
  for (const character of text) {
    offsets.push(offset);
    offset += character.length;
  }
  offsets.push(offset);
  return offsets;
}
