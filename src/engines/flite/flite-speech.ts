import { FliteTts } from "@parlance-inference/english-tts/flite-tts";
import { FLITE_OUTPUT_RATE, FLITE_VOICES } from "@parlance-inference/english-tts/flite-voices";
import type { SpeechModel, SpeechRequest } from "../engine.ts";
import type { HostedModule } from "../host/model-child.ts";
import type { ModelHealth } from "../open-model.ts";
import { withSpeechFaults } from "../speech-faults.ts";
import { completeAliases, instructionsUnsupported, resolveVoice } from "../voices.ts";
import type { FliteSettings } from "./flite-engine.ts";

/** OpenAI's voices by the gender that they are known for; `fable` is the one with a British accent. */
const DEFAULT_ALIASES: Readonly<Record<string, (typeof FLITE_VOICES)[number]>> = {
  ash: "rms",
  ballad: "awb",
  cedar: "rms",
  echo: "kal16",
  fable: "awb",
  onyx: "rms",
  verse: "awb",
};

export class FliteSpeech implements SpeechModel {
  readonly task = "speech";
  readonly device = "cpu";
  readonly slots: number;
  readonly voices: readonly string[] = FLITE_VOICES;
  readonly voiceAliases: Readonly<Record<string, string>>;
  readonly sampleRate = FLITE_OUTPUT_RATE;
  readonly #tts: FliteTts;
  readonly #maxInputCharacters: number;

  private constructor(tts: FliteTts, settings: FliteSettings) {
    this.#tts = tts;
    this.#maxInputCharacters = settings.mostInputCharacters;
    this.slots = settings.slots;
    this.voiceAliases = completeAliases(FLITE_VOICES, DEFAULT_ALIASES, settings.voices);
  }

  static async open(settings: FliteSettings): Promise<FliteSpeech> {
    return new FliteSpeech(await FliteTts.open(), settings);
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {}

  async *speak(request: SpeechRequest, signal: AbortSignal): AsyncGenerator<Float32Array> {
    const { text, speed, instructions } = request;
    if (instructions !== undefined) throw instructionsUnsupported();
    const voice = resolveVoice(request.voice, { voices: FLITE_VOICES, aliases: this.voiceAliases });
    const synthesis = { text, voice, speed, maxInputCharacters: this.#maxInputCharacters };
    yield* withSpeechFaults(this.#tts.synthesize(synthesis, signal));
  }
}

export const open: HostedModule["open"] = (settings) => FliteSpeech.open(settings as FliteSettings);
