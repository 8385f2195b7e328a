/** Moderates inputs with the model that their languages and their project require. */

import { type Caller, projectOf } from "../../contracts/caller.ts";
import type { ModerationInput } from "../../contracts/moderation-model.ts";
import { type ModerationRequest, type ModerationVerdicts, moderationAdapter } from "../adapters/moderation-adapter.ts";
import type { CallerModels } from "../caller-models.ts";
import { combineModeration } from "../guardrails/guards.ts";
import type { GuardrailOptions, RequestGuards } from "../guardrails/request-guards.ts";
import type { InferenceAnswer } from "../inference-answer.ts";
import type { OnDisconnect } from "../on-disconnect.ts";
import type { RequestPart } from "../quota.ts";
import { type Recordings, recorded } from "../recording/recordings.ts";
import { moderationContent } from "../recording/task-content.ts";
import type { Runs } from "../runs.ts";
import { detectLanguages, languageRefusal, unsupportedLanguages, withLanguages } from "./moderation-languages.ts";
import { policyModelUnavailable } from "./moderation-policy.ts";

/** `model`: undefined for the first that the caller may use. */
export type ModerateOptions = ModerationRequest & RequestPart & { model: string | undefined };

export class Moderator {
  readonly #models: CallerModels;
  readonly #runs: Runs;
  readonly #guardrails: RequestGuards;
  readonly #recordings: Recordings;
  readonly #options: Pick<GuardrailOptions, "moderationOf">;

  constructor(
    models: CallerModels,
    runs: Runs,
    guardrails: RequestGuards,
    recordings: Recordings,
    options: Pick<GuardrailOptions, "moderationOf">,
  ) {
    this.#models = models;
    this.#runs = runs;
    this.#guardrails = guardrails;
    this.#recordings = recordings;
    this.#options = options;
  }

  /** Moderates the inputs of a caller's request, after the guardrails of the model. Throws a Fault. */
  async moderate(
    caller: Caller,
    options: ModerateOptions,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<ModerationVerdicts>> {
    const id = options.model ?? this.#models.first(caller, "moderation");
    const recording = this.#recordings.begin(caller, id, onDisconnect);
    const run = (inputs: ModerateOptions["inputs"]) => {
      const read = recording?.watch((results: ModerationVerdicts[]) => moderationContent(inputs, results));
      return recorded(this.#run(caller, { ...options, inputs }, onDisconnect), read);
    };
    const guards = this.#guardrails.of(caller, id, "moderation", "input", onDisconnect);
    if (guards === undefined) return run(options.inputs);
    return guards.run(async () =>
      run(withTexts(options.inputs, await guards.guardAll(options.inputs.map(({ text }) => text)))),
    );
  }

  /** Moderates texts of another request, whose guardrails have passed: the moderation model's only mask. Throws a Fault. */
  async moderateWithin(
    caller: Caller,
    options: ModerateOptions,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<ModerationVerdicts>> {
    const id = options.model ?? this.#models.first(caller, "moderation");
    const texts = options.inputs.map(({ text }) => text);
    const masked = await this.#guardrails.mask(caller, id, texts, onDisconnect);
    return this.#run(caller, { ...options, inputs: withTexts(options.inputs, masked) }, onDisconnect);
  }

  async #run(
    caller: Caller,
    { model, isWithinRequest, counted, ...request }: ModerateOptions,
    onDisconnect: OnDisconnect,
  ): Promise<InferenceAnswer<ModerationVerdicts>> {
    const { id, unsupported } = await this.#modelFor(caller, model, request.inputs);
    const adapter = moderationAdapter(request, projectOf(caller));
    const answer = await this.#runs.run(caller, id, adapter, onDisconnect, { isWithinRequest, counted });
    const isKnown = unsupported.every((language) => language === undefined);
    return isKnown ? answer : { ...answer, events: withLanguages(answer.events, unsupported) };
  }

  /** Chooses the model by the languages of the inputs, as the project requires. Throws a Fault when it refuses them. */
  async #modelFor(caller: Caller, model: string | undefined, inputs: readonly ModerationInput[]) {
    const id = model ?? this.#models.first(caller, "moderation");
    const detected = await detectLanguages(inputs);
    if (detected.every((language) => language === undefined)) return { id, unsupported: [] };
    const unsupportedBy = async (moderator: string) =>
      unsupportedLanguages(detected, await this.#models.moderationLanguages(caller, moderator));
    const unsupported = await unsupportedBy(id);
    const policy = combineModeration(
      this.#guardrails.policyOf(caller, id),
      this.#options.moderationOf(caller),
    )?.unsupportedLanguage;
    if (policy == null || unsupported.every((language) => language === undefined)) return { id, unsupported };
    if (policy.action === "refuse") throw languageRefusal(unsupported, id);
    if (policy.action === "pass" || policy.model === null) return { id, unsupported };
    const { model: other } = policy;
    if (this.#models.taskOf(caller, other) !== "moderation") throw policyModelUnavailable(undefined);
    return { id: other, unsupported: await unsupportedBy(other) };
  }
}

function withTexts(inputs: readonly ModerationInput[], texts: readonly string[]): readonly ModerationInput[] {
  return inputs.map((input, index) => ({ ...input, text: texts[index] ?? "" }));
}
