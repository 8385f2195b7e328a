/** Holds what a chat model is asked and what it answers to a moderation policy. */

import type { Caller } from "../accounts/caller.ts";
import type { ChatEvent, ChatModel, ChatRequest, ModerationVerdict } from "../engines/engine.ts";
import { Fault } from "../faults.ts";
import type { Inference } from "./inference.ts";
import { type FrameReader, moderateOutput } from "./moderate-output.ts";
import type { Answer } from "./run.ts";

/** `score` tells what was found; `block` lets nothing through that is flagged. */
export type ModerationMode = "score" | "block";

export interface ModerationPolicy {
  /** Undefined: the first moderation model that the caller may use. */
  model: string | undefined;
  /** Undefined: not judged. */
  input: ModerationMode | undefined;
  output: ModerationMode | undefined;
}

export interface JudgedChat {
  /** The catalog id that judged. */
  model: string;
  input?: ModerationVerdict;
  /** There once the answer is over. */
  output?: ModerationVerdict;
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
  const { inference, caller, request, policy, clientLeft } = options;
  const judged: JudgedChat = { model: policy.model ?? "" };
  const judge = async (texts: readonly string[]): Promise<ModerationVerdict> => {
    const inputs = texts.map((text) => ({ text, images: [] }));
    const question = { model: policy.model, inputs, imagesNotTaken: undefined };
    const answer = await inference.moderate(caller, question, clientLeft);
    const [verdicts] = await Array.fromAsync(answer.events);
    judged.model = answer.model;
    return highest(verdicts ?? []);
  };
  if (policy.input !== undefined) {
    judged.input = await judge(request.messages.map(({ content }) => content));
    if (policy.input === "block") refuseFlagged(judged.input);
  }
  const answer = await inference.chat(caller, request, clientLeft);
  if (policy.output === undefined) return { ...answer, judged };
  const take = (verdict: ModerationVerdict) => {
    judged.output = verdict;
  };
  const { reader } = options;
  const events = moderateOutput(answer.events, { mode: policy.output, reader, take, judge: (text) => judge([text]) });
  return { ...answer, events, judged };
}

function refuseFlagged(verdict: ModerationVerdict): void {
  const flagged = Object.keys(verdict.flags).filter((category) => verdict.flags[category]);
  if (flagged.length === 0) return;
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
