import type { Model } from "../../contracts/engine.ts";
import type { ModelDescription } from "../../contracts/model-description.ts";

/** Returns the facts of an open model that remain valid while it is unloaded. */
export function describeModel(model: Model): ModelDescription {
  switch (model.task) {
    case "chat": {
      const { task, contextWindow, contextReason, abilities } = model;
      return { task, contextWindow, contextReason, abilities };
    }
    case "embedding": {
      const { task, dimensions, contextWindow } = model;
      return { task, dimensions, contextWindow };
    }
    case "moderation": {
      const { task, categories, thresholds, languages, takesImages } = model;
      return { task, categories, thresholds, languages, takesImages };
    }
    case "speech": {
      const { task, voices, voiceAliases, languages, voiceLanguages, wordTimes } = model;
      return { task, voices, voiceAliases, languages, ...(voiceLanguages && { voiceLanguages }), wordTimes };
    }
    case "transcription": {
      const { task, languages, abilities, device } = model;
      // An upstream reports none, and refuses what it does not support.
      return device === "upstream" ? { task, languages } : { task, languages, abilities };
    }
    case "image":
      return { task: model.task, abilities: model.abilities };
  }
}
