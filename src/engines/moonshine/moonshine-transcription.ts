import { ModelFileError } from "@parlance-inference/moonshine-onnx/errors";
import { type MoonshineFiles, MoonshineModel } from "@parlance-inference/moonshine-onnx/moonshine-model";
import { invalidRequest } from "../../faults.ts";
import type { TranscriptionEvent, TranscriptionModel, TranscriptionRequest } from "../engine.ts";
import type { HostedModule } from "../host/model-child.ts";
import type { ModelHealth } from "../open-model.ts";

export interface MoonshineSettings {
  paths: MoonshineFiles;
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
  readonly abilities = { translation: false, prompt: false, temperature: false, wordTimes: false };
  readonly #model: MoonshineModel;

  private constructor(slots: number, model: MoonshineModel) {
    this.slots = slots;
    this.#model = model;
  }

  static async load({ paths, slots, threads }: MoonshineSettings): Promise<MoonshineTranscription> {
    try {
      return new MoonshineTranscription(slots, await MoonshineModel.load(paths, threads));
    } catch (error) {
      if (error instanceof ModelFileError) throw invalidRequest(error.message, `files.${error.file}`);
      throw error;
    }
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {}

  async *transcribe({ samples }: TranscriptionRequest, signal: AbortSignal): AsyncGenerator<TranscriptionEvent> {
    for await (const event of this.#model.transcribe(samples, signal)) {
      if (event.type === "finish") yield { ...event, language: LANGUAGE };
      else yield { ...event, words: undefined, confidence: undefined };
    }
  }
}

/** Entry point of the model's process. */
export const open: HostedModule["open"] = (settings) => MoonshineTranscription.load(settings as MoonshineSettings);
