/** Runs one call of a tool between the guardrails of its caller: arguments before they leave, the result before it is read. */

import { isJsonDocument } from "@parlance-inference/text-privacy/json-strings";
import { Placeholders } from "@parlance-inference/text-privacy/placeholders";
import { actionOf, checks, type Guardrail } from "../../contracts/guardrail.ts";
import { Fault } from "../../kernel/faults.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import { BLOCKED, blockedFault } from "./blocked-fault.ts";
import type { ChannelText } from "./channels.ts";
import { finderOf } from "./finders.ts";
import { refuseUnreadable } from "./guard-chat.ts";
import { type GuardContext, guardTexts, judgeTexts, readsAll } from "./guarded-texts.ts";
import type { Guards } from "./guards.ts";
import { TooLongToJudge } from "./judges.ts";
import { maskComplete, OutputBlocked } from "./mask-complete.ts";
import { type OutputTransform, outputTransforms } from "./output-transforms.ts";

/** `model`: a model of this service reads the result, and its next turn masks it. `client`: it leaves the service. */
export type ResultReader = "model" | "client";

/** Returns texts of a result as they may be read. Throws a Fault. `unreadable`: what else it has, such as images. */
export type GuardResult = (texts: readonly string[], unreadable?: string) => Promise<readonly string[]>;

type Fields = Readonly<Record<string, unknown>>;

export interface GuardedToolCall {
  input: Fields;
  /** Fields of the request that leave with the arguments. */
  settings: Fields;
  guardResult: GuardResult;
}

/** Whether a Fault is a guardrail's refusal, rather than the failure of one. */
export function isRefusal(failure: unknown): failure is Fault & { code: typeof BLOCKED } {
  return failure instanceof Fault && failure.code === BLOCKED;
}

/** Whether a refusal is about the length of the texts, of which parts may pass. */
export function isTooLong(refusal: Fault): boolean {
  return refusal instanceof TooLongToJudge;
}

type PolicyAndContext = Pick<Guards, "policy" | "context">;

/** Throws a Fault when a guardrail blocks the arguments or fails. */
export async function guardToolCall(
  { policy, context }: PolicyAndContext,
  input: Fields,
  reader: ResultReader,
  settings: Fields = {},
): Promise<GuardedToolCall> {
  const asArguments = { ...context, subject: "The arguments of the tool were" };
  const sent = Object.keys(settings).length === 0 ? [input] : [input, settings];
  const outgoing = promptTexts(sent.map((each) => JSON.stringify(each)));
  const { texts, placeholders } = await guardTexts(policy, outgoing, asArguments);
  const [masked = {}, maskedSettings = {}] = texts.map(toFields);
  const guardResult = resultGuard({ policy, context }, resultPolicy(policy, reader), placeholders);
  return { input: masked, settings: maskedSettings, guardResult };
}

/** Returns what guards texts of a list of what a server offers, which come without a call. */
export function listGuard({ policy, context }: PolicyAndContext, reader: ResultReader): GuardResult {
  return resultGuard({ policy, context }, resultPolicy(policy, reader, true), new Placeholders());
}

/** `inputPolicy`: guardrails that check a result as input. */
function resultGuard(
  { policy, context }: PolicyAndContext,
  inputPolicy: readonly Guardrail[],
  placeholders: Placeholders,
): GuardResult {
  const asResult = { ...context, subject: "The result of the tool was" };
  return async (results, unreadable) => {
    if (unreadable !== undefined) refuseUnreadable(policy, unreadable, "result", "output");
    const inputs = await guardTexts(inputPolicy, promptTexts(results), asResult);
    return guardOutput(inputs.texts, policy, placeholders, asResult);
  };
}

/** Throws a Fault for a text that is not a JSON object, which a webhook may have written. */
function toFields(text: string): Fields {
  const fields = parseObject(text);
  if (fields !== undefined) return fields;
  const message = "A guardrail put a text that is not a JSON object in place of the arguments of the tool.";
  throw new Fault("answer-unfit", message, { code: "upstream_error" });
}

function promptTexts(texts: readonly string[]): ChannelText[] {
  return texts.map((text) => ({ text, kind: "prompt" }));
}

/**
 * Guardrails of the input that a result has to pass beside those of the output: injections, which tools write, and for a
 * model of this service all that block, because they would otherwise end the response at its next turn; of a list of tools
 * also those that do not read the definitions of tools in a chat.
 */
function resultPolicy(policy: readonly Guardrail[], reader: ResultReader, isList = false): readonly Guardrail[] {
  const isReadHere = (guardrail: Guardrail) => actionOf(guardrail) === "block" || (isList && !readsAll(guardrail));
  return policy.filter(
    (guardrail) =>
      checks(guardrail, "input") &&
      !checks(guardrail, "output") &&
      (guardrail.type === "prompt_injection" || (reader === "model" && isReadHere(guardrail))),
  );
}

async function guardOutput(
  texts: readonly string[],
  policy: readonly Guardrail[],
  placeholders: Placeholders,
  context: GuardContext,
): Promise<readonly string[]> {
  const guarded = await guardComplete(texts, policy, context).catch((failure: unknown) => {
    if (!(failure instanceof OutputBlocked)) throw failure;
    throw blockedFault(failure.guardrail, failure.findings, context);
  });
  if (placeholders.count === 0) return guarded;
  const output: string[] = [];
  for (const [index, text] of guarded.entries()) {
    const form = isJsonDocument(texts[index] ?? "") ? "json" : "text";
    const [restoring] = outputTransforms([], placeholders, context, { form, isComplete: true });
    output.push(restoring === undefined ? text : await transformed(text, restoring));
  }
  return output;
}

/** Returns complete texts after the guardrails of a policy that check the output. Throws `OutputBlocked` or a Fault. */
async function guardComplete(
  texts: readonly string[],
  policy: readonly Guardrail[],
  context: GuardContext,
): Promise<readonly string[]> {
  let guarded = texts;
  for (const guardrail of policy.filter((each) => checks(each, "output"))) {
    const finder = finderOf(guardrail, context);
    guarded =
      finder === undefined
        ? await judgeTexts({ guardrail, inputs: promptTexts(guarded), texts: [...guarded] }, "output", context)
        : await maskComplete(guardrail, finder, guarded, context);
  }
  return guarded;
}

async function transformed(text: string, transform: OutputTransform): Promise<string> {
  return (await transform.push(text)) + (await transform.end());
}
