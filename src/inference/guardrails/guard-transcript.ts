/** Runs a transcript through the guardrails: what somebody said is both an answer and the next model's input. */

import { MaskingTransform } from "@parlance-inference/text-privacy/masking-transform";
import type { Match } from "@parlance-inference/text-privacy/match";
import { actionOf, type Guardrail } from "../../contracts/guardrail.ts";
import type { TranscriptionEvent, TranscriptSegment, TranscriptWord } from "../../contracts/transcription-model.ts";
import { finderOf, type TextFinder } from "./finders.ts";
import { blockedFault, type GuardContext } from "./guarded-texts.ts";
import { judgeOf } from "./judges.ts";

/** Masks each segment and each streamed piece. Throws a Fault when a guardrail blocks or fails. */
export async function* guardTranscript(
  events: AsyncIterable<TranscriptionEvent>,
  policy: readonly Guardrail[],
  context: GuardContext,
): AsyncGenerator<TranscriptionEvent, void> {
  const deltas = deltaTransforms(policy, context);
  const rest = () => {
    const text = deltas.reduce((piece, transform) => transform.push(piece) + transform.end(), "");
    return text === "" ? [] : [{ type: "delta", text } as const];
  };
  for await (const event of events) {
    if (event.type === "delta") {
      const text = deltas.reduce((piece, transform) => transform.push(piece), event.text);
      if (text !== "") yield { ...event, text };
    } else if (event.type === "segment") {
      yield* rest();
      yield await guardSegment(event, policy, context);
    } else {
      yield* rest();
      yield event;
    }
  }
}

async function guardSegment(
  segment: TranscriptSegment,
  policy: readonly Guardrail[],
  context: GuardContext,
): Promise<TranscriptSegment> {
  let guarded = segment;
  for (const guardrail of policy) {
    const finder = finderOf(guardrail, context);
    if (finder === undefined) await judgeSegment(guarded, guardrail, context);
    else guarded = await maskSegment(guarded, { guardrail, finder }, context);
  }
  return guarded;
}

async function maskSegment(
  segment: TranscriptSegment,
  { guardrail, finder }: { guardrail: Guardrail; finder: TextFinder },
  context: GuardContext,
): Promise<TranscriptSegment> {
  const { report, signal } = context;
  const matches = await finder.find(segment.text, signal);
  const types = matches.map(({ type }) => type);
  report.note(guardrail.type, "output", outcomeOf(guardrail, types), types);
  if (matches.length === 0) return segment;
  if (actionOf(guardrail) === "block") throw blockedFault(guardrail, types, context);
  if (actionOf(guardrail) !== "mask") return segment;
  let text = "";
  let from = 0;
  for (const { type, start, end } of matches) {
    text += `${segment.text.slice(from, start)}<${type}>`;
    from = end;
  }
  text += segment.text.slice(from);
  return { ...segment, text, words: segment.words && maskWords(segment.text, segment.words, matches) };
}

/** Puts one word in place of those that a match covers, with their times. */
function maskWords(text: string, words: readonly TranscriptWord[], matches: readonly Match[]): TranscriptWord[] {
  const masked: TranscriptWord[] = [];
  let at = 0;
  let covering: Match | undefined;
  for (const word of words) {
    const spoken = word.word.trim();
    const position = text.indexOf(spoken, at);
    const start = position < 0 ? at : position;
    const end = start + spoken.length;
    at = position < 0 ? at : end;
    const match = matches.find((each) => each.start < end && each.end > start);
    const last = masked.at(-1);
    if (match === undefined) masked.push(word);
    else if (match === covering && last !== undefined) last.endSeconds = word.endSeconds;
    else masked.push({ ...word, word: `<${match.type}>` });
    covering = match;
  }
  return masked;
}

async function judgeSegment(segment: TranscriptSegment, guardrail: Guardrail, context: GuardContext): Promise<void> {
  const judge = judgeOf(guardrail, { ...context.judge, services: context.services, signal: context.signal });
  if (judge === undefined || segment.text.trim() === "") return;
  const { findings, hasFailed = false } = await judge([segment.text], "output");
  const outcome = hasFailed ? "failed" : outcomeOf(guardrail, findings);
  context.report.note(guardrail.type, "output", outcome, findings);
  if (findings.length > 0 && actionOf(guardrail) === "block") throw blockedFault(guardrail, findings, context);
}

/** A value that the caller would have again is only reported. */
function outcomeOf(guardrail: Guardrail, findings: readonly string[]) {
  if (findings.length === 0) return "passed";
  const action = actionOf(guardrail);
  return action === "block" ? "blocked" : action === "mask" ? "masked" : "reported";
}

function deltaTransforms(policy: readonly Guardrail[], context: GuardContext): MaskingTransform[] {
  return policy.flatMap((guardrail) => {
    const finder = finderOf(guardrail, context);
    const action = actionOf(guardrail);
    if (finder?.findNow === undefined || action === "report" || action === "mask_and_restore") return [];
    const replace = ({ type }: Match) => {
      if (action === "block") throw blockedFault(guardrail, [type], context);
      return `<${type}>`;
    };
    return [new MaskingTransform({ find: finder.findNow, replace, span: finder.span })];
  });
}
