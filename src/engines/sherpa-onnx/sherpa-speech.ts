/** Text to speech with sherpa-onnx, inside a model's process. */

import { availableParallelism } from "node:os";
import { fadeEdges } from "@parlance-inference/english-tts/fade-edges";
import { requireLanguage, spokenText } from "@parlance-inference/english-tts/require-language";
import { toSegments } from "@parlance-inference/english-tts/to-segments";
import { VoiceLevel } from "@parlance-inference/english-tts/voice-level";
import pLimit from "p-limit";
import type { ModelHealth } from "../../contracts/open-model.ts";
import type { SpeechModel, SpeechRequest } from "../../contracts/speech-model.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { withSpeechFaults } from "../shared/speech-faults.ts";
import { completeAliases, resolveVoice } from "../shared/voices.ts";
import type { ModelPaths } from "./families.ts";
import { loadSherpaOnnx, type OfflineTts } from "./load-sherpa-onnx.ts";
import { preparePiperVoice } from "./piper-voice.ts";
import { SPEECH_FAMILIES, type SpeechFamilyName } from "./speech-families.ts";

export interface SherpaSpeechSettings {
  family: SpeechFamilyName;
  paths: ModelPaths;
  /** Speaker numbers by voice name; undefined: the numbers are the names. */
  voices: Readonly<Record<string, number>> | undefined;
  maxInputCharacters: number;
  /** ISO 639-1 codes; undefined: those of Piper's configuration. */
  languages: readonly string[] | undefined;
  checksLanguage: boolean;
  slots: number;
  threads: number | undefined;
}

const MAX_SENTENCE_CHARACTERS = 250;
const MAX_DEFAULT_THREADS = 4;

export class SherpaSpeech implements SpeechModel {
  readonly task = "speech";
  readonly device = "cpu";
  readonly slots: number;
  readonly voices: readonly string[];
  readonly voiceAliases: Readonly<Record<string, string>>;
  readonly languages: readonly string[] | undefined;
  readonly sampleRate: number;
  readonly wordTimes = false;
  readonly #model: OfflineTts;
  readonly #speakers: Readonly<Record<string, number>>;
  /** By speaker number. */
  readonly #levels = new Map<number, VoiceLevel>();
  readonly #maxInputCharacters: number;
  /** Undefined: any text. */
  readonly #requiredLanguages: readonly string[] | undefined;
  /** One sentence at a time, first come first served: concurrent requests alternate. */
  readonly #limit = pLimit(1);

  private constructor(model: OfflineTts, settings: SherpaSpeechSettings) {
    this.#model = model;
    this.#maxInputCharacters = settings.maxInputCharacters;
    const numbers = Array.from({ length: Math.max(1, model.numSpeakers) }, (_, number) => [String(number), number]);
    this.#speakers = settings.voices ?? Object.fromEntries(numbers);
    this.slots = settings.slots;
    this.voices = Object.keys(this.#speakers);
    this.voiceAliases = completeAliases(this.voices, {}, {});
    this.languages = settings.languages;
    this.#requiredLanguages = settings.checksLanguage ? settings.languages : undefined;
    this.sampleRate = model.sampleRate;
  }

  static async load(settings: SherpaSpeechSettings): Promise<SherpaSpeech> {
    const { family, paths } = settings;
    await using piper = family === "piper" ? await preparePiperVoice(paths) : undefined;
    const voices = settings.voices ?? piper?.voices;
    const { OfflineTts } = loadSherpaOnnx();
    const numThreads = settings.threads ?? Math.min(MAX_DEFAULT_THREADS, availableParallelism());
    const files = SPEECH_FAMILIES[family].configure(piper?.paths ?? paths);
    const model = await OfflineTts.createAsync({
      model: { ...files, numThreads, provider: "cpu", debug: 0 },
      maxNumSentences: 1,
    });
    const invalid = Object.entries(voices ?? {}).find(([, speaker]) => speaker >= Math.max(1, model.numSpeakers));
    if (invalid !== undefined) {
      const message = `voices.${invalid[0]}: the model has no speaker ${invalid[1]}; its ${model.numSpeakers} speakers are numbered from 0.`;
      throw invalidRequest(message, "voices");
    }
    return new SherpaSpeech(model, { ...settings, voices, languages: settings.languages ?? piper?.languages });
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  /** The library cannot free a model; the process that holds it ends. */
  async close(): Promise<void> {}

  speak(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<Float32Array> {
    return withSpeechFaults(this.#speak(request, signal));
  }

  async *#speak({ text, voice, speed }: SpeechRequest, signal: AbortSignal) {
    const sid = this.#speakers[resolveVoice(voice, { voices: this.voices, aliases: this.voiceAliases })] ?? 0;
    const { sampleRate } = this;
    const limits = { maxInputCharacters: this.#maxInputCharacters, maxSentenceCharacters: MAX_SENTENCE_CHARACTERS };
    let hasSpoken = false;
    const segments = toSegments(text, limits);
    if (this.#requiredLanguages !== undefined) await requireLanguage(spokenText(segments), this.#requiredLanguages);
    for (const segment of segments) {
      if (signal.aborted) return;
      if ("pauseSeconds" in segment) {
        yield new Float32Array(Math.round(segment.pauseSeconds * sampleRate));
        continue;
      }
      const onProgress = () => !signal.aborted;
      const request = { text: segment.sentence, sid, speed, enableExternalBuffer: false, onProgress };
      const result = await this.#limit(async () => (signal.aborted ? undefined : this.#model.generateAsync(request)));
      if (signal.aborted || result === undefined) return;
      if (result.samples.length === 0) continue;
      hasSpoken = true;
      yield fadeEdges(this.#levelOf(sid).level(result.samples), sampleRate);
    }
    if (!hasSpoken) throw invalidRequest("'input' has no text that this voice can speak.", "input");
  }

  #levelOf(speaker: number): VoiceLevel {
    const level = this.#levels.get(speaker) ?? new VoiceLevel(this.sampleRate);
    this.#levels.set(speaker, level);
    return level;
  }
}
