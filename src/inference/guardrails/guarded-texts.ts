/** Texts that a model is about to read, on their way through the guardrails of a policy. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { Placeholders } from "@parlance-inference/text-privacy/placeholders";
import { actionOf, checks, type Guardrail, type GuardrailStage } from "../../contracts/guardrail.ts";
import { blockedFault } from "./blocked-fault.ts";
import type { ChannelText } from "./channels.ts";
import { finderOf, type TextFinder } from "./finders.ts";
import type { GuardrailReport } from "./guardrail-report.ts";
import type { GuardrailServices } from "./guardrail-services.ts";
import { type Judge, judgeOf } from "./judges.ts";
import { type MaskText, maskLocated, typesOf } from "./locate.ts";
import { hideSplitAddresses } from "./split-addresses.ts";

export interface GuardContext {
  services: GuardrailServices;
  /** Project of the caller. */
  project: string;
  report: GuardrailReport;
  signal: AbortSignal;
  /** Field of the request that errors name. */
  param: string;
  /** Beginning of a refusal; undefined: "The request was". */
  subject?: string;
  judge: Omit<Parameters<typeof judgeOf>[1], "services" | "signal">;
}

export interface GuardedTexts {
  texts: readonly string[];
  /** Values that the answer to the caller has again. */
  placeholders: Placeholders;
}

/** Runs the guardrails that check the input, in order. Throws a Fault when one blocks it or fails. */
export async function guardTexts(
  policy: readonly Guardrail[],
  inputs: readonly ChannelText[],
  context: GuardContext,
): Promise<GuardedTexts> {
  const placeholders = new Placeholders();
  let texts = inputs.map(({ text }) => text);
  for (const text of texts) placeholders.reserve(text);
  for (const guardrail of policy) {
    if (!checks(guardrail, "input")) continue;
    const finder = finderOf(guardrail, context);
    if (finder !== undefined) {
      texts = await maskOrBlock({ guardrail, finder, placeholders, inputs, texts }, context);
      continue;
    }
    texts = await judgeTexts({ guardrail, inputs, texts }, "input", context);
  }
  return { texts, placeholders };
}

interface Step {
  guardrail: Guardrail;
  inputs: readonly ChannelText[];
  texts: string[];
}

async function maskOrBlock(
  { guardrail, finder, placeholders, inputs, texts }: Step & { finder: TextFinder; placeholders: Placeholders },
  context: GuardContext,
): Promise<string[]> {
  const { report, signal } = context;
  const action = actionOf(guardrail);
  const findings: string[] = [];
  const options = { finder, placeholders, findings, action, signal };
  const searched = inputs.map(({ kind }, index): ChannelText => {
    const isSearched = readsAll(guardrail) || kind === "prompt";
    return { kind, text: isSearched ? (texts[index] ?? "") : "" };
  });
  let masked: string[];
  try {
    masked = await maskAll(withTextsOf(searched, await hideSplit(searched, options)), options);
  } catch (failure) {
    if (!signal.aborted) report.note(guardrail.type, "input", "failed");
    throw failure;
  }
  report.note(guardrail.type, "input", findings.length === 0 ? "passed" : OUTCOMES[action], findings);
  if (action === "block" && findings.length > 0) throw blockedFault(guardrail, findings, context);
  return masked.map((text, index) => (searched[index]?.text === "" ? (texts[index] ?? "") : text));
}

function withTextsOf(inputs: readonly ChannelText[], texts: readonly string[]): ChannelText[] {
  return inputs.map(({ kind }, index) => ({ kind, text: texts[index] ?? "" }));
}

export const OUTCOMES = { mask: "masked", mask_and_restore: "masked", block: "blocked", report: "reported" } as const;

interface MaskOptions {
  finder: TextFinder;
  placeholders: Pick<Placeholders, "mask">;
  findings: string[];
  action: ReturnType<typeof actionOf>;
  signal: AbortSignal;
}

/** Returns the texts without addresses that begin in one of them and end in a later one. */
async function hideSplit(
  inputs: readonly ChannelText[],
  { finder, placeholders, findings, action, signal }: MaskOptions,
): Promise<string[]> {
  const addresses = await finder.findSplit(inputs, signal);
  for (const { type } of addresses) findings.push(type);
  return hideSplitAddresses(inputs, masks(action) ? addresses : [], ({ type, value }) =>
    placeholders.mask(value, [{ type, start: 0, end: value.length, score: 1 }], action === "mask_and_restore"),
  );
}

function masks(action: MaskOptions["action"]): boolean {
  return action === "mask" || action === "mask_and_restore";
}

/** Returns the texts with placeholders in place of what the finder finds, and notes the names of it. */
export async function maskAll(
  inputs: readonly ChannelText[],
  { finder, placeholders, findings, action, signal }: MaskOptions,
): Promise<string[]> {
  const located = await finder.locate(inputs, signal);
  for (const type of typesOf(located)) findings.push(type);
  if (!masks(action)) return inputs.map(({ text }) => text);
  const isRestored = action === "mask_and_restore";
  const mask: MaskText = (text, matches) => placeholders.mask(text, matches, isRestored);
  const maskWord: MaskText = (text, matches) => withoutBrackets(mask(text, matches));
  return maskLocated(inputs, located, ({ kind }) => (kind === "word" ? maskWord : mask), nextTurn);
}

/** Placeholders of letters, digits and underscores, which providers accept in IDs, names and choices. */
function withoutBrackets(text: string): string {
  return text.replace(/<([A-Z][A-Z_]*_\d+)>/g, "$1");
}

/** Personal data and secrets leave with any text; other guardrails are about what users and tools write. */
export function readsAll({ type }: Guardrail): boolean {
  return type === "pii" || type === "secrets";
}

/** A webhook may replace any text; a model is asked, and paid for, what is new. */
function placesToJudge({ type }: Guardrail, inputs: readonly ChannelText[], texts: readonly string[]): number[] {
  const isRead = ({ kind, isAnswered }: ChannelText) => kind === "prompt" && !(type === "topics" && isAnswered);
  return inputs.flatMap((input, index) => (isRead(input) && texts[index]?.trim() !== "" ? [index] : []));
}

/** Asks about all texts at once. Throws a Fault when the guardrail blocks them or fails. */
export async function judgeTexts(
  { guardrail, inputs, texts }: Step,
  stage: GuardrailStage,
  context: GuardContext,
): Promise<string[]> {
  const { report, services, signal } = context;
  const judge = judgeOf(guardrail, { ...context.judge, services, signal });
  if (judge === undefined) return texts;
  const places = placesToJudge(guardrail, inputs, texts);
  if (places.length === 0) {
    report.note(guardrail.type, stage, "passed");
    return texts;
  }
  let verdict: Awaited<ReturnType<Judge>>;
  try {
    verdict = await judge(
      places.map((index) => texts[index] ?? ""),
      stage,
    );
  } catch (failure) {
    if (!signal.aborted) report.note(guardrail.type, stage, "failed");
    throw failure;
  }
  const { findings, texts: replaced, hasFailed = false } = verdict;
  if (hasFailed) report.passedUnchecked = true;
  const action = actionOf(guardrail);
  const output = [...texts];
  if (replaced !== undefined) for (const [order, index] of places.entries()) output[index] = replaced[order] ?? "";
  const isChanged = output.some((text, index) => text !== texts[index]);
  const outcome = hasFailed ? "failed" : findings.length > 0 ? OUTCOMES[action] : isChanged ? "masked" : "passed";
  report.note(guardrail.type, stage, outcome, findings);
  if (action === "block" && findings.length > 0) throw blockedFault(guardrail, findings, context);
  return output;
}
