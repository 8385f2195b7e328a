/** Adapts transcriptions to the life of a request. */

import type { Caller } from "../../contracts/caller.ts";
import type {
  TranscriptionEvent,
  TranscriptionModel,
  TranscriptionRequest,
} from "../../contracts/transcription-model.ts";
import { type Fault, unsupportedValue } from "../../kernel/faults.ts";
import { NO_UPPER_BOUND, type TaskAdapter } from "./task-adapter.ts";

/** Maximum duration that an upstream may report; a usage record has 31 bits for its milliseconds. */
const MAX_AUDIO_SECONDS = (2 ** 31 - 1) / 1000;

/** Byte rate of 16-bit samples at 16 kHz; a compressed recording is longer, never shorter. */
const MAX_BYTES_PER_SECOND = 32_000;

const SAMPLES_PER_SECOND = 16_000;

/** Wraps samples, which may be iterated more than once, and reports the seconds that each iteration has read. */
function observeSeconds(samples: AsyncIterable<Float32Array>, onRead: (seconds: number) => void) {
  return {
    async *[Symbol.asyncIterator]() {
      let count = 0;
      for await (const chunk of samples) {
        count += chunk.length;
        onRead(count / SAMPLES_PER_SECOND);
        yield chunk;
      }
    },
  };
}

export interface TranscriptionKeywordOptions {
  /** Names and terms that a caller's recordings have in them. */
  transcriptionKeywordsOf?: ((caller: Caller) => readonly string[]) | undefined;
}

/**
 * Adapts transcription; its usage counts the seconds of audio that were read. `keywords` are the prompt of a request
 * without one, for models that take prompts.
 */
export function transcriptionAdapter(
  request: Omit<TranscriptionRequest, "model">,
  keywords: readonly string[],
): TaskAdapter<TranscriptionModel, TranscriptionEvent> {
  let heardSeconds = 0;
  const samples = observeSeconds(request.samples, (seconds) => {
    heardSeconds = Math.max(heardSeconds, seconds);
  });
  return {
    task: "transcription",
    upperBound: () => ({ ...NO_UPPER_BOUND, audioBytes: request.file.bytes }),
    affinity: () => undefined,
    refusal: (model, id) => refuseTranscription(request, model) ?? missingFeature(request, model, id),
    begin: (model, id, signal) => {
      const prompt = request.prompt ?? (model.abilities.prompt ? toPrompt(keywords) : undefined);
      return model.transcribe({ ...request, prompt, samples, model: id }, signal);
    },
    drainsToBuffer: () => true,
    count: (event, used) => {
      const seconds = event.type === "finish" ? event.audioSeconds : event.type === "segment" ? event.endSeconds : 0;
      used.audioSeconds = Math.max(used.audioSeconds, Math.min(seconds, MAX_AUDIO_SECONDS));
      return event.type !== "finish";
    },
    countAbandoned: (used) => {
      // An upstream receives the file, which is not decoded here.
      const seconds = heardSeconds > 0 ? heardSeconds : request.file.bytes / MAX_BYTES_PER_SECOND;
      used.audioSeconds = Math.max(used.audioSeconds, Math.min(seconds, MAX_AUDIO_SECONDS));
    },
    isEnd: (event) => event.type === "finish",
  };
}

function toPrompt(keywords: readonly string[]): string | undefined {
  return keywords.length === 0 ? undefined : `${keywords.join(", ")}.`;
}

function missingFeature(
  { translate, speakers, wordTimes }: Omit<TranscriptionRequest, "model">,
  model: TranscriptionModel,
  id: string,
): Fault | undefined {
  return (
    (translate ? model.missing?.("audio/translations", id) : undefined) ??
    (speakers !== undefined ? model.missing?.("speakers", id) : undefined) ??
    (wordTimes ? model.missing?.("word-times", id) : undefined)
  );
}

function refuseTranscription(
  request: Omit<TranscriptionRequest, "model">,
  model: TranscriptionModel,
): Fault | undefined {
  const { languages, abilities } = model;
  if (request.language !== undefined && languages !== undefined && !languages.includes(request.language)) {
    const languageList = languages.join(", ");
    return unsupportedValue(
      `This model does not know the language '${request.language}'; it knows ${languageList}.`,
      "language",
    );
  }
  if (request.translate && !abilities.translation) {
    return unsupportedValue("This model does not translate; it transcribes only.", "model");
  }
  if (request.prompt !== undefined && !abilities.prompt) {
    return unsupportedValue("This model takes no prompt, and no keywords, which become one.", "prompt");
  }
  if (request.temperature !== 0 && !abilities.temperature) {
    return unsupportedValue("This model has no temperature other than 0.", "temperature");
  }
  if (request.speakers !== undefined && !abilities.diarization) {
    return unsupportedValue(
      "This model has no speaker diarization. Local models have it after `parlance models pull campplus`, once they are loaded again; otherwise 'diarized_json' needs an upstream that has it.",
      "response_format",
    );
  }
  if (request.wordTimes && !abilities.wordTimes) {
    const param = "timestamp_granularities";
    return unsupportedValue("This model does not report word timestamps; ask for those of segments.", param);
  }
  return undefined;
}
