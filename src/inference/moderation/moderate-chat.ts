/** Moderates the input and the answer of a chat as a policy requires. */

import type { AnswerText } from "../../contracts/answer-text.ts";
import type { ChatCall } from "../../contracts/chat-call.ts";
import type { ModerationVerdict } from "../../contracts/moderation-model.ts";
import { Fault } from "../../kernel/faults.ts";
import type { ModerationRequest, ModerationVerdicts } from "../adapters/moderation-adapter.ts";
import { type ChatAnswer, type ChatRunEvent, choicesOf, toChatAnswer } from "../chat-call.ts";
import type { InferenceAnswer } from "../inference-answer.ts";
import { prepend } from "../prepend.ts";
import type { ChatModerationResult, ModerationOutcome } from "./chat-moderation-result.ts";
import { mergeVerdicts } from "./merge-verdicts.ts";
import { blockOutput, scoreOutput } from "./moderate-output.ts";
import { type ModerationPolicy, policyModelUnavailable } from "./moderation-policy.ts";
import { ModerationTimes, withModeration } from "./moderation-times.ts";
import { typedText } from "./typed-text.ts";

type ModerateOptions = ModerationRequest & { model: string | undefined; isWithinRequest: boolean };

export interface ModeratedRun {
  /** Starts the chat. */
  answer(): Promise<InferenceAnswer<ChatRunEvent>>;
  moderate(options: ModerateOptions): Promise<InferenceAnswer<ModerationVerdicts>>;
  /** Records an outcome: once for the input, and for the output as far as it was moderated. */
  note?: ((stage: "input" | "output", outcome: ModerationOutcome, mode: "score" | "block") => void) | undefined;
}

/** Throws a Fault, also when the policy blocks the input. */
export async function moderateChat(call: ChatCall, policy: ModerationPolicy, run: ModeratedRun): Promise<ChatAnswer> {
  const times = new ModerationTimes();
  const result: ChatModerationResult = { model: policy.model ?? "", input: undefined, output: undefined };
  const moderate = async (texts: readonly string[], isWithinRequest: boolean): Promise<ModerationVerdict> => {
    const inputs = texts.map((text) => ({ text, images: [] }));
    const options = { model: policy.model, inputs, imageFault: undefined, isWithinRequest };
    const { model, verdicts } = await times.measure(isWithinRequest ? "output" : "input", async () => {
      const answer = await run.moderate(options);
      const [verdicts] = await Array.fromAsync(answer.events);
      return { ...answer, verdicts };
    });
    result.model = model;
    return (verdicts ?? []).reduce(mergeVerdicts);
  };
  if (policy.input !== undefined) {
    const { texts, unmoderatable } = call.moderationInput();
    // Before the chat is counted as a request, since this may be all that comes of it.
    const moderateInput = () => moderate(texts, false).catch((failure) => rethrowAt(failure, "messages", policy));
    if (policy.input === "block") {
      if (unmoderatable !== undefined) throw unmoderatable;
      const verdict = await moderateInput();
      run.note?.("input", verdict, policy.input);
      result.input = refuseFlagged(verdict, "messages");
    } else {
      result.input = await moderateInput().catch(orFailure);
      run.note?.("input", result.input, policy.input);
    }
  }
  const answer = withModeration(await run.answer(), times);
  const moderation = policy.isShown ? result : undefined;
  if (policy.output === undefined) return { ...toChatAnswer(answer), moderation };
  // Only bodies whose answers can be read are forwarded under a policy.
  const answerText = (answer.isForwarded ? call.passThrough?.answerText : typedText) as AnswerText<ChatRunEvent>;
  const mode = policy.output;
  const take = (outcome: ModerationOutcome) => {
    result.output = outcome;
    run.note?.("output", outcome, mode);
  };
  const moderateOutput = (texts: readonly string[]) =>
    moderate(texts, true).catch((failure) => rethrowAt(failure, undefined, policy));
  if (policy.output === "score") {
    const moderateOrFault = (texts: readonly string[]) => moderateOutput(texts).catch(orAnyFault);
    const events = scoreOutput(answer.events, { answerText, take, moderate: moderateOrFault });
    return { ...toChatAnswer({ ...answer, events }), moderation };
  }
  const orFail = (failure: unknown) => {
    answer.settleAs("failed");
    throw failure;
  };
  const onBlocked = () => {
    answer.settleAs("finished");
    return answer.used;
  };
  const moderateOrFail = (texts: readonly string[]) => moderateOutput(texts).catch(orFail);
  const choices = choicesOf(call);
  const blocking = blockOutput(answer.events, { answerText, take, moderate: moderateOrFail, choices, onBlocked });
  return { ...toChatAnswer({ ...answer, events: await begun(blocking) }), moderation };
}

/** Waits for the first event: a moderation model that fails before anything is shown is a real error status. */
async function begun<Event>(events: AsyncGenerator<Event, void>): Promise<AsyncGenerator<Event, void>> {
  const first = await events.next();
  return first.done ? events : prepend(first.value, events);
}

type Moderated = "messages" | "prompt";

/** Maps a fault's field to the moderated request's, and hides a policy that the caller did not ask for. */
export function rethrowAt(failure: unknown, param: Moderated | undefined, { isRequired }: ModerationPolicy): never {
  if (!(failure instanceof Fault) || !["not-found", "invalid-request"].includes(failure.kind)) throw failure;
  const { kind, code, message, param: field } = failure;
  if (field === "model" && !isRequired) throw new Fault(kind, message, { param: "moderation.model", code });
  if (field === "model") throw policyModelUnavailable(failure);
  if (param === undefined)
    throw new Fault("upstream-failed", `The answer could not be moderated: ${message}`, { cause: failure });
  throw new Fault(kind, `The ${param} could not be moderated: ${message}`, { param, code });
}

/**
 * Returns a failure of the moderation model as the outcome, because scores are optional; rethrows the caller's errors.
 */
export function orFailure(failure: unknown): Fault {
  const isPassing =
    failure instanceof Fault &&
    ["unavailable", "upstream-failed", "upstream-refused", "upstream-timeout", "answer-unfit"].includes(failure.kind);
  if (!isPassing) throw failure;
  return failure;
}

/** Returns any failure as the outcome, because missing scores do not withhold an answer. */
function orAnyFault(failure: unknown): Fault {
  if (failure instanceof Fault && failure.kind !== "client-left") return failure;
  throw failure;
}

/** Throws a Fault that names the flagged categories; returns any other verdict. */
export function refuseFlagged(verdict: ModerationVerdict, param: Moderated): ModerationVerdict {
  const flagged = Object.keys(verdict.flags).filter((category) => verdict.flags[category]);
  if (flagged.length === 0) return verdict;
  throw new Fault(
    "invalid-request",
    `The ${param} ${param === "prompt" ? "was" : "were"} blocked by the moderation policy: ${flagged.join(", ")}.`,
    {
      param,
      code: "content_policy_violation",
    },
  );
}
