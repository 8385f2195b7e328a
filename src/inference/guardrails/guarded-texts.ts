/** Texts that a model is about to read, on their way through the guardrails of a policy. */

import {
  isJsonDocument,
  matchesByValue,
  rewriteJson,
  toJsonLines,
} from "@parlance-inference/text-privacy/json-strings";
import type { Match } from "@parlance-inference/text-privacy/match";
import { Placeholders } from "@parlance-inference/text-privacy/placeholders";
import { actionOf, checks, type Guardrail } from "../../contracts/guardrail.ts";
import { Fault } from "../../kernel/faults.ts";
import type { ChannelText } from "./channels.ts";
import { finderOf, type TextFinder } from "./finders.ts";
import type { GuardrailReport } from "./guardrail-report.ts";
import type { GuardrailServices } from "./guardrail-services.ts";
import { type Judge, judgeOf } from "./judges.ts";
import { findSplitAddresses, hideSplitAddresses } from "./split-addresses.ts";

export interface GuardContext {
  services: GuardrailServices;
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

/** Code of a refusal. */
export const BLOCKED = "content_policy_violation";

/** The message names the findings, never their content. */
export function blockedFault(
  guardrail: Pick<Guardrail, "type">,
  findings: readonly string[],
  { param, subject = "The request was" }: Pick<GuardContext, "param" | "subject">,
): Fault {
  const names = [...new Set(findings)].slice(0, 20).join(", ");
  const message = `${subject} blocked by the guardrail \`${guardrail.type}\`: ${names}.`;
  return new Fault("invalid-request", message, { param, code: BLOCKED });
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
    const finder = finderOf(guardrail, context.services);
    if (finder !== undefined) {
      texts = await maskOrBlock({ guardrail, finder, placeholders, inputs, texts }, context);
      continue;
    }
    const judge = judgeOf(guardrail, { ...context.judge, services: context.services, signal: context.signal });
    if (judge !== undefined) texts = await judgeTexts({ guardrail, judge, inputs, texts }, context);
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
  const output: string[] = [];
  try {
    const joined = hideSplit({ guardrail, finder, placeholders, inputs, texts }, findings);
    for (const [index, text] of joined.entries()) {
      const kind = inputs[index]?.kind ?? "prompt";
      const isChecked = readsAll(guardrail) || kind === "prompt";
      const mask = kind === "word" ? maskWord : maskOne;
      output.push(isChecked ? await mask(text, { finder, placeholders, findings, action, signal }) : text);
    }
  } catch (failure) {
    if (!signal.aborted) report.note(guardrail.type, "input", "failed");
    throw failure;
  }
  report.note(guardrail.type, "input", findings.length === 0 ? "passed" : OUTCOMES[action], findings);
  if (action === "block" && findings.length > 0) throw blockedFault(guardrail, findings, context);
  return output;
}

/** Returns the texts without addresses that begin in one of them and end in a later one. */
function hideSplit(
  { guardrail, finder, placeholders, inputs, texts }: Step & { finder: TextFinder; placeholders: Placeholders },
  findings: string[],
): string[] {
  if (guardrail.type !== "pii" || finder.findNow === undefined) return texts;
  const isProse = (index: number) => ["prompt", "instructions"].includes(inputs[index]?.kind ?? "");
  const addresses = findSplitAddresses(texts, finder.findNow, isProse);
  for (const { type } of addresses) findings.push(type);
  const action = actionOf(guardrail);
  if (action === "block" || action === "report") return texts;
  const placeholderOf = ({ type, value }: (typeof addresses)[number]) =>
    placeholders.mask(value, [{ type, start: 0, end: value.length, score: 1 }], action === "mask_and_restore");
  return hideSplitAddresses(texts, addresses, placeholderOf, isProse);
}

export const OUTCOMES = { mask: "masked", mask_and_restore: "masked", block: "blocked", report: "reported" } as const;

interface MaskOptions {
  finder: TextFinder;
  placeholders: Pick<Placeholders, "mask">;
  findings: string[];
  action: ReturnType<typeof actionOf>;
  signal: AbortSignal;
}

/** Masks within the values of JSON: escapes would hide them, and a placeholder has to stay within its quotes. */
export async function maskOne(
  text: string,
  { finder, placeholders, findings, action, signal }: MaskOptions,
): Promise<string> {
  const lines = isJsonDocument(text) ? toJsonLines(text) : undefined;
  const searching = finder.find(lines?.text ?? text, signal);
  const matches = searching instanceof Promise ? await searching : searching;
  if (matches.length === 0) return text;
  for (const { type } of matches) findings.push(type);
  if (action === "block" || action === "report") return text;
  const isRestored = action === "mask_and_restore";
  if (lines === undefined) return placeholders.mask(text, matches, isRestored);
  const byValue: Match[][] = matchesByValue(lines, matches);
  return rewriteJson(text, (value, index) => placeholders.mask(value, byValue[index] ?? [], isRestored));
}

/** IDs are random by nature. */
const RANDOM_TYPES = ["HIGH_ENTROPY_STRING"];

/** Masks an ID, a name or a choice, by a placeholder of letters, digits and underscores, which providers accept there. */
async function maskWord(
  text: string,
  { finder, placeholders, findings, action, signal }: MaskOptions,
): Promise<string> {
  const matches = (await finder.find(text, signal)).filter(({ type }) => !RANDOM_TYPES.includes(type));
  for (const { type } of matches) findings.push(type);
  if (matches.length === 0 || action === "block" || action === "report") return text;
  const masked = placeholders.mask(text, matches, action === "mask_and_restore");
  return masked.replace(/<([A-Z][A-Z_]*_\d+)>/g, "$1");
}

/** Personal data and secrets leave with any text; other guardrails are about what users and tools write. */
function readsAll({ type }: Guardrail): boolean {
  return type === "pii" || type === "secrets";
}

async function judgeTexts(
  { guardrail, judge, inputs, texts }: Step & { judge: Judge },
  context: GuardContext,
): Promise<string[]> {
  const { report, signal } = context;
  const places = inputs.flatMap(({ kind }, index) => (kind === "prompt" && texts[index]?.trim() !== "" ? [index] : []));
  if (places.length === 0) {
    report.note(guardrail.type, "input", "passed");
    return texts;
  }
  let verdict: Awaited<ReturnType<Judge>>;
  try {
    verdict = await judge(
      places.map((index) => texts[index] ?? ""),
      "input",
    );
  } catch (failure) {
    if (!signal.aborted) report.note(guardrail.type, "input", "failed");
    throw failure;
  }
  const { findings, texts: replaced, hasFailed = false } = verdict;
  const action = actionOf(guardrail);
  const output = [...texts];
  if (replaced !== undefined) for (const [order, index] of places.entries()) output[index] = replaced[order] ?? "";
  const isChanged = output.some((text, index) => text !== texts[index]);
  const outcome = hasFailed ? "failed" : findings.length > 0 ? OUTCOMES[action] : isChanged ? "masked" : "passed";
  report.note(guardrail.type, "input", outcome, findings);
  if (action === "block" && findings.length > 0) throw blockedFault(guardrail, findings, context);
  return output;
}
