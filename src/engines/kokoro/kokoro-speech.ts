import { NeuralTts } from "@parlance-inference/english-tts/neural-tts";
import { voiceLanguages } from "@parlance-inference/english-tts/voice-languages";
import type { ModelHealth } from "../../contracts/open-model.ts";
import type { SpeechEvent, SpeechModel, SpeechRequest } from "../../contracts/speech-model.ts";
import type { HostedModule } from "../host/model-child.ts";
import { withSpeechFaults } from "../shared/speech-faults.ts";
import { resolveVoice } from "../shared/voices.ts";
import { kokoroAliases } from "./kokoro-aliases.ts";

export interface KokoroSpeechOptions {
  voices: Readonly<Record<string, string>>;
  slots: number;
  threads?: number | undefined;
  maxInputCharacters: number;
  checksLanguage: boolean;
  /** Paths of the model's files by their names in the manifest. */
  paths: Readonly<Record<string, string>>;
}

export class KokoroSpeech implements SpeechModel {
  readonly task = "speech";
  readonly device = "cpu";
  readonly slots: number;
  readonly voices: readonly string[];
  readonly voiceAliases: Readonly<Record<string, string>>;
  readonly languages: readonly string[];
  readonly voiceLanguages: Readonly<Record<string, string>>;
  readonly sampleRate: number;
  readonly wordTimes = true;
  readonly #tts: NeuralTts;
  readonly #limits: Pick<KokoroSpeechOptions, "maxInputCharacters" | "checksLanguage">;

  private constructor(tts: NeuralTts, settings: KokoroSpeechOptions) {
    this.#tts = tts;
    const { maxInputCharacters, checksLanguage } = settings;
    this.#limits = { maxInputCharacters, checksLanguage };
    this.slots = settings.slots;
    this.voices = tts.voices;
    this.languages = tts.languages;
    this.voiceLanguages = voiceLanguages(this.voices);
    this.sampleRate = tts.sampleRate;
    this.voiceAliases = kokoroAliases(this.voices, settings.voices);
  }

  static async open(options: KokoroSpeechOptions): Promise<KokoroSpeech> {
    return new KokoroSpeech(await NeuralTts.open(options), options);
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {
    await this.#tts.close();
  }

  async *speak(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<SpeechEvent> {
    const { text, speed, wordTimes, rewritten = [] } = request;
    const voice = this.#resolveVoice(request.voice);
    const synthesis = { ...this.#limits, text, voice, speed };
    if (wordTimes !== true) return yield* withSpeechFaults(this.#tts.synthesize(synthesis, signal));
    for await (const { words, samples } of withSpeechFaults(this.#tts.synthesizeTimed(synthesis, rewritten, signal))) {
      if (words.length > 0) yield { words };
      yield samples;
    }
  }

  #resolveVoice(voice: string): string {
    const names = { voices: this.voices, aliases: this.voiceAliases };
    if (!this.#tts.mixesVoices || !voice.includes("+")) return resolveVoice(voice, names);
    return voice
      .split("+")
      .map((name) => resolveVoice(name.trim(), names))
      .join("+");
  }
}

export const open: HostedModule["open"] = (options) => KokoroSpeech.open(options as KokoroSpeechOptions);
