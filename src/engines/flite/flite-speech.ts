import { FliteTts } from "@parlance-inference/english-tts/flite-tts";
import { FLITE_VOICES } from "@parlance-inference/english-tts/flite-voices";
import type { ModelHealth } from "../../contracts/open-model.ts";
import type { SpeechModel, SpeechRequest } from "../../contracts/speech-model.ts";
import type { HostedModule } from "../host/model-child.ts";
import { withSpeechFaults } from "../shared/speech-faults.ts";
import { resolveVoice } from "../shared/voices.ts";
import type { FliteSettings } from "./flite-engine.ts";
import { fliteFacts } from "./flite-facts.ts";

export class FliteSpeech implements SpeechModel {
  readonly task = "speech";
  readonly device: string;
  readonly slots: number | undefined;
  readonly voices = FLITE_VOICES;
  readonly voiceAliases: Readonly<Record<string, string>>;
  readonly languages: readonly string[] | undefined;
  readonly sampleRate: number;
  readonly wordTimes: boolean;
  readonly #tts: FliteTts;
  readonly #limits: Pick<FliteSettings, "maxInputCharacters" | "checksLanguage">;

  private constructor(tts: FliteTts, settings: FliteSettings) {
    this.#tts = tts;
    const { maxInputCharacters, checksLanguage } = settings;
    this.#limits = { maxInputCharacters, checksLanguage };
    ({
      device: this.device,
      slots: this.slots,
      voiceAliases: this.voiceAliases,
      languages: this.languages,
      sampleRate: this.sampleRate,
      wordTimes: this.wordTimes,
    } = fliteFacts(settings));
  }

  static async open(settings: FliteSettings): Promise<FliteSpeech> {
    return new FliteSpeech(await FliteTts.open(), settings);
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {}

  async *speak(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<Float32Array> {
    const { text, speed } = request;
    const voice = resolveVoice(request.voice, { voices: FLITE_VOICES, aliases: this.voiceAliases });
    const synthesis = { ...this.#limits, text, voice, speed };
    yield* withSpeechFaults(this.#tts.synthesize(synthesis, signal));
  }
}

export const open: HostedModule["open"] = (settings) => FliteSpeech.open(settings as FliteSettings);
