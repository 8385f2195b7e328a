import type { EmbedVoice } from "@parlance-inference/speech-segmentation/split-at-voice-changes";
import { ModelFileError, PromptTooLongError, type WhisperFile } from "@parlance-inference/whisper-onnx/errors";
import type { ComputeType } from "@parlance-inference/whisper-onnx/open-graph";
import { WhisperModel } from "@parlance-inference/whisper-onnx/whisper-model";
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

export interface WhisperSettings {
  paths: { model: string; tokenizer: string; config: string; vad: string };
  languages: readonly string[] | undefined;
  translates: boolean;
  beamSize: number;
  bestOf: number;
  computeType: ComputeType | "auto";
  /** Path of the model that tells voices apart; undefined: no speaker labels. */
  speakerModel: string | undefined;
  slots: number;
  threads: number | undefined;
}

const PARAM: Record<WhisperFile, string> = {
  weights: "files.model",
  tokenizer: "files.tokenizer",
  config: "files.config",
};

export class WhisperTranscription implements TranscriptionModel {
  readonly task = "transcription";
  readonly device = "cpu";
  readonly slots: number;
  readonly languages: readonly string[];
  readonly abilities: TranscriptionAbilities;
  readonly #model: WhisperModel;
  readonly #search: { beamSize: number; bestOf: number };
  readonly #speakers: Speakers | undefined;

  private constructor(settings: WhisperSettings, model: WhisperModel) {
    const { languages, slots, translates, beamSize, bestOf, speakerModel, threads } = settings;
    const unknown = languages?.find((code) => !model.languages.includes(code));
    if (unknown !== undefined)
      throw invalidRequest(`This model does not support the language ${unknown}.`, "languages");
    this.slots = slots;
    this.languages = languages ?? model.languages;
    this.abilities = {
      translation: translates && model.canTranslate,
      prompt: true,
      temperature: true,
      wordTimes: model.canTimeWords,
      diarization: speakerModel !== undefined,
    };
    this.#model = model;
    this.#search = { beamSize, bestOf };
    if (speakerModel !== undefined) this.#speakers = new Speakers(speakerModel, threads);
  }

  static async load(settings: WhisperSettings): Promise<WhisperTranscription> {
    const { model: weights, ...others } = settings.paths;
    const { threads, computeType } = settings;
    try {
      return new WhisperTranscription(
        settings,
        await WhisperModel.load({ weights, ...others }, { threads, computeType }),
      );
    } catch (error) {
      if (error instanceof ModelFileError) throw invalidRequest(error.message, PARAM[error.file]);
      throw error;
    }
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {}

  async *transcribe(request: TranscriptionRequest, signal: AbortSignal): AsyncGenerator<TranscriptionEvent> {
    const { samples, language, translate, prompt, temperature, wordTimes: wordTimestamps } = request;
    const { languages } = this;
    try {
      const options = { language, languages, translate, prompt, temperature, ...this.#search, wordTimestamps };
      const transcribe = (embedVoice?: EmbedVoice) =>
        this.#model.transcribe(samples, { ...options, embedVoice }, signal);
      if (request.speakers === undefined || this.#speakers === undefined) yield* transcribe();
      else yield* this.#speakers.label(request, transcribe);
    } catch (error) {
      if (error instanceof PromptTooLongError) throw invalidRequest(error.message, "prompt");
      throw error;
    }
  }
}

export const open: HostedModule["open"] = (settings) => WhisperTranscription.load(settings as WhisperSettings);
