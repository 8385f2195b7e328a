/** GET /v1/models: the query, one entry, and the list around them. */

import { z } from "zod";
import type { ChatAbilities } from "../../contracts/chat-model.ts";
import type { ModelDescription } from "../../contracts/model-description.ts";
import { PRICE_UNITS, type Price, type PriceUnit } from "../../contracts/price.ts";
import { TASKS, type Task } from "../../contracts/task.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { AnswerOf } from "../openapi/named.ts";
import type { Model as ModelAnswer, ModelList } from "./model-answers.ts";

/** Schema of a boolean parameter, case-insensitive because Python writes `True`; a bare name is true. */
const Flag = z
  .string()
  .toLowerCase()
  .pipe(z.enum(["true", "false", "1", "0", ""]))
  .default("false")
  .transform((value) => value === "true" || value === "1" || value === "");

export const ModelListQuery = lazy.object(() => ({
  return_wildcard_routes: Flag,
  include_model_access_groups: Flag,
  only_model_access_groups: Flag,
  include_metadata: Flag,
  /** Lists models of one task only, for pickers that would show voices as chat models. */
  task: z.enum(TASKS).optional(),
}));

/** Properties of a model in the listing; undefined when unknown. */
interface ShownModel {
  id: string;
  /** Time at which the catalog first had the model, epoch milliseconds. */
  createdAt: number;
  ownedBy: string;
  accessGroups: readonly string[];
  facts: {
    task: Task;
    aliases: readonly string[];
    fallbacks: readonly string[];
    price: Price;
    license: string | undefined;
    status: string;
    isLoaded: boolean;
    memoryBytes: number | undefined;
    loadSeconds: number | undefined;
    deployed: readonly string[];
    description: ModelDescription | undefined;
    /** Context window of a chat model in the manifest, which memory may shorten when it is loaded. */
    contextWindow: number | undefined;
    /** Length of an embedding model's vectors, where it is known before the model is loaded. */
    dimensions: number | undefined;
    /** Abilities of a chat model: those that at least one of its deployments has. */
    abilities: ChatAbilities | undefined;
  };
}

export interface ShownParts {
  accessGroups: boolean;
  metadata: boolean;
}

export function toModelEntry(model: ShownModel, shown: ShownParts): AnswerOf<typeof ModelAnswer> {
  return {
    id: model.id,
    object: "model",
    created: Math.floor(model.createdAt / 1000),
    owned_by: model.ownedBy,
    ...(shown.accessGroups ? { access_groups: model.accessGroups } : {}),
    ...(shown.metadata ? { metadata: toMetadata(model.facts) } : {}),
  };
}

export function toModelList(models: readonly ShownModel[], shown: ShownParts): AnswerOf<typeof ModelList> {
  return { object: "list", data: models.map((model) => toModelEntry(model, shown)) };
}

/** Units of price that models of a task always show, in the price's currency each. */
const PRICED: Readonly<Record<Task, readonly PriceUnit[]>> = {
  chat: ["prompt", "cached_prompt", "completion"],
  embedding: ["prompt"],
  moderation: ["prompt"],
  speech: ["character"],
  transcription: ["second"],
  image: ["image"],
};

const MODALITIES: Readonly<Record<Task, { input: string[]; output: string[] }>> = {
  chat: { input: ["text"], output: ["text"] },
  embedding: { input: ["text"], output: ["embedding"] },
  moderation: { input: ["text"], output: ["scores"] },
  speech: { input: ["text"], output: ["audio"] },
  transcription: { input: ["audio"], output: ["text"] },
  image: { input: ["text", "image"], output: ["image"] },
};

const WITH_IMAGES = { input: ["text", "image"], output: ["text"] };

const SPEECH_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"];
const TRANSCRIPTION_FORMATS = ["flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm", "aiff", "au", "caf"];

/** Common units, null without a price, and those others that the price has. */
function toPricing(task: Task, price: Price): Metadata["pricing"] {
  const units = PRICE_UNITS.filter((each) => PRICED[task].includes(each) || price[each] !== undefined);
  const { tool_calls, tiers, currency, exchange_rate } = price;
  return {
    ...Object.fromEntries(units.map((unit) => [unit, price[unit] ?? null])),
    ...(tool_calls !== undefined && { tool_calls }),
    ...(tiers !== undefined && { tiers }),
    ...(currency !== undefined && { currency, exchange_rate }),
  };
}

type Metadata = NonNullable<AnswerOf<typeof ModelAnswer>["metadata"]>;

function toMetadata({ task, price, description, abilities, ...facts }: ShownModel["facts"]): Metadata {
  const chat = description?.task === "chat" ? description : undefined;
  const window = chat?.contextWindow ?? facts.contextWindow ?? null;
  return {
    task,
    status: facts.status,
    loaded: facts.isLoaded,
    memory_bytes: facts.memoryBytes ?? null,
    load_seconds: facts.loadSeconds === undefined ? null : Math.round(facts.loadSeconds * 1000) / 1000,
    deployed: facts.deployed,
    license: facts.license ?? null,
    context_window: window,
    context_window_reason: chat?.contextReason ?? null,
    max_output_tokens: window,
    pricing: toPricing(task, price),
    capabilities: toCapabilities(task, description, abilities),
    modalities: abilities?.vision === true ? WITH_IMAGES : MODALITIES[task],
    aliases: facts.aliases,
    fallbacks: facts.fallbacks,
    ...ofTask(task, description, facts.dimensions),
  };
}

/** Fields that only models of a task have. */
function ofTask(task: Task, description: ModelDescription | undefined, dimensions: number | undefined) {
  switch (task) {
    case "embedding": {
      const embedding = describedAs("embedding", description);
      return {
        dimensions: embedding?.dimensions ?? dimensions ?? null,
        context_window: embedding?.contextWindow ?? null,
        max_output_tokens: null,
      };
    }
    case "speech": {
      const speech = describedAs("speech", description);
      return { voices: speech?.voices ?? null, languages: speech?.languages ?? null, formats: SPEECH_FORMATS };
    }
    case "transcription": {
      const transcription = describedAs("transcription", description);
      return { languages: transcription?.languages ?? null, formats: TRANSCRIPTION_FORMATS };
    }
    case "moderation": {
      const moderation = describedAs("moderation", description);
      return {
        categories: moderation?.categories ?? null,
        thresholds: moderation?.thresholds ?? null,
        languages: moderation?.languages ?? null,
      };
    }
    default:
      return {};
  }
}

function describedAs<Name extends Task>(task: Name, description: ModelDescription | undefined) {
  return description?.task === task ? (description as Extract<ModelDescription, { task: Name }>) : undefined;
}

/** Renders the capabilities; null when unknown, such as the fields that an upstream's model honors. */
function toCapabilities(
  task: Task,
  description: ModelDescription | undefined,
  abilities: ChatAbilities | undefined,
): Metadata["capabilities"] {
  switch (task) {
    case "moderation":
      return { images: describedAs(task, description)?.takesImages ?? null };
    case "embedding":
      return { streaming: false };
    case "speech":
      return { streaming: true, word_times: describedAs(task, description)?.wordTimes ?? null };
    case "transcription": {
      const able = describedAs(task, description)?.abilities;
      return {
        streaming: true,
        speakers: able?.diarization ?? null,
        word_times: able?.wordTimes ?? null,
        prompt: able?.prompt ?? null,
        translation: able?.translation ?? null,
      };
    }
    case "chat":
      return { streaming: true, ...chatCapabilities(abilities ?? {}) };
    default:
      return { streaming: true };
  }
}

function chatCapabilities(abilities: Partial<ChatAbilities>) {
  return {
    tools: abilities.tools ?? null,
    json_schema: abilities.jsonSchema ?? null,
    vision: abilities.vision ?? null,
    logprobs: abilities.logprobs ?? null,
    reasoning: abilities.reasoning ?? null,
    completions: abilities.completions ?? null,
    infill: abilities.infill ?? null,
    max_choices: abilities.choices ?? null,
  };
}
