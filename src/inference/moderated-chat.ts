/** Holds what a chat model is asked and what it answers to a moderation policy. */

import type { Caller } from "../accounts/caller.ts";
import type { ChatEvent, ChatModel, ChatRequest } from "../engines/chat-model.ts";
import type { ModerationVerdict } from "../engines/engine.ts";
import { Fault } from "../faults.ts";
import type { Inference } from "./inference.ts";
import { blockOutput, type FrameReader, scoreOutput } from "./moderate-output.ts";
import type { Answer } from "./run.ts";

/** `score` tells what was found; `block` lets nothing through that is flagged. */
type ModerationMode = "score" | "block";

export interface ModerationPolicy {
  /** Undefined: the first moderation model that the caller may use. */
  model: string | undefined;
  input: ModerationMode;
  output: ModerationMode;
}

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
    const answer = await inference.moderate(caller, question, clientLeft);
    const [verdicts] = await Array.fromAsync(answer.events);
    judged.model = answer.model;
    return highest(verdicts ?? []);
  };
  const score = (text: string) => judge([text]).catch(orFailure);
  const messages = request.messages.map(({ content }) => content);
  if (policy.input === "block") judged.input = refuseFlagged(await judge(messages));
  else judged.input = await judge(messages).catch(orFailure);
  const answer = await inference.chat(caller, request, clientLeft);
  const take = (judgement: Judgement) => {
    judged.output = judgement;
  };
  const events =
    policy.output === "block"
      ? blockOutput(answer.events, { reader, take, judge: (text) => judge([text]) })
      : scoreOutput(answer.events, { reader, take, judge: score });
  return { ...answer, events, judged };
}

/** Scores are extra, so a model that is down costs only them; what the caller asked wrongly is still refused. */
function orFailure(failure: unknown): Fault {
  const isPassing =
    failure instanceof Fault && ["unavailable", "upstream-failed", "upstream-timeout"].includes(failure.kind);
  if (!isPassing) throw failure;
  return failure;
}

function refuseFlagged(verdict: ModerationVerdict): ModerationVerdict {
  const flagged = Object.keys(verdict.flags).filter((category) => verdict.flags[category]);
  if (flagged.length === 0) return verdict;
  throw new Fault("invalid-request", `The messages were blocked by the moderation policy: ${flagged.join(", ")}.`, {
    param: "messages",
    code: "content_policy_violation",
  });
}

/** In each category the verdict with the highest score. */
function highest(verdicts: readonly ModerationVerdict[]): ModerationVerdict {
  const scores: Record<string, number> = {};
  const flags: Record<string, boolean> = {};
  const appliedTo: Record<string, ReadonlyArray<"text" | "image">> = {};
  for (const verdict of verdicts) {
    for (const [category, score] of Object.entries(verdict.scores)) {
      scores[category] = Math.max(scores[category] ?? 0, score);
      flags[category] = (flags[category] ?? false) || verdict.flags[category] === true;
      appliedTo[category] = verdict.appliedTo[category] ?? [];
    }
  }
  return { scores, flags, appliedTo };
}
