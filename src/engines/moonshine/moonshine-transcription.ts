import { ModelFileError } from "@parlance-inference/moonshine-onnx/errors";
import { type MoonshineFiles, MoonshineModel } from "@parlance-inference/moonshine-onnx/moonshine-model";
import { invalidRequest } from "../../faults.ts";
import type { TranscriptionEvent, TranscriptionModel, TranscriptionRequest } from "../engine.ts";
import type { HostedModule } from "../host/model-child.ts";
import type { ModelHealth } from "../open-model.ts";
import { type DetectorFiles, EnglishCheck } from "./english-check.ts";

export interface MoonshineSettings {
  paths: MoonshineFiles;
  languageCheck: "refuse" | "warn" | "off";
  /** Files of a multilingual Whisper model; undefined: no language is detected. */
  detector: DetectorFiles | undefined;
  slots: number;
  threads: number | undefined;
}

/** The published models support English only. */
const LANGUAGE = "en";

export class MoonshineTranscription implements TranscriptionModel {
  readonly task = "transcription";
  readonly device = "cpu";
  readonly slots: number;
  readonly languages = [LANGUAGE];
  readonly abilities = { translation: false, prompt: false, temperature: false, wordTimes: false, diarization: false };
  readonly #model: MoonshineModel;
  readonly #languageCheck: EnglishCheck | undefined;

  private constructor(settings: MoonshineSettings, model: MoonshineModel) {
    const { slots, languageCheck, detector, threads } = settings;
    this.slots = slots;
    this.#model = model;
    if (languageCheck !== "off" && detector !== undefined) {
      this.#languageCheck = new EnglishCheck(detector, languageCheck, threads);
    }
  }

  static async load(settings: MoonshineSettings): Promise<MoonshineTranscription> {
    try {
      return new MoonshineTranscription(settings, await MoonshineModel.load(settings.paths, settings.threads));
    } catch (error) {
      if (error instanceof ModelFileError) throw invalidRequest(error.message, `files.${error.file}`);
      throw error;
    }
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {}

  async *transcribe(request: TranscriptionRequest, signal: AbortSignal): AsyncGenerator<TranscriptionEvent> {
    // A caller who names the language knows it better than a detector.
    const check = request.language === undefined ? this.#languageCheck : undefined;
    const warnings: string[] = [];
    const checkSpeech =
      check && (async (speech: Float32Array) => void warnings.push(...(await check.warnings(speech))));
    for await (const event of this.#model.transcribe(request.samples, signal, checkSpeech)) {
      if (event.type === "finish") yield { ...event, language: LANGUAGE, warnings };
      else yield { ...event, words: undefined, confidence: undefined };
    }
  }
}

/** Entry point of the model's process. */
export const open: HostedModule["open"] = (settings) => MoonshineTranscription.load(settings as MoonshineSettings);
