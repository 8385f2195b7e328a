/** Runs a chat between the guardrails of its policy. */

import type { ChatCall } from "../../contracts/chat-call.ts";
import type { ChatEvent } from "../../contracts/chat-model.ts";
import { actionOf, checks, type Guardrail, type GuardrailStage } from "../../contracts/guardrail.ts";
import { filesIn, imagesIn, messageText } from "../../contracts/message-text.ts";
import { Fault, unsupportedValue } from "../../kernel/faults.ts";
import { type ChatAnswer, choicesOf } from "../chat-call.ts";
import { prepend } from "../prepend.ts";
import { chatTextsOf, withChatTexts } from "./chat-texts.ts";
import { guardEvents } from "./guard-events.ts";
import { type GuardContext, type GuardedTexts, guardTexts } from "./guarded-texts.ts";
import { asksAboutOutput, checksOutput, outputTransforms } from "./output-transforms.ts";

export interface GuardedCall extends Pick<GuardedTexts, "placeholders"> {
  /** The call as the model may read it, without the caller's body. */
  call: ChatCall;
}

/** Throws a Fault when a guardrail blocks the call, fails, or cannot read a part of it. */
export async function guardCall(
  original: ChatCall,
  policy: readonly Guardrail[],
  context: GuardContext,
): Promise<GuardedCall> {
  const call = toTyped(original);
  const unreadable = unreadableIn(call);
  if (unreadable !== undefined) refuseUnreadable(policy, unreadable.what, unreadable.param);
  const { texts, placeholders } = await guardTexts(policy, chatTextsOf(call), context);
  return { call: withChatTexts(call, texts), placeholders };
}

/** Returns the answer with its texts after the guardrails. */
export async function guardAnswer(
  answer: ChatAnswer,
  { call, placeholders }: GuardedCall,
  policy: readonly Guardrail[],
  context: GuardContext,
): Promise<ChatAnswer> {
  if (!checksOutput(policy, placeholders)) return answer;
  const isJson = call.request.format.type !== "text";
  const finds = policy.some((guardrail) => guardrail.type !== "moderation" && checks(guardrail, "output"));
  const begun = new Set<number>();
  const events = guardEvents(answer.events, {
    choices: choicesOf(call),
    restore: (text) => placeholders.restore(text),
    keepsLogprobs: !finds || call.hidesTokens === true,
    onFailed: () => answer.settleAs("failed"),
    onBlocked: () => {
      answer.settleAs("finished");
      return answer.used;
    },
    transformsFor: (part) => {
      const isArguments = part.type === "tool-arguments";
      const form = isArguments || (isJson && part.type === "text") ? "json" : "text";
      // Only the first text of a choice goes on with what the caller began.
      const isFirst = part.type === "text" && !begun.has(part.choice);
      if (isFirst) begun.add(part.choice);
      const before = isFirst ? beginningOf(call, part.choice) : "";
      return outputTransforms(policy, placeholders, context, { form, before, isComplete: isArguments && finds });
    },
  });
  return { ...answer, events: asksAboutOutput(policy) ? await withFirst(events) : events };
}

/** What the caller began a choice with: a last message that it continues, or the end of a prompt without a template. */
function beginningOf({ request, prompts = [] }: ChatCall, choice: number): string {
  const prompt = prompts[Math.floor(choice / request.choices)] ?? request.prompt;
  if (prompt !== undefined) return typeof prompt.input === "string" ? prompt.input : "";
  const last = request.messages.at(-1);
  return request.continuation === undefined || last === undefined ? "" : messageText(last);
}

/** Waits for the first event after the start: a guardrail that fails before anything is shown is a real error status. */
async function withFirst(events: AsyncGenerator<ChatEvent, void>): Promise<AsyncGenerator<ChatEvent, void>> {
  const first = await events.next();
  if (first.done) return events;
  if (first.value.type !== "start") return prepend(first.value, events);
  const second = await events.next();
  return prepend(first.value, second.done ? events : prepend(second.value, events));
}

/** Leaves out the caller's body, which no guardrail reads. Throws a Fault for what only an upstream reads in it. */
function toTyped({ passThrough, ...call }: ChatCall): ChatCall {
  const unsupported = passThrough?.unsupportedLocally();
  if (unsupported === undefined) return call;
  const message = `${unsupported.message} The guardrails of this project or model read every part of a request, and not this one.`;
  throw new Fault(unsupported.kind, message, { param: unsupported.param, code: unsupported.code });
}

/** The first part of a call without a text, and its field. */
function unreadableIn({ request, prompts = [] }: ChatCall): { what: string; param: string | undefined } | undefined {
  for (const message of request.messages) {
    const [image] = imagesIn(message);
    if (image !== undefined) return { what: "images", param: image.param.url };
    const [file] = filesIn(message);
    if (file !== undefined) return { what: "files", param: file.param };
  }
  const isTokens = [request.prompt, ...prompts].some(
    (prompt) => prompt !== undefined && typeof prompt.input !== "string",
  );
  return isTokens ? { what: "token IDs", param: "prompt" } : undefined;
}

/** Throws a Fault when a guardrail that must see everything cannot read `what`. */
export function refuseUnreadable(
  policy: readonly Guardrail[],
  what: string,
  param: string | undefined,
  stage: GuardrailStage = "input",
): void {
  for (const guardrail of policy) {
    const { type, unreadable = actionOf(guardrail) === "report" ? "pass" : "block" } = guardrail;
    if (!(type === "pii" || type === "secrets") || unreadable === "pass" || !checks(guardrail, stage)) continue;
    const wayOut = `Leave them out, or ask an administrator to set \`unreadable: pass\``;
    throw unsupportedValue(`The guardrail \`${type}\` cannot read ${what}. ${wayOut}.`, param ?? "messages");
  }
}
