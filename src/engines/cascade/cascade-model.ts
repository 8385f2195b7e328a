/** Asks a guard about the texts that a classifier is unsure about. */

import { createHash } from "node:crypto";
import type {
  ModerationContext,
  ModerationInput,
  ModerationModel,
  ModerationVerdict,
} from "../../contracts/moderation-model.ts";
import type { ModelHealth } from "../../contracts/open-model.ts";
import { growingCache } from "../../kernel/growing-cache.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { InProcessModule } from "../define-engine.ts";
import { type Band, harmLogOdds, isUnsure, shiftUnsureScores } from "./combine-verdicts.ts";

export interface CascadeSettings {
  band: Band;
  guardWeight: number;
  onGuardFailure: "error" | "classifier";
  /** Undefined: no limit. */
  guardMaxCharacters: number | undefined;
  /** For all unsure texts of a request; undefined: no limit. */
  guardTimeoutMs: number | undefined;
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
    this.takesImages = classifier.takesImages;
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
    context?: ModerationContext,
  ): Promise<readonly ModerationVerdict[]> {
    const { thresholds } = this;
    const { band, guardWeight, guardMaxCharacters = Number.POSITIVE_INFINITY } = this.#settings;
    const verdicts = await this.#classifier.moderate(inputs, signal, context);
    const unsure = inputs.map(({ text, images }, index) => {
      const verdict = verdicts[index];
      if (verdict === undefined || !isUnsure(verdict, thresholds, band)) return undefined;
      const input = { text, images: this.#guard.takesImages ? images : [] };
      if (text.trim() === "" && input.images.length === 0) return undefined;
      return text.length <= guardMaxCharacters ? input : withoutPadding(input, guardMaxCharacters);
    });
    const questions = unsure.filter((input) => input !== undefined);
    if (questions.length === 0 || signal.aborted) return verdicts;
    const harm = await this.#askGuard(questions, signal, context);
    return verdicts.map((verdict, index) => {
      const question = unsure[index];
      if (question === undefined) return verdict;
      const logOdds = harm.get(question);
      if (logOdds === undefined) return { ...verdict, isProvisional: true };
      // A guard without eyes that finds a text harmless says nothing of the image beside it.
      const isSeen = question.images.length === inputs[index]?.images.length;
      return shiftUnsureScores(verdict, guardWeight * (isSeen ? logOdds : Math.max(0, logOdds)), thresholds, band);
    });
  }

  /** Log odds of harm; undefined for inputs that the guard did not judge. */
  async #askGuard(
    inputs: readonly ModerationInput[],
    signal: AbortSignal,
    context: ModerationContext | undefined,
  ): Promise<ReadonlyMap<ModerationInput, number | undefined>> {
    const keyed = inputs.map((input) => ({ input, key: digest(context?.project, input) }));
    const harm = new Map(keyed.map(({ key }) => [key, this.#harm.get(key)]));
    const unknown = new Map(
      keyed.filter(({ key }) => harm.get(key) === undefined).map(({ key, input }) => [key, input]),
    );
    for (const [key, logOdds] of await this.#judge(unknown, signal, context)) {
      harm.set(key, logOdds);
      this.#harm.set(key, logOdds);
    }
    return new Map(keyed.map(({ input, key }) => [input, harm.get(key)]));
  }

  /** Log odds of harm by key, of the inputs that the guard has judged in time. */
  async #judge(
    inputs: ReadonlyMap<string, ModerationInput>,
    signal: AbortSignal,
    context: ModerationContext | undefined,
  ): Promise<readonly (readonly [string, number])[]> {
    if (inputs.size === 0) return [];
    const { guardTimeoutMs, onGuardFailure } = this.#settings;
    const timeout = guardTimeoutMs === undefined ? undefined : AbortSignal.timeout(guardTimeoutMs);
    const until = timeout === undefined ? signal : AbortSignal.any([signal, timeout]);
    try {
      const verdicts = await this.#guard.moderate([...inputs.values()], until, context);
      if (signal.aborted) return [];
      const judged = [...inputs.keys()].flatMap((key, index) => {
        const verdict = verdicts[index];
        const isReached = verdict !== undefined && Object.keys(verdict.scores).length > 0;
        return isReached ? [[key, harmLogOdds(verdict, this.#guard.thresholds)] as const] : [];
      });
      if (timeout?.aborted) this.#logLate(inputs.size - judged.length);
      return judged;
    } catch (failure) {
      if (signal.aborted) throw failure;
      if (timeout?.aborted) this.#logLate(inputs.size);
      else if (onGuardFailure === "error") throw failure;
      else this.#logger.warn({ err: failure, texts: inputs.size }, "the guard failed; the classifier alone answers");
      return [];
    }
  }

  #logLate(texts: number): void {
    if (texts > 0) this.#logger.info({ texts }, "the guard was late; the classifier alone answers");
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

/** Undefined where the text is still too long: what nobody sees does not make it one that the guard is not asked about. */
function withoutPadding(input: ModerationInput, maxCharacters: number): ModerationInput | undefined {
  const text = input.text
    .replaceAll(/\p{Default_Ignorable_Code_Point}+/gu, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return text.length <= maxCharacters ? { ...input, text } : undefined;
}

function digest(project = "", { text, images }: ModerationInput): string {
  return createHash("sha256")
    .update(JSON.stringify([project, text, images]))
    .digest("base64");
}
