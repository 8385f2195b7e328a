/** Speech recognition with sherpa-onnx, inside a model's process. */

import { SAMPLE_RATE } from "@parlance-inference/speech-segmentation/audio-format";
import { filterHallucinations } from "@parlance-inference/speech-segmentation/hallucination-filter";
import { VoiceActivityDetector } from "@parlance-inference/speech-segmentation/voice-activity-detector";
import type { ModelHealth } from "../../contracts/open-model.ts";
import type {
  TranscriptionAbilities,
  TranscriptionEvent,
  TranscriptionModel,
  TranscriptionRequest,
} from "../../contracts/transcription-model.ts";
import { Fault } from "../../kernel/faults.ts";

import { FAMILIES, type Family } from "./families.ts";
import { loadSherpaOnnx } from "./load-sherpa-onnx.ts";
import { Recognizer, type RecognizerSettings } from "./recognizer.ts";

export interface SherpaTranscriptionSettings extends RecognizerSettings {
  languages: readonly string[];
  slots: number;
}

export class SherpaTranscription implements TranscriptionModel {
  readonly task = "transcription";
  readonly device = "cpu";
  readonly slots: number;
  readonly languages: readonly string[];
  readonly abilities: TranscriptionAbilities;
  readonly #recognizer: Recognizer;
  readonly #voiceActivity: VoiceActivityDetector;

  private constructor(
    settings: SherpaTranscriptionSettings,
    recognizer: Recognizer,
    voiceActivity: VoiceActivityDetector,
  ) {
    const family: Family = FAMILIES[settings.family];
    this.slots = settings.slots;
    this.languages = settings.languages;
    this.abilities = {
      translation: family.translates,
      prompt: false,
      temperature: false,
      wordTimes: false,
      diarization: false,
    };
    this.#recognizer = recognizer;
    this.#voiceActivity = voiceActivity;
  }

  static async load(settings: SherpaTranscriptionSettings): Promise<SherpaTranscription> {
    const recognizer = await Recognizer.load(loadSherpaOnnx(), settings);
    const model = new SherpaTranscription(
      settings,
      recognizer,
      await VoiceActivityDetector.load(settings.paths.vad ?? ""),
    );
    await model.#warmUp();
    return model;
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {}

  async *transcribe(request: TranscriptionRequest, signal: AbortSignal): AsyncGenerator<TranscriptionEvent> {
    let samplesRead = 0;
    let language = request.language ?? (this.languages.length === 1 ? this.languages[0] : undefined);
    const segments = this.#voiceActivity.segments(request.samples, (samples) => {
      samplesRead = samples;
    });
    for await (const { samples, startSeconds, endSeconds } of segments) {
      const { translate } = request;
      const segment = { samples, sampleRate: SAMPLE_RATE, language: request.language, translate };
      const result = await this.#recognizer.recognize(segment, signal);
      if (signal.aborted || result === undefined) return;
      const text = filterHallucinations(result.text, endSeconds - startSeconds);
      if (text === "") continue;
      language ??= toLanguage(result.lang);
      yield { type: "segment", startSeconds, endSeconds, text, words: undefined, confidence: undefined };
    }
    if (!signal.aborted) yield { type: "finish", audioSeconds: samplesRead / SAMPLE_RATE, language };
  }

  /** The first inference allocates memory and is slower. */
  async #warmUp(): Promise<void> {
    const silence = { samples: new Float32Array(SAMPLE_RATE), sampleRate: SAMPLE_RATE };
    const warmUp = { ...silence, language: undefined, translate: false };
    const result = await this.#recognizer.recognize(warmUp, new AbortController().signal);
    if (result === undefined) throw new Fault("unavailable", "The model did not answer.");
  }
}

function toLanguage(reported: string): string | undefined {
  return /[a-z]{2,3}/.exec(reported)?.[0];
}
