/** Holds what a chat model is asked and what it answers to a moderation policy. */

import type { Caller } from "../accounts/caller.ts";
import type { ChatEvent, ChatModel, ChatRequest } from "../engines/chat-model.ts";
import type { ModerationVerdict } from "../engines/engine.ts";
import { Fault } from "../faults.ts";
import { higher } from "./higher-verdict.ts";
import type { Inference, WhenClientLeaves } from "./inference.ts";
import { blockOutput, type FrameReader, scoreOutput } from "./moderate-output.ts";
import type { ModerationPolicy } from "./moderation-policy.ts";
import { prepend } from "./prepend.ts";
import type { Answer } from "./run.ts";

/** A Fault where only scores were wanted and the moderation model could not give them. */
type Judgement = ModerationVerdict | Fault;

interface JudgedChat {
  /** The catalog id that judged. */
  model: string;
  input: Judgement | undefined;
  /** There once the answer is over. */
  output: Judgement | undefined;
}

export interface ModeratedAnswer extends Answer<ChatModel, ChatEvent> {
  judged: JudgedChat;
}

export interface ModeratedChatOptions {
  inference: Inference;
  caller: Caller;
  request: ChatRequest;
  /** What of the request is judged, and what in it cannot be. */
  input: { texts: readonly string[]; partsNotJudged: Fault | undefined };
  policy: ModerationPolicy;
  reader: FrameReader;
  whenClientLeaves: WhenClientLeaves;
}

/** As `Inference.chat`. Throws a Fault besides when the policy blocks the input. */
export async function moderatedChat(options: ModeratedChatOptions): Promise<ModeratedAnswer> {
  const { inference, caller, request, input, policy, reader, whenClientLeaves } = options;
  const judged: JudgedChat = { model: policy.model ?? "", input: undefined, output: undefined };
  const judge = async (texts: readonly string[], isWithinRequest: boolean): Promise<ModerationVerdict> => {
    const inputs = texts.map((text) => ({ text, images: [] }));
    const question = { model: policy.model, inputs, imagesNotTaken: undefined, isWithinRequest };
    const answer = await inference.moderate(caller, question, whenClientLeaves);
    const [verdicts] = await Array.fromAsync(answer.events);
    judged.model = answer.model;
    return (verdicts ?? []).reduce(higher);
  };
  // The input is judged before the chat is counted as a request, and may be all that comes of it.
  const judgeInput = () => judge(input.texts, false).catch((failure) => rethrowOfChat(failure, "messages", policy));
  const judgeOutput = (texts: readonly string[]) =>
    judge(texts, true).catch((failure) => rethrowOfChat(failure, undefined, policy));
  if (policy.input === "block") {
    if (input.partsNotJudged !== undefined) throw input.partsNotJudged;
    judged.input = refuseFlagged(await judgeInput());
  }
  if (policy.input === "score") judged.input = await judgeInput().catch(orFailure);
  const answer = await inference.chat(caller, request, whenClientLeaves);
  const take = (judgement: Judgement) => {
    judged.output = judgement;
  };
  const orFail = (failure: unknown) => {
    answer.endAs("failed");
    throw failure;
  };
  const judgedBy = {
    block: (events: typeof answer.events) =>
      blockOutput(events, {
        reader,
        take,
        judge: (texts) => judgeOutput(texts).catch(orFail),
        choices: request.choices,
        onBlocked: () => {
          answer.endAs("finished");
          return answer.used;
        },
      }),
    score: (events: typeof answer.events) =>
      scoreOutput(events, { reader, take, judge: (texts) => judgeOutput(texts).catch(orAnyFault) }),
  };
  if (policy.output === undefined) return { ...answer, judged };
  const events = judgedBy[policy.output](answer.events);
  return { ...answer, events: policy.output === "block" ? await begun(events) : events, judged };
}

/** Waits for the first event, so that a judge that fails before anything is shown is an error of its own. */
async function begun(events: AsyncGenerator<ChatEvent, void>): Promise<AsyncGenerator<ChatEvent, void>> {
  const first = await events.next();
  return first.done ? events : prepend(first.value, events);
}

/** A moderation's own fields are not the chat's, and a caller who asked for none must not be told that it named one. */
function rethrowOfChat(failure: unknown, param: "messages" | undefined, { isDemanded }: ModerationPolicy): never {
  if (!(failure instanceof Fault) || !["not-found", "invalid-request"].includes(failure.kind)) throw failure;
  const { kind, code, message, param: field } = failure;
  if (field === "model" && !isDemanded) throw new Fault(kind, message, { param: "moderation.model", code });
  if (field === "model") {
    const unavailable =
      "The moderation model of the project's policy is not available to this API key. Ask its administrator.";
    throw new Fault("unavailable", unavailable, { code: "engine_failed", retryAfterSeconds: 60, cause: failure });
  }
  if (param === undefined)
    throw new Fault("upstream-failed", `The answer could not be judged: ${message}`, { cause: failure });
  throw new Fault(kind, `The messages could not be judged: ${message}`, { param, code });
}

/** Scores are extra, so a model that is down costs only them; what the caller asked wrongly is still refused. */
function orFailure(failure: unknown): Fault {
  const isPassing =
    failure instanceof Fault &&
    ["unavailable", "upstream-failed", "upstream-refused", "upstream-timeout", "answer-unfit"].includes(failure.kind);
  if (!isPassing) throw failure;
  return failure;
}

/** Once there is an answer, it is not withheld for want of scores. */
function orAnyFault(failure: unknown): Fault {
  if (failure instanceof Fault && failure.kind !== "client-left") return failure;
  throw failure;
}

function refuseFlagged(verdict: ModerationVerdict): ModerationVerdict {
  const flagged = Object.keys(verdict.flags).filter((category) => verdict.flags[category]);
  if (flagged.length === 0) return verdict;
  throw new Fault("invalid-request", `The messages were blocked by the moderation policy: ${flagged.join(", ")}.`, {
    param: "messages",
    code: "content_policy_violation",
  });
}
