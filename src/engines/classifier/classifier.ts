/** A sentence encoder with trained low-rank corrections (LoRA) that scores texts by moderation category. */

import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { mayBeForeign } from "@parlance-inference/text-language/detect-language";
import { InferenceSession } from "onnxruntime-node";
import type {
  ModerationContext,
  ModerationInput,
  ModerationModel,
  ModerationVerdict,
} from "../../contracts/moderation-model.ts";
import type { HostedModule } from "../host/model-child.ts";
import { receiveMessages } from "../host/receive-messages.ts";
import { checkInputLength } from "../shared/check-input-length.ts";
import { DEFAULT_THRESHOLD, describeClassifier, languagesOf } from "./describe-classifier.ts";
import { FairBatches, runBatch, type Window } from "./fair-batches.ts";
import { readForeignHead } from "./foreign-head.ts";
import { ForeignScorer } from "./foreign-scorer.ts";
import { type Head, readHead } from "./head.ts";
import type { ImageScorer } from "./image-scorer.ts";
import { minorCueShare } from "./minor-cues.ts";
import { OpenedWhenUsed } from "./opened-when-used.ts";
import { logit, poolWindows, sigmoid } from "./pool-windows.ts";
import { Windows } from "./windows.ts";

/** Paths of the files in the model store. */
export interface ClassifierFiles {
  weights: string;
  tokenizer: string;
  tokenizerConfig: string;
  /** The multilingual encoder, for texts in other languages than English. */
  foreign: string | undefined;
  /** The network for images. */
  images: string | undefined;
}

export interface ClassifierOptions {
  files: ClassifierFiles;
  /** Thresholds by category, which replace the model card's. */
  thresholds: Readonly<Record<string, number>>;
  threads: number | undefined;
  maxCharacters: number;
}

/** Requests take turns batch by batch, so they need no other queue. */
const SLOTS = 64;
/** Leaves slots to the other projects. */
const SLOTS_PER_PROJECT = 16;
const MAX_DEFAULT_THREADS = 4;

interface Parts {
  head: Head;
  session: InferenceSession;
  windows: Windows;
  foreign: OpenedWhenUsed<ForeignScorer> | undefined;
  images: OpenedWhenUsed<ImageScorer> | undefined;
  languages: readonly string[];
}

export class Classifier implements ModerationModel {
  readonly task = "moderation";
  readonly slots = SLOTS;
  readonly slotsPerProject = SLOTS_PER_PROJECT;
  readonly device = "cpu";
  readonly takesImages: boolean;
  readonly languages: readonly string[];
  readonly categories: readonly string[];
  readonly thresholds: Readonly<Record<string, number>>;
  readonly #options: ClassifierOptions;
  readonly #head: Head;
  readonly #session: InferenceSession;
  readonly #windows: Windows;
  readonly #batches: FairBatches;
  readonly #foreign: OpenedWhenUsed<ForeignScorer> | undefined;
  readonly #images: OpenedWhenUsed<ImageScorer> | undefined;

  private constructor(options: ClassifierOptions, { head, session, windows, foreign, images, languages }: Parts) {
    this.#options = options;
    this.#head = head;
    const { categories, thresholds } = describeClassifier(
      head,
      { languages, takesImages: images !== undefined },
      options.thresholds,
    );
    this.languages = languages;
    this.takesImages = images !== undefined;
    this.#foreign = foreign;
    this.#images = images;
    this.categories = categories;
    this.thresholds = thresholds;
    this.#session = session;
    this.#windows = windows;
    this.#batches = new FairBatches((batch) => runBatch(session, batch), receiveMessages);
  }

  static async open(options: ClassifierOptions): Promise<Classifier> {
    const { files, threads = Math.min(MAX_DEFAULT_THREADS, availableParallelism()) } = options;
    const [head, weights, tokenizer, tokenizerConfig] = await Promise.all([
      readHead(),
      readFile(files.weights),
      readFile(files.tokenizer, "utf8"),
      readFile(files.tokenizerConfig, "utf8"),
    ]);
    const session = await InferenceSession.create(head.graph, {
      externalData: [{ path: "model.safetensors", data: weights }],
      intraOpNumThreads: threads,
      // Its worker threads would otherwise spin between requests.
      extra: { session: { intra_op: { allow_spinning: "0" } } },
    });
    const windows = new Windows(JSON.parse(tokenizer), JSON.parse(tokenizerConfig));
    const { foreign: foreignFile, images: imageFile } = files;
    const languages = await languagesOf(foreignFile !== undefined);
    const foreign =
      foreignFile === undefined
        ? undefined
        : new OpenedWhenUsed(async () => ForeignScorer.open(foreignFile, await readForeignHead(), threads));
    const images = imageFile === undefined ? undefined : new OpenedWhenUsed(() => openImages(imageFile, threads));
    return new Classifier(options, { head, session, windows, languages, foreign, images });
  }

  /** A text longer than the network's window is scored window by window. */
  async moderate(
    inputs: readonly ModerationInput[],
    signal: AbortSignal,
    context?: ModerationContext,
  ): Promise<readonly ModerationVerdict[]> {
    checkInputLength(
      inputs.map(({ text }) => text),
      this.#options.maxCharacters,
    );
    const isForeign = await Promise.all(
      inputs.map(async ({ text }) => this.#foreign !== undefined && (await mayBeForeign(text))),
    );
    const foreign = inputs.flatMap(({ text }, index) =>
      isForeign[index] && text.trim() !== "" ? [{ index, text }] : [],
    );
    const scored = inputs.map((): Float32Array[] => []);
    const minorCueShares = inputs.map(() => 0);
    await this.#batches.score({
      project: context?.project ?? "",
      windows: this.#windowsOf(inputs, isForeign, (text, share) => {
        minorCueShares[text] = Math.max(minorCueShares[text] ?? 0, share);
      }),
      signal,
      take: ({ text, index }, scores) => {
        const windows = scored[text];
        if (windows !== undefined) windows[index] = scores;
      },
    });
    const texts = foreign.map(({ text }) => text);
    const scorer = texts.length === 0 ? undefined : await this.#foreign?.get();
    const foreignWindows = await scorer?.score({ texts, project: context?.project ?? "", signal });
    for (const [at, { index, text }] of foreign.entries()) {
      scored[index] = foreignWindows?.[at] ?? [];
      minorCueShares[index] = minorCueShare(text.toLowerCase());
    }
    const { offsets, windows: weights } = this.#head;
    // An aborted request leaves holes.
    const pooled = scored.map((windows) => poolWindows(windows.filter(Boolean), offsets, weights));
    const verdicts = pooled.map((scores, text) => this.#verdict(scores, minorCueShares[text] ?? 0));
    return Promise.all(verdicts.map((verdict, index) => this.#withImages(verdict, inputs[index], signal)));
  }

  async #withImages(
    verdict: ModerationVerdict,
    input: ModerationInput | undefined,
    signal: AbortSignal,
  ): Promise<ModerationVerdict> {
    if (input === undefined || input.images.length === 0 || this.#images === undefined) return verdict;
    const sexual = Math.max(verdict.scores.sexual ?? 0, await (await this.#images.get()).score(input.images, signal));
    const text = input.text === "" ? [] : (["text"] as const);
    const appliedTo = Object.fromEntries(this.categories.map((category) => [category, text]));
    return {
      scores: { ...verdict.scores, sexual },
      flags: { ...verdict.flags, sexual: sexual >= (this.thresholds.sexual ?? DEFAULT_THRESHOLD) },
      appliedTo: { ...appliedTo, sexual: [...text, "image"] },
    };
  }

  *#windowsOf(
    inputs: readonly ModerationInput[],
    isForeign: readonly boolean[],
    takeShare: (text: number, share: number) => void,
  ): Generator<Window, void> {
    for (const [text, input] of inputs.entries()) {
      if (isForeign[text] || input.text.trim() === "") continue;
      let index = 0;
      for (const { windows, minorCueShare } of this.#windows.sectionsOf(input.text)) {
        takeShare(text, minorCueShare);
        for (const ids of windows) {
          yield { text, index, ids };
          index += 1;
        }
      }
    }
  }

  #verdict(trained: Float32Array, minorCueShare: number): ModerationVerdict {
    const { categories, offsets, minorsOffset } = this.#head;
    const byName = Object.fromEntries(categories.map((name, column) => [name, trained[column] ?? 0]));
    const sexual = sigmoid(logit(byName.sexual ?? 0) + (offsets[categories.indexOf("sexual")] ?? 0));
    byName["sexual/minors"] = sigmoid(logit(sexual * minorCueShare) - minorsOffset);
    const every = <Value>(of: (category: string) => Value) =>
      Object.fromEntries(this.categories.map((category) => [category, of(category)]));
    return {
      scores: every((category) => byName[category] ?? 0),
      flags: every((category) => (byName[category] ?? 0) >= (this.thresholds[category] ?? DEFAULT_THRESHOLD)),
      appliedTo: every(() => ["text"] as const),
    };
  }

  health(): { state: "up" } {
    return { state: "up" };
  }

  async close(): Promise<void> {
    await this.#session.release();
    await this.#foreign?.close();
    await this.#images?.close();
  }
}

/** Imports the decoder of images, a native library, only where a model takes images. */
async function openImages(weights: string, threads: number): Promise<ImageScorer> {
  const { ImageScorer } = await import("./image-scorer.ts");
  return ImageScorer.open(weights, threads);
}

export const open: HostedModule["open"] = (options) => Classifier.open(options as ClassifierOptions);
