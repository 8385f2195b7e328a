import { ModelFileError } from "@parlance-inference/moonshine-onnx/errors";
import { type MoonshineFiles, MoonshineModel } from "@parlance-inference/moonshine-onnx/moonshine-model";
import type { EmbedVoice } from "@parlance-inference/speech-segmentation/split-at-voice-changes";
import type { ModelHealth } from "../../contracts/open-model.ts";
import type {
  TranscriptionAbilities,
  TranscriptionEvent,
  TranscriptionModel,
  TranscriptionRequest,
} from "../../contracts/transcription-model.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import type { HostedModule } from "../host/model-child.ts";
import { Speakers } from "../shared/speakers.ts";
import { type DetectorFiles, EnglishCheck } from "./english-check.ts";
import { MOONSHINE_ABILITIES } from "./moonshine-abilities.ts";

export interface MoonshineSettings {
  paths: MoonshineFiles;
  languageCheck: "refuse" | "warn" | "off";
  /** Files of a multilingual Whisper model; undefined: no language is detected. */
  detector: DetectorFiles | undefined;
  /** Path of the model that tells voices apart; undefined: no speaker labels. */
  speakerModel: string | undefined;
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
  readonly abilities: TranscriptionAbilities;
  readonly #model: MoonshineModel;
  readonly #languageCheck: EnglishCheck | undefined;
  readonly #speakers: Speakers | undefined;

  private constructor(settings: MoonshineSettings, model: MoonshineModel) {
    const { slots, languageCheck, detector, speakerModel, threads } = settings;
    this.slots = slots;
    const diarization = speakerModel !== undefined;
    this.abilities = { ...MOONSHINE_ABILITIES, diarization };
    if (diarization) this.#speakers = new Speakers(speakerModel, threads);
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
    const transcribe = async function* (model: MoonshineModel, embedVoice?: EmbedVoice) {
      for await (const event of model.transcribe(request.samples, signal, { checkSpeech, embedVoice })) {
        if (event.type === "finish") yield { ...event, language: LANGUAGE, warnings };
        else yield { ...event, words: undefined, confidence: undefined };
      }
    };
    if (request.speakers === undefined || this.#speakers === undefined) yield* transcribe(this.#model);
    else yield* this.#speakers.label(request, (embedVoice) => transcribe(this.#model, embedVoice));
  }
}

/** Entry point of the model's process. */
export const open: HostedModule["open"] = (settings) => MoonshineTranscription.load(settings as MoonshineSettings);
