/** The guardrails of one request: its policy, what they ask, and what they did. */

import { type Caller, type Priority, projectOf } from "../../contracts/caller.ts";
import type { Guardrail } from "../../contracts/guardrail.ts";
import { Fault } from "../../kernel/faults.ts";
import type { InferenceAnswer } from "../inference-answer.ts";
import type { ModerationOutcome } from "../moderation/chat-moderation-result.ts";
import type { RequiredModeration } from "../moderation/moderation-policy.ts";
import type { OnDisconnect } from "../on-disconnect.ts";
import { type Channels, type ChannelText, textsOf, withTexts } from "./channels.ts";
import { type GuardContext, guardTexts } from "./guarded-texts.ts";
import { GuardrailReport } from "./guardrail-report.ts";
import type { GuardrailServices } from "./guardrail-services.ts";

export interface GuardedRequest {
  caller: Caller;
  /** As the caller wrote it. */
  model: string;
  report: GuardrailReport;
}

export interface GuardsOptions extends Omit<GuardedRequest, "report"> {
  policy: readonly Guardrail[];
  services: GuardrailServices;
  /** Field of the request that errors name. */
  param: string;
  onDisconnect: OnDisconnect;
  /** Asks a chat model, as part of the request. */
  complete: (model: string, system: string, text: string) => Promise<string>;
  /** Called once, when the request is over. */
  onEnded: ((request: GuardedRequest) => void) | undefined;
}

export class Guards {
  readonly policy: readonly Guardrail[];
  readonly context: GuardContext;
  readonly #options: GuardsOptions;
  #hasEnded = false;

  constructor(options: GuardsOptions) {
    const { policy, services, caller, model, param, onDisconnect, complete } = options;
    this.#options = options;
    this.policy = policy;
    const leaving = new AbortController();
    const { organizationId, projectId } = caller;
    this.context = {
      ...{ services, project: projectOf(caller), param, signal: leaving.signal, report: new GuardrailReport() },
      judge: { complete, requested: { model, organizationId, projectId } },
    };
    const leave = () => {
      leaving.abort(new Fault("client-left", "The client left."));
      this.end();
    };
    onDisconnect(leave, undefined, this.context.report);
  }

  /** Priority of the models that guardrails ask. */
  get priority(): Priority | undefined {
    return this.#options.caller.priority;
  }

  /** Returns the texts as a model may read them. Throws a Fault. */
  async guardAll(texts: readonly string[]): Promise<readonly string[]> {
    const inputs = texts.map((text): ChannelText => ({ text, kind: "prompt" }));
    return (await guardTexts(this.policy, inputs, this.context)).texts;
  }

  /** Returns a request as a model may read it. Throws a Fault. */
  async guardFields<Request extends object>(request: Request, channels: Channels<Request>): Promise<Request> {
    const { texts } = await guardTexts(this.policy, textsOf(request, channels), this.context);
    return withTexts(request, channels, texts);
  }

  /** Records what the moderation policy did. */
  noteModeration(stage: "input" | "output", outcome: ModerationOutcome, mode: "score" | "block"): void {
    const { report } = this.context;
    const hasFailed = outcome instanceof Fault;
    const flagged = hasFailed ? [] : Object.keys(outcome.flags).filter((category) => outcome.flags[category]);
    const did = mode === "block" ? "blocked" : "reported";
    report.note("moderation", stage, hasFailed ? "failed" : flagged.length === 0 ? "passed" : did, flagged);
  }

  /** Runs `work` and ends with it if it fails. */
  async attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (failure) {
      this.end();
      throw failure;
    }
  }

  /** Runs a request and ends with its answer. */
  run<Event>(work: () => Promise<InferenceAnswer<Event>>): Promise<InferenceAnswer<Event>> {
    return this.attempt(async () => {
      const answer = await work();
      return { ...answer, events: this.untilEnd(answer.events) };
    });
  }

  /** Ends with the events. */
  async *untilEnd<Event>(events: AsyncIterable<Event>): AsyncGenerator<Event, void> {
    try {
      yield* events;
    } finally {
      this.end();
    }
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const { caller, model, onEnded } = this.#options;
    onEnded?.({ caller, model, report: this.context.report });
  }
}

/**
 * Combines the moderation that guardrails of the operator require with that of the project: the stricter mode of each
 * direction, and the operator's model.
 */
export function combineModeration(
  policy: readonly Guardrail[],
  project: RequiredModeration | undefined,
): RequiredModeration | undefined {
  return policy.reduce<RequiredModeration | undefined>((combined, guardrail) => {
    if (guardrail.type !== "moderation") return combined;
    const { model = null, input = null, output = null, unsupportedLanguage } = guardrail;
    const language = unsupportedLanguage && { ...unsupportedLanguage, model: unsupportedLanguage.model ?? null };
    if (combined === undefined) return { model, input, output, unsupportedLanguage: language ?? null };
    const stricter = (one: RequiredModeration["input"], other: RequiredModeration["input"]) =>
      one === "block" || other === "block" ? "block" : (one ?? other);
    return {
      model: model ?? combined.model,
      input: stricter(combined.input, input),
      output: stricter(combined.output, output),
      unsupportedLanguage: language ?? combined.unsupportedLanguage,
    };
  }, project);
}
