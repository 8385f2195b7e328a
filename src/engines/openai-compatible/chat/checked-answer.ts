/**
 * JSON output of an upstream that cannot enforce it: requested in the prompt, validated here, and requested again
 * where they do not fit.
 */

import type { ChatRequest } from "../../../contracts/chat-model.ts";
import { Fault } from "../../../kernel/faults.ts";
import { addTokens, type TokenUsage } from "../../../kernel/usage.ts";
import { toUsage } from "../../../wire/openai/chat/chat-envelope.ts";
import { toSchemaRequest } from "../../shared/compile-schemas.ts";
import { type AnswerChoice, type CheckedChoice, checkChoice, compileFormat } from "./json-choice.ts";
import { withInstruction, withViolation } from "./json-instruction.ts";
import type { CompleteAnswer } from "./read-completion.ts";

/** Returns a complete answer; undefined after an abort. */
type Complete = (body: Body, signal: AbortSignal) => Promise<CompleteAnswer | undefined>;
type Body = Readonly<Record<string, unknown>>;

interface CheckedRequest extends Pick<ChatRequest, "format" | "project"> {
  body: Body;
}

/** Returns undefined after an abort. Throws a Fault when neither answer is valid. */
export async function checkedAnswer(
  { body: original, format, project }: CheckedRequest,
  signal: AbortSignal,
  { complete, deployment }: { complete: Complete; deployment: string },
): Promise<CompleteAnswer | undefined> {
  const validate = await compileFormat(format, toSchemaRequest({ project }, signal));
  const body = withInstruction(original, format);
  // Choices are repaired concurrently; when one fails, the others are canceled.
  const failing = new AbortController();
  const until = AbortSignal.any([signal, failing.signal]);
  const first = await complete(body, until);
  if (first === undefined) return undefined;
  const usages = [first.usage];
  const repair = async ({ choice, violation }: CheckedChoice): Promise<CheckedChoice> => {
    if (violation === undefined) return { choice, violation };
    const second = await complete(withViolation(body, String(choice.message.content), violation), until);
    if (second === undefined) return { choice, violation };
    usages.push(second.usage);
    const [again] = choicesOf(second);
    return again === undefined ? { choice, violation } : checkChoice({ ...again, index: choice.index }, validate);
  };
  const check = async (choice: AnswerChoice) => repair(await checkChoice(choice, validate));
  const repaired = await Promise.all(choicesOf(first).map(check)).catch((failure: unknown) => {
    failing.abort();
    throw isSchemaAtFault(failure) ? withUsage(failure, usages.reduce(addTokens)) : failure;
  });
  if (signal.aborted) return undefined;
  const usage = usages.reduce(addTokens);
  const violation = repaired.find((each) => each.violation !== undefined)?.violation;
  if (violation !== undefined) throw unfit(deployment, violation, usage);
  const fields = {
    ...first.completion.fields,
    choices: repaired.map(({ choice }) => choice),
    usage: usages.length > 1 || usage.estimated ? toUsage(usage) : first.completion.fields.usage,
  };
  return { usage, completion: { fields, json: JSON.stringify(fields) } };
}

function choicesOf({ completion }: CompleteAnswer): AnswerChoice[] {
  return (completion.fields.choices as AnswerChoice[]).map((choice) => ({ ...choice, message: choice.message ?? {} }));
}

/** Validation exceeded its time limit after the upstream had answered. */
function isSchemaAtFault(failure: unknown): failure is Fault {
  return failure instanceof Fault && failure.kind === "invalid-request";
}

function withUsage(failure: Fault, used: TokenUsage): Fault {
  const { kind, message, param, code, cause } = failure;
  return new Fault(kind, message, { param, code, cause, used });
}

function unfit(deployment: string, violation: string, usage: TokenUsage): Fault {
  const message = `The upstream of \`${deployment}\` answered twice with what 'response_format' does not allow: ${violation}.`;
  return new Fault("answer-unfit", message, { code: "upstream_error", used: usage });
}
