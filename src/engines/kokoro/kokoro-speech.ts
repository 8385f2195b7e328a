import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { invalidRequest } from "../../faults.ts";
import { smoothEdges } from "../../speech-text/smooth-edges.ts";
import { toSpokenPieces } from "../../speech-text/speech-text.ts";
import type { SpeechModel, SpeechRequest } from "../engine.ts";
import type { HostedModule } from "../host/model-child.ts";
import type { ModelHealth } from "../open-model.ts";
import { Turns } from "../turns.ts";
import { completeAliases, instructionsUnsupported, resolveVoice } from "../voices.ts";
import type { AcousticModel } from "./acoustic-model.ts";
import { Phonemizer } from "./english/phonemizer.ts";
import { openHibari } from "./hibari-model.ts";
import { openKokoro } from "./kokoro-model.ts";

export interface KokoroSpeechOptions {
  voices: Readonly<Record<string, string>>;
  slots: number;
  threads?: number | undefined;
  mostInputCharacters: number;
  /** The model's files, by their names in the manifest. */
  paths: Readonly<Record<string, string>>;
}

/** OpenAI's voices by the gender that they are known for, and Kokoro's voice of that name where there is one. */
const USUAL_ALIASES: readonly Readonly<Record<string, string>>[] = [
  {
    alloy: "af_alloy",
    ash: "am_eric",
    ballad: "am_liam",
    cedar: "am_michael",
    coral: "af_bella",
    echo: "am_echo",
    fable: "am_puck",
    marin: "af_sarah",
    nova: "af_nova",
    onyx: "am_onyx",
    sage: "af_kore",
    shimmer: "af_sky",
    verse: "am_adam",
  },
  {
    ash: "fenrir",
    ballad: "fenrir",
    cedar: "fenrir",
    echo: "fenrir",
    fable: "fenrir",
    nova: "kore",
    onyx: "fenrir",
    sage: "kore",
    shimmer: "kore",
    verse: "fenrir",
  },
];

export class KokoroSpeech implements SpeechModel {
  readonly task = "speech";
  readonly device = "cpu";
  readonly slots: number;
  readonly voices: readonly string[];
  readonly voiceAliases: Readonly<Record<string, string>>;
  readonly sampleRate: number;
  readonly #model: AcousticModel;
  readonly #phonemizer: Phonemizer;
  readonly #vocabulary: Readonly<Record<string, number>>;
  readonly #mostInputCharacters: number;
  /** Requests take turns by the piece, so that a long text does not keep a short one waiting. */
  readonly #turns = new Turns();

  private constructor(
    options: KokoroSpeechOptions,
    parts: { model: AcousticModel; phonemizer: Phonemizer; vocabulary: Readonly<Record<string, number>> },
  ) {
    this.#model = parts.model;
    this.#phonemizer = parts.phonemizer;
    this.#vocabulary = parts.vocabulary;
    this.#mostInputCharacters = options.mostInputCharacters;
    this.slots = options.slots;
    this.voices = parts.model.voices;
    this.sampleRate = parts.model.sampleRate;
    const usual = USUAL_ALIASES.find((aliases) => Object.values(aliases).some((voice) => this.voices.includes(voice)));
    this.voiceAliases = completeAliases(this.voices, usual ?? {}, options.voices);
  }

  static async open(options: KokoroSpeechOptions): Promise<KokoroSpeech> {
    const { paths } = options;
    const path = (name: string) => paths[name] ?? "";
    const phonemizer = await Phonemizer.open({
      checkedDictionary: path("dictionary-checked.json.gz"),
      guessedDictionary: path("dictionary-guessed.json.gz"),
      tagger: path("tagger.json.gz"),
      spelling: path("spelling.json"),
      unknownWords: path("unknown-words.onnx"),
      unknownWordsAlphabet: path("unknown-words.json"),
    });
    const vocabulary = JSON.parse(await readFile(path("vocabulary.json"), "utf8"));
    const kokoro = namesOf(paths, /^kokoro\.onnx\.\d$/).toSorted();
    const model =
      kokoro.length > 0
        ? await openKokoro(kokoro.map(path), byVoice(paths, /^voice-(.+)\.bin$/), options.threads ?? usefulThreads())
        : await openHibari(byVoice(paths, /^voice-(.+)\.onnx$/), options.threads ?? 1);
    return new KokoroSpeech(options, { model, phonemizer, vocabulary });
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {
    await this.#model.close();
    await this.#phonemizer.close();
  }

  async *speak({ text, voice, speed, instructions }: SpeechRequest, signal: AbortSignal): AsyncGenerator<Float32Array> {
    if (instructions !== undefined) throw instructionsUnsupported();
    const own = this.#resolve(voice);
    const pieces = toSpokenPieces(text, {
      mostInputCharacters: this.#mostInputCharacters,
      // Phonemes are about as many as letters; what has more is cut again once it is phonemes.
      mostPieceCharacters: this.#model.mostPhonemes,
    });
    let hasSpoken = false;
    for (const piece of pieces) {
      for (const phonemes of this.#cut(await this.#phonemizer.phonemize(piece))) {
        const samples = await this.#turns.take(signal, () => this.#model.synthesize(phonemes, own, speed, signal));
        if (signal.aborted || samples === undefined) return;
        hasSpoken = true;
        yield smoothEdges(samples, this.sampleRate);
      }
    }
    if (!hasSpoken)
      throw invalidRequest("'input' has nothing that this voice, which speaks English, can say.", "input");
  }

  #resolve(voice: string): string {
    const names = { voices: this.voices, aliases: this.voiceAliases };
    if (!this.#model.mixesVoices || !voice.includes("+")) return resolveVoice(voice, names);
    return voice
      .split("+")
      .map((name) => resolveVoice(name.trim(), names))
      .join("+");
  }

  /** Phonemes that it does not know are left out; too many for once are cut between words. */
  #cut(phonemes: string): number[][] {
    const most = this.#model.mostPhonemes;
    const pieces: number[][] = [];
    let current: number[] = [];
    for (const word of phonemes.split(/(?<= )/)) {
      const ids = [...word].map((phoneme) => this.#vocabulary[phoneme]).filter((id) => id !== undefined);
      if (current.length + ids.length > most && current.length > 0) {
        pieces.push(current);
        current = [];
      }
      for (let start = 0; start < ids.length; start += most) {
        if (start > 0) {
          pieces.push(current);
          current = [];
        }
        current.push(...ids.slice(start, start + most));
      }
    }
    pieces.push(current);
    return pieces.filter((piece) => piece.length > 0);
  }
}

function namesOf(paths: Readonly<Record<string, string>>, pattern: RegExp): string[] {
  return Object.keys(paths).filter((name) => pattern.test(name));
}

function byVoice(paths: Readonly<Record<string, string>>, pattern: RegExp): Record<string, string> {
  const names = namesOf(paths, pattern);
  return Object.fromEntries(names.map((name) => [name.replace(pattern, "$1"), paths[name] ?? ""]));
}

function usefulThreads(): number {
  return Math.min(4, availableParallelism());
}

export const open: HostedModule["open"] = (options) => KokoroSpeech.open(options as KokoroSpeechOptions);
