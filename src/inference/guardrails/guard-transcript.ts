/** Runs a transcript through the guardrails: what somebody said is both an answer and the next model's input. */

import type { Match } from "@parlance-inference/text-privacy/match";
import { actionOf, type Guardrail } from "../../contracts/guardrail.ts";
import type { TranscriptionEvent, TranscriptSegment, TranscriptWord } from "../../contracts/transcription-model.ts";
import { blockedFault } from "./blocked-fault.ts";
import { finderOf, type TextFinder } from "./finders.ts";
import { endText, pushText } from "./guard-events.ts";
import { type GuardContext, OUTCOMES } from "./guarded-texts.ts";
import { judgeOf } from "./judges.ts";
import { OutputBlocked } from "./mask-complete.ts";
import { type OutputTransform, transformOf } from "./output-transforms.ts";

/** Guards each segment and the streamed text. Throws a Fault when a guardrail blocks or fails. */
export async function* guardTranscript(
  events: AsyncIterable<TranscriptionEvent>,
  original: readonly Guardrail[],
  context: GuardContext,
): AsyncGenerator<TranscriptionEvent, void> {
  const policy = original.map(inTranscripts);
  let transforms: readonly OutputTransform[] | undefined;
  const deltas = async (work: (transforms: readonly OutputTransform[]) => Promise<string>) => {
    const text = await unlessBlocked(() => work(transforms ?? []), context);
    return text === "" ? [] : [{ type: "delta", text } as const];
  };
  for await (const event of events) {
    if (event.type === "delta") {
      transforms ??= policy.flatMap((guardrail) => transformOf(guardrail, context, { isComplete: false }) ?? []);
      yield* await deltas((all) => pushText(all, event.text));
      continue;
    }
    yield* await deltas(endText);
    yield event.type === "segment" ? await guardSegment(event, policy, context) : event;
  }
}

const reporting = new WeakMap<Guardrail, Guardrail>();

/** A value that the caller would have again is only reported. One object for each guardrail: finders are kept by it. */
function inTranscripts(guardrail: Guardrail): Guardrail {
  if (actionOf(guardrail) !== "mask_and_restore") return guardrail;
  const reported = reporting.get(guardrail) ?? { ...guardrail, action: "report" };
  reporting.set(guardrail, reported);
  return reported;
}

/** A transcript has no finish reason that would say why it ends. */
async function unlessBlocked(work: () => Promise<string>, context: GuardContext): Promise<string> {
  try {
    return await work();
  } catch (failure) {
    if (!(failure instanceof OutputBlocked)) throw failure;
    throw blockedFault(failure.guardrail, failure.findings, context);
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
    if (finder === undefined) guarded = await judgeSegment(guarded, guardrail, context);
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
  return withText(segment, text, segment.words && maskWords(segment.text, segment.words, matches));
}

/** Tokens would spell what the text no longer says. */
function withText(segment: TranscriptSegment, text: string, words: TranscriptSegment["words"]): TranscriptSegment {
  return { ...segment, text, words, confidence: segment.confidence && { ...segment.confidence, tokens: [] } };
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

async function judgeSegment(
  segment: TranscriptSegment,
  guardrail: Guardrail,
  context: GuardContext,
): Promise<TranscriptSegment> {
  const judge = judgeOf(guardrail, { ...context.judge, services: context.services, signal: context.signal });
  if (judge === undefined || segment.text.trim() === "") return segment;
  const { findings, texts, hasFailed = false } = await judge([segment.text], "output");
  const text = texts?.[0] ?? segment.text;
  const isChanged = text !== segment.text;
  const outcome = hasFailed ? "failed" : findings.length === 0 && isChanged ? "masked" : outcomeOf(guardrail, findings);
  context.report.note(guardrail.type, "output", outcome, findings);
  if (findings.length > 0 && actionOf(guardrail) === "block") throw blockedFault(guardrail, findings, context);
  if (!isChanged) return segment;
  // Nothing says which of its words a service has changed.
  const { startSeconds, endSeconds } = segment;
  return withText(segment, text, segment.words && [{ word: text, startSeconds, endSeconds }]);
}

function outcomeOf(guardrail: Guardrail, findings: readonly string[]) {
  return findings.length === 0 ? "passed" : OUTCOMES[actionOf(guardrail)];
}
