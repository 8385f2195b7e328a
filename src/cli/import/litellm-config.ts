/** Converts LiteLLM's config.yaml. */

import type { Task } from "../../contracts/task.ts";
import {
  asCount,
  asFields,
  asList,
  asPositive,
  asText,
  compact,
  type Fields,
  type Imported,
  type Note,
} from "./imported.ts";
import { DEFAULTS, toDeployment } from "./litellm-deployment.ts";
import { REASONS, SECTIONS } from "./litellm-reasons.ts";
import { LiteLlmVariables } from "./litellm-variables.ts";

const TASKS: Readonly<Record<string, Task>> = {
  chat: "chat",
  completion: "chat",
  responses: "chat",
  embedding: "embedding",
  rerank: "embedding",
  moderation: "moderation",
  moderations: "moderation",
  audio_transcription: "transcription",
  audio_speech: "speech",
  image_generation: "image",
  image_edit: "image",
};

const STRATEGIES: Readonly<Record<string, string>> = {
  "simple-shuffle": "weighted",
  "least-busy": "least_busy",
  "usage-based-routing": "least_busy",
  "usage-based-routing-v2": "least_busy",
  "latency-based-routing": "lowest_latency",
  "cost-based-routing": "lowest_cost",
};

const WEIGHTS = ["weight", "rpm", "tpm"] as const;

interface Model {
  id: string;
  task: Task;
  deployments: Record<string, unknown>[];
  /** What the deployments were made from, in their order. */
  entries: { params: Fields; path: string }[];
  accessGroups: Set<string>;
  defaults: Record<string, unknown>;
}

export function fromLiteLlm(source: unknown): Imported {
  const fields = asFields(source);
  // The first pass only finds the variables that a secret in the file must not take.
  const first = new LiteLlmImport(fields, new Set());
  first.result();
  return new LiteLlmImport(fields, first.referencedVariables).result();
}

class LiteLlmImport {
  readonly #source: Fields;
  readonly #notes: Note[] = [];
  readonly #models = new Map<string, Model>();
  readonly #variables: LiteLlmVariables;

  constructor(source: Fields, reserved: ReadonlySet<string>) {
    this.#source = source;
    this.#variables = new LiteLlmVariables((path, reason) => this.#note(path, reason), reserved);
  }

  get referencedVariables(): ReadonlySet<string> {
    return this.#variables.referenced;
  }

  result(): Imported {
    for (const [index, entry] of asList(this.#source.model_list).entries())
      this.#addEntry(asFields(entry), `model_list[${index}]`);
    const models = [...this.#models.values()].map((model) => this.#toModel(model));
    const liteLlm = asFields(this.#source.litellm_settings);
    const timeout = asPositive(liteLlm.request_timeout);
    this.#noteSettings();
    return {
      config: compact({
        builtin_models: false,
        prices: { lists: ["builtin"] },
        server: compact({ request_timeout_seconds: timeout }),
        models,
      }),
      notes: this.#notes,
    };
  }

  #note(path: string, reason: string): void {
    this.#notes.push({ path, reason });
  }

  #addEntry(entry: Fields, path: string): void {
    const id = asText(entry.model_name);
    const { rpm, tpm } = entry;
    const params = { ...compact({ rpm, tpm }), ...asFields(entry.litellm_params) };
    const info = asFields(entry.model_info);
    const upstream = asText(params.model);
    const problem = problemOf(id, upstream);
    if (problem !== undefined || id === undefined || upstream === undefined) {
      this.#note(path, problem ?? "");
      return;
    }
    const task = this.#taskOf(upstream, asText(info.mode), path);
    const entryParts = { params, info, path, variables: this.#variables };
    const deployment = task && toDeployment({ ...entryParts, task, note: (...note) => this.#note(...note) });
    if (task === undefined || deployment === undefined) return;
    const model = this.#models.get(id) ?? newModel(id, task);
    if (model.task !== task) {
      this.#note(path, `${id} has the task ${model.task} in an earlier entry, and ${task} here.`);
      return;
    }
    this.#models.set(id, model);
    model.deployments.push(deployment);
    model.entries.push({ params, path });
    for (const group of asList(info.access_groups)) model.accessGroups.add(String(group));
    this.#addDefaults(model, params, path);
  }

  #taskOf(upstream: string, mode: string | undefined, path: string): Task | undefined {
    const task = mode === undefined ? guessTask(upstream) : TASKS[mode];
    if (task === undefined) this.#note(path, `${mode} is no task here; the model was left out.`);
    return task;
  }

  #addDefaults(model: Model, params: Fields, path: string): void {
    const names = [...DEFAULTS, "max_tokens"] as const;
    const set = Object.fromEntries(
      names.flatMap((name) =>
        params[name] === undefined ? [] : [[name === "max_tokens" ? "max_completion_tokens" : name, params[name]]],
      ),
    );
    const isFirst = model.deployments.length === 1;
    if (isFirst) model.defaults = set;
    else if (JSON.stringify(set) !== JSON.stringify(model.defaults))
      this.#note(
        `${path}.litellm_params`,
        `has other parameters than the first deployment of ${model.id}, whose apply.`,
      );
  }

  #toModel(model: Model): Record<string, unknown> {
    const router = asFields(this.#source.router_settings);
    const liteLlm = asFields(this.#source.litellm_settings);
    const routing = asText(router.routing_strategy);
    const hasSeveral = model.deployments.length > 1;
    const retries = this.#retriesOf(model) ?? asCount(router.num_retries) ?? asCount(liteLlm.num_retries);
    const failures = asPositive(router.allowed_fails) ?? asPositive(liteLlm.allowed_fails);
    const cooldown = asPositive(router.cooldown_time) ?? asPositive(liteLlm.cooldown_time);
    return compact({
      id: model.id,
      task: model.task,
      aliases: this.#aliasesOf(model.id),
      access_groups: [...model.accessGroups],
      fallbacks: this.#fallbacksOf(model),
      strategy: hasSeveral ? (STRATEGIES[routing ?? ""] ?? "weighted") : undefined,
      retries: retries === undefined ? undefined : Math.min(10, retries),
      circuit: compact({ failures: failures && Math.round(failures), cooldown_seconds: cooldown }),
      defaults: model.task === "chat" ? model.defaults : undefined,
      deployments: this.#weighted(model),
    });
  }

  /** LiteLLM weighs by the first of these that is set, and gives a deployment without it nothing; units never mix. */
  #weighted({ deployments, entries }: Model): Record<string, unknown>[] {
    const weightOf = (name: string, index: number) => asPositive(entries[index]?.params[name]);
    const unit =
      deployments.length > 1 ? WEIGHTS.find((name) => entries.some((_, index) => weightOf(name, index))) : undefined;
    for (const entry of entries) this.#noteWeights(entry, unit);
    if (unit === undefined) return deployments;
    return deployments.map((each, index) => ({ ...each, weight: Math.min(weightOf(unit, index) ?? 0, 1_000_000) }));
  }

  #noteWeights({ params, path }: Model["entries"][number], unit: string | undefined): void {
    for (const name of WEIGHTS) {
      if (asPositive(params[name]) === undefined || (name === "weight" && name === unit)) continue;
      const became = name === unit ? "became the deployment's weight" : "was left out";
      this.#note(`${path}.litellm_params.${name}`, `${became}; limits belong to projects here.`);
    }
    if (unit !== undefined && asPositive(params[unit]) === undefined)
      this.#note(`${path}.litellm_params`, `has no ${unit}, which weighs the others: it got the weight 0.`);
  }

  /** Retries of the first entry that sets them. */
  #retriesOf({ id, entries }: Model): number | undefined {
    const counts = entries.map(({ params }) => asCount(params.num_retries) ?? asCount(params.max_retries));
    const first = counts.find((count) => count !== undefined);
    for (const [index, count] of counts.entries()) {
      if (count === undefined || count === first) continue;
      this.#note(
        `${entries[index]?.path}.litellm_params`,
        `retries ${count} times; retries belong to models here, and those of an earlier entry of ${id} apply.`,
      );
    }
    return first;
  }

  #aliasesOf(id: string): string[] {
    const router = asFields(this.#source.router_settings);
    const groups = asFields(router.model_group_alias ?? asFields(this.#source.litellm_settings).model_group_alias);
    return Object.entries(groups).flatMap(([alias, target]) => {
      const model = asText(target) ?? asText(asFields(target).model);
      if (model !== id || this.#models.has(alias)) return [];
      if (asFields(target).hidden === true)
        this.#note(`model_group_alias.${alias}.hidden`, `has no counterpart: ${id} is listed with its aliases.`);
      return [alias];
    });
  }

  #fallbacksOf({ id, task }: Model): (string | { model: string; when: string })[] {
    const router = asFields(this.#source.router_settings);
    const liteLlm = asFields(this.#source.litellm_settings);
    const named = (list: unknown) => asList(list).flatMap((each) => asList(asFields(each)[id]).map(String));
    const fallbackIds = named(router.fallbacks ?? liteLlm.fallbacks);
    const common = asList(router.default_fallbacks ?? liteLlm.default_fallbacks).map(String);
    const larger = named(router.context_window_fallbacks ?? liteLlm.context_window_fallbacks);
    const targets = [...new Set([...fallbackIds, ...common, ...larger])].filter((target) => target !== id);
    const usable = targets.filter((target) => {
      const model = this.#models.get(target);
      if (model?.task === task) return true;
      if ([...fallbackIds, ...larger].includes(target)) {
        const reason = model === undefined ? "is not in the model list" : `has another task than ${id}`;
        this.#note(`fallbacks.${id}`, `${target} ${reason}.`);
      }
      return false;
    });
    return usable.map((model) => {
      if (!larger.includes(model)) return model;
      return { model, when: [...fallbackIds, ...common].includes(model) ? "always" : "context_length" };
    });
  }

  /** Names the settings that were not carried over, with what to use instead. */
  #noteSettings(): void {
    const { litellm_settings, router_settings, general_settings, model_list: _models, ...sections } = this.#source;
    for (const [section, values] of Object.entries({ litellm_settings, router_settings, general_settings })) {
      for (const name of Object.keys(asFields(values))) {
        const reason = REASONS[name];
        if (reason !== "") this.#note(`${section}.${name}`, reason ?? "has no counterpart.");
      }
    }
    for (const name of Object.keys(sections)) this.#note(name, SECTIONS[name] ?? "has no counterpart.");
  }
}

function problemOf(id: string | undefined, upstream: string | undefined): string | undefined {
  if (id === undefined || upstream === undefined) return "has no model_name or no litellm_params.model.";
  if (id === "*")
    return "matches every model. A wildcard needs a prefix here: name the models, or let clients send openai/NAME.";
  return id.includes("*") && !/^[^*]+\/\*$/.test(id) ? `${id} is no wildcard here; write PREFIX/*.` : undefined;
}

function newModel(id: string, task: Task): Model {
  return { id, task, deployments: [], entries: [], accessGroups: new Set(), defaults: {} };
}

function guessTask(upstream: string): Task {
  const name = upstream.toLowerCase();
  if (/dall-e|gpt-image|stable-diffusion|imagen|flux/.test(name)) return "image";
  if (/embed|rerank|bge-/.test(name)) return "embedding";
  if (/whisper|transcribe/.test(name)) return "transcription";
  if (/(^|[/-])tts(-|$)/.test(name)) return "speech";
  return /moderation/.test(name) ? "moderation" : "chat";
}
