/** Adapts speech to the life of a request. */

import type { SpeechEvent, SpeechModel, SpeechRequest } from "../../contracts/speech-model.ts";
import { type Fault, unsupportedValue } from "../../kernel/faults.ts";
import { speechParts } from "../cache/cache-parts.ts";
import { NO_UPPER_BOUND, type TaskAdapter } from "./task-adapter.ts";

/** Slow speech in Chinese, whose characters take the most time; letters take a third of it. */
const CHARACTERS_PER_SECOND = 4;

/**
 * Adapts speech; its usage counts characters and seconds. `timedModels` are IDs of models that say when words are spoken,
 * for the answer to a request that its model cannot serve.
 */
export function speechAdapter(
  request: Omit<SpeechRequest, "model">,
  timedModels: () => readonly string[],
): TaskAdapter<SpeechModel, SpeechEvent> {
  let sampleRate = 1;
  return {
    task: "speech",
    upperBound: () => ({
      ...NO_UPPER_BOUND,
      characters: request.text.length,
      audioSeconds: request.text.length / (CHARACTERS_PER_SECOND * request.speed),
    }),
    cacheParts: () => speechParts(request),
    callerHeaders: request.callerHeaders,
    affinity: () => undefined,
    refusal: (model, id) => (request.wordTimes === true && !model.wordTimes ? untimed(id, timedModels()) : undefined),
    begin: (model, id, signal) => {
      sampleRate = model.sampleRate;
      return model.speak({ ...request, model: id }, signal);
    },
    drainsToBuffer: () => true,
    count: (event, used) => {
      if (!(event instanceof Float32Array)) return false;
      used.characters = request.text.length;
      used.audioSeconds += event.length / sampleRate;
      return true;
    },
    countAbandoned: (used) => {
      used.characters = request.text.length;
    },
    isEnd: undefined,
  };
}

function untimed(id: string, timedModels: readonly string[]): Fault {
  const names = timedModels.map((each) => `\`${each}\``).join(", ");
  const others = names === "" ? "no model of this API key does" : `these models do: ${names}`;
  const message = `The model \`${id}\` does not say when words are spoken; ${others}. Leave out 'timestamp_granularities', or use another model.`;
  return unsupportedValue(message, "timestamp_granularities");
}
