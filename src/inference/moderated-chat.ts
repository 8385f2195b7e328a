/** Holds what a chat model is asked and what it answers to a moderation policy. */

import type { Caller } from "../accounts/caller.ts";
import type { ChatEvent, ChatModel, ChatRequest } from "../engines/chat-model.ts";
import type { ModerationVerdict } from "../engines/engine.ts";
import { Fault, unsupportedValue } from "../faults.ts";
import { higher } from "./higher-verdict.ts";
import type { Inference } from "./inference.ts";
import { blockOutput, type FrameReader, scoreOutput } from "./moderate-output.ts";
import type { ModerationPolicy } from "./moderation-policy.ts";
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
  policy: ModerationPolicy;
  reader: FrameReader;
  clientLeft: AbortSignal;
}

/** As `Inference.chat`. Throws a Fault besides when the policy blocks the input. */
export async function moderatedChat(options: ModeratedChatOptions): Promise<ModeratedAnswer> {
  const { inference, caller, request, policy, reader, clientLeft } = options;
  const judged: JudgedChat = { model: policy.model ?? "", input: undefined, output: undefined };
  const judge = async (texts: readonly string[]): Promise<ModerationVerdict> => {
    const inputs = texts.map((text) => ({ text, images: [] }));
    const question = { model: policy.model, inputs, imagesNotTaken: undefined };
    const answer = await inference
      .moderate(caller, question, clientLeft)
      .catch(policy.isDemanded ? notOfCaller : rethrow);
    const [verdicts] = await Array.fromAsync(answer.events);
    judged.model = answer.model;
    return (verdicts ?? []).reduce(higher);
  };
  const score = (texts: readonly string[]) => judge(texts).catch(orFailure);
  const messages = request.messages.flatMap(({ content, toolCalls = [] }) => [
    content,
    ...toolCalls.map((call) => call.arguments),
  ]);
  if (policy.input === "block") refuseImages(request);
  if (policy.input === "block") judged.input = refuseFlagged(await judge(messages));
  if (policy.input === "score") judged.input = await score(messages);
  const answer = await inference.chat(caller, request, clientLeft);
  const take = (judgement: Judgement) => {
    judged.output = judgement;
  };
  const judgedBy = {
    block: (events: typeof answer.events) => blockOutput(events, { reader, take, judge, choices: request.choices }),
    score: (events: typeof answer.events) => scoreOutput(events, { reader, take, judge: score }),
  };
  const events = policy.output === undefined ? answer.events : judgedBy[policy.output](answer.events);
  return { ...answer, events, judged };
}

/** A caller who asked for no moderation must not be told that it named a wrong model. */
function notOfCaller(failure: unknown): never {
  if (!(failure instanceof Fault) || !["not-found", "invalid-request"].includes(failure.kind)) throw failure;
  const message =
    "The moderation model of the project's policy is not available to this API key. Ask its administrator.";
  throw new Fault("unavailable", message, { code: "engine_failed", retryAfterSeconds: 60, cause: failure });
}

function rethrow(failure: unknown): never {
  throw failure;
}

/** Scores are extra, so a model that is down costs only them; what the caller asked wrongly is still refused. */
function orFailure(failure: unknown): Fault {
  const isPassing =
    failure instanceof Fault &&
    ["unavailable", "upstream-failed", "upstream-refused", "upstream-timeout"].includes(failure.kind);
  if (!isPassing) throw failure;
  return failure;
}

/** Only text is judged here, and what is not judged is not let through. */
function refuseImages({ imagesNotTaken }: ChatRequest): void {
  const param = imagesNotTaken?.param;
  if (param === undefined) return;
  throw unsupportedValue("The moderation policy blocks messages by their text, and this part is an image.", param);
}

function refuseFlagged(verdict: ModerationVerdict): ModerationVerdict {
  const flagged = Object.keys(verdict.flags).filter((category) => verdict.flags[category]);
  if (flagged.length === 0) return verdict;
  throw new Fault("invalid-request", `The messages were blocked by the moderation policy: ${flagged.join(", ")}.`, {
    param: "messages",
    code: "content_policy_violation",
  });
}
