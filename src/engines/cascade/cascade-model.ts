/** Asks a guard about the texts that a classifier is unsure about. */

import { createHash } from "node:crypto";
import type { ModerationContext, ModerationInput, ModerationModel, ModerationVerdict } from "../../contracts/engine.ts";
import type { ModelHealth } from "../../contracts/open-model.ts";
import { growingCache } from "../../kernel/growing-cache.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { InProcessModule } from "../define-engine.ts";
import { type Band, harmLogOdds, isUnsure, shiftUnsureScores } from "./combine-verdicts.ts";

export interface CascadeSettings {
  band: Band;
  guardWeight: number;
  onGuardFailure: "error" | "classifier";
}

export const open: InProcessModule<CascadeSettings>["open"] = async (settings, _task, { logger }, nested) => {
  const { classifier, guard } = nested;
  if (classifier?.task !== "moderation" || guard?.task !== "moderation") throw new Error("A cascade needs two models");
  return new CascadeModel({ classifier, guard }, settings, logger);
};

/** A chat is moderated with all its messages in every turn, so most of its texts were asked about before. */
const REMEMBERED_TEXTS = 2000;

export class CascadeModel implements ModerationModel {
  readonly task = "moderation";
  readonly slots: number | undefined;
  readonly slotsPerProject: number | undefined;
  readonly device: string;
  readonly takesImages: boolean;
  readonly languages: ModerationModel["languages"];
  readonly categories: ModerationModel["categories"];
  readonly thresholds: ModerationModel["thresholds"];
  readonly nested: readonly ModerationModel[];
  readonly #classifier: ModerationModel;
  readonly #guard: ModerationModel;
  readonly #settings: CascadeSettings;
  readonly #logger: Logger;
  /** Log odds of harm by project and text. */
  readonly #harm = growingCache<number>(REMEMBERED_TEXTS);

  constructor(
    models: { classifier: ModerationModel; guard: ModerationModel },
    settings: CascadeSettings,
    logger: Logger,
  ) {
    const { classifier, guard } = models;
    this.slots = classifier.slots;
    this.slotsPerProject = classifier.slotsPerProject;
    this.device = guard.device;
    this.takesImages = classifier.takesImages && guard.takesImages;
    this.languages = classifier.languages;
    this.categories = classifier.categories;
    this.thresholds = classifier.thresholds;
    this.nested = [classifier, guard];
    this.#classifier = classifier;
    this.#guard = guard;
    this.#settings = settings;
    this.#logger = logger;
  }

  async moderate(
    inputs: readonly ModerationInput[],
    signal: AbortSignal,
    asked?: ModerationContext,
  ): Promise<readonly ModerationVerdict[]> {
    const { thresholds } = this;
    const { band, guardWeight } = this.#settings;
    const verdicts = await this.#classifier.moderate(inputs, signal, asked);
    const unsure = inputs.filter((_, index) => {
      const verdict = verdicts[index];
      return verdict !== undefined && isUnsure(verdict, thresholds, band);
    });
    if (unsure.length === 0 || signal.aborted) return verdicts;
    const harm = await this.#askGuard(unsure, signal, asked);
    return verdicts.map((verdict, index) => {
      const logOdds = harm.get(inputs[index]);
      return logOdds === undefined ? verdict : shiftUnsureScores(verdict, guardWeight * logOdds, thresholds, band);
    });
  }

  /** Log odds of harm; without entries for inputs that the guard did not judge. */
  async #askGuard(
    inputs: readonly ModerationInput[],
    signal: AbortSignal,
    asked: ModerationContext | undefined,
  ): Promise<ReadonlyMap<ModerationInput | undefined, number>> {
    const keyed = inputs.map((input) => ({ input, key: digest(asked?.project, input) }));
    const unknown = [
      ...new Map(keyed.filter(({ key }) => !this.#harm.has(key)).map((each) => [each.key, each])).values(),
    ];
    const harm = new Map(
      keyed.flatMap(({ input, key }) => {
        const logOdds = this.#harm.get(key);
        return logOdds === undefined ? [] : [[input, logOdds] as const];
      }),
    );
    if (unknown.length === 0) return harm;
    try {
      const verdicts = await this.#guard.moderate(
        unknown.map(({ input }) => input),
        signal,
        asked,
      );
      // An aborted guard returns before it has judged every text.
      if (signal.aborted) return harm;
      const verdictOf = new Map(
        unknown.map(({ key }, index) => [
          key,
          harmLogOdds(verdicts[index] as ModerationVerdict, this.#guard.thresholds),
        ]),
      );
      for (const [key, logOdds] of verdictOf) this.#harm.set(key, logOdds);
      for (const { input, key } of keyed) harm.set(input, verdictOf.get(key) ?? harm.get(input) ?? 0);
    } catch (failure) {
      if (this.#settings.onGuardFailure === "error" || signal.aborted) throw failure;
      this.#logger.warn({ err: failure, texts: unknown.length }, "the guard failed; the classifier alone answers");
    }
    return harm;
  }

  /** While the guard is down, the deployment is too, so that requests go to another one or to a fallback at once. */
  health(): ModelHealth {
    const classifierHealth = this.#classifier.health();
    return classifierHealth.state !== "up" || this.#settings.onGuardFailure === "classifier"
      ? classifierHealth
      : this.#guard.health();
  }

  async close(): Promise<void> {
    await Promise.all(this.nested.map((model) => model.close()));
  }
}

function digest(project = "", { text, images }: ModerationInput): string {
  return createHash("sha256")
    .update(JSON.stringify([project, text, images]))
    .digest("base64");
}
