/** Lists and describes models in Ollama's format. */

import { hash } from "node:crypto";
import { z } from "zod";
import type { ChatAbilities } from "../../contracts/chat-model.ts";
import type { ModelDescription } from "../../contracts/model-description.ts";
import type { Task } from "../../contracts/task.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { optional } from "../openai/optional.ts";
import { parse } from "../openai/validate.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import type { OllamaModel, OllamaModels, OllamaModels as OllamaModelsAnswer } from "./ollama-answers.ts";

/** Ollama's version whose API this is. Clients refuse older versions than they need. */
export const OLLAMA_VERSION = "0.13.0";

export const ShowBody = named(
  "OllamaShowBody",
  lazy.looseObject(() => ({
    model: optional(z.string().min(1)),
    name: optional(z.string().min(1)),
  })),
);

/** Returns the model's ID. Throws a Fault without one. */
export function readShow(value: unknown): string {
  const { model, name } = parse(ShowBody, value);
  const id = model ?? name;
  if (id === undefined) {
    throw invalidRequest("Missing required parameter: 'model'.", "model", "missing_required_parameter");
  }
  return id;
}

interface ShownModel {
  id: string;
  /** Epoch milliseconds. */
  createdAt: number;
  facts: {
    task: Task;
    license: string | undefined;
    isLoaded: boolean;
    memoryBytes: number | undefined;
    description: ModelDescription | undefined;
    abilities: ChatAbilities | undefined;
  };
}

/** Tasks of the models that Ollama's clients can use. */
const TASKS: ReadonlySet<Task> = new Set(["chat", "embedding"]);

export function toTags(models: readonly ShownModel[]): AnswerOf<typeof OllamaModels> {
  return { models: models.filter(isShown).map(toTag) };
}

/** Lists the loaded models. The service unloads them by itself, so the time of it is not known. */
export function toRunning(models: readonly ShownModel[]): AnswerOf<typeof OllamaModelsAnswer> {
  const loaded = models.filter((model) => isShown(model) && model.facts.isLoaded);
  return {
    models: loaded.map((model) => ({
      ...toTag(model),
      expires_at: "2318-01-01T00:00:00Z",
      size_vram: 0,
      context_length: contextWindow(model) ?? 0,
    })),
  };
}

export function toShow(model: ShownModel): AnswerOf<typeof OllamaModel> {
  const context = contextWindow(model);
  const dimensions = model.facts.description?.task === "embedding" ? model.facts.description.dimensions : undefined;
  return {
    license: model.facts.license ?? "",
    modelfile: "",
    parameters: "",
    template: "",
    details: DETAILS,
    model_info: {
      "general.architecture": ARCHITECTURE,
      ...(context === undefined ? {} : { [`${ARCHITECTURE}.context_length`]: context }),
      ...(dimensions === undefined ? {} : { [`${ARCHITECTURE}.embedding_length`]: dimensions }),
    },
    capabilities: toCapabilities(model.facts),
    modified_at: toTime(model),
  };
}

const ARCHITECTURE = "parlance";
const DETAILS = {
  parent_model: "",
  format: "",
  family: ARCHITECTURE,
  families: [ARCHITECTURE],
  parameter_size: "",
  quantization_level: "",
};

function isShown({ facts }: ShownModel): boolean {
  return TASKS.has(facts.task);
}

function toTag(model: ShownModel) {
  const { id, facts } = model;
  return {
    name: id,
    model: id,
    modified_at: toTime(model),
    size: facts.memoryBytes ?? 0,
    digest: hash("sha256", id),
    details: DETAILS,
  };
}

function toTime({ createdAt }: ShownModel): string {
  return new Date(createdAt).toISOString();
}

function contextWindow({ facts: { description } }: ShownModel): number | undefined {
  return description?.task === "chat" || description?.task === "embedding" ? description.contextWindow : undefined;
}

function toCapabilities({ task, abilities }: ShownModel["facts"]): string[] {
  if (task === "embedding") return ["embedding"];
  const { tools, vision, reasoning, infill } = abilities ?? {};
  const optionalNames = Object.entries({ tools, vision, thinking: reasoning, insert: infill });
  return ["completion", ...optionalNames.flatMap(([name, has]) => (has === true ? [name] : []))];
}
