/** Adapts speech to the life of a request. */

import type { SpeechModel, SpeechRequest } from "../../contracts/engine.ts";
import { speechParts } from "../cache/cache-parts.ts";
import { NO_UPPER_BOUND, type TaskAdapter } from "./task-adapter.ts";

/** Adapts speech, whose events are samples; its usage counts characters and seconds. */
export function speechAdapter(request: Omit<SpeechRequest, "model">): TaskAdapter<SpeechModel, Float32Array> {
  let sampleRate = 1;
  return {
    task: "speech",
    upperBound: () => ({ ...NO_UPPER_BOUND, characters: request.text.length }),
    cacheParts: () => speechParts(request),
    callerHeaders: request.callerHeaders,
    affinity: () => undefined,
    refusal: () => undefined,
    begin: (model, id, signal) => {
      sampleRate = model.sampleRate;
      return model.speak({ ...request, model: id }, signal);
    },
    drainsToBuffer: () => true,
    count: (samples, used) => {
      used.characters = request.text.length;
      used.audioSeconds += samples.length / sampleRate;
      return true;
    },
    countAbandoned: (used) => {
      used.characters = request.text.length;
    },
    isEnd: undefined,
  };
}
