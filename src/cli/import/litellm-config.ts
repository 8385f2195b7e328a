/** Converts LiteLLM's config.yaml. */

import { toPrice } from "../../catalog/prices/litellm-prices.ts";
import type { Task } from "../../contracts/task.ts";
import { asFields, asList, asPositive, asText, compact, type Fields, type Imported, type Note } from "./imported.ts";
import { resolveProvider } from "./litellm-providers.ts";

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
};

const STRATEGIES: Readonly<Record<string, string>> = {
  "simple-shuffle": "weighted",
  "least-busy": "least_busy",
  "usage-based-routing": "least_busy",
  "usage-based-routing-v2": "least_busy",
  "latency-based-routing": "lowest_latency",
  "cost-based-routing": "lowest_cost",
};

const DEFAULTS = ["temperature", "top_p", "frequency_penalty", "presence_penalty", "reasoning_effort"] as const;

/** Parameters of an entry that were read, or that change nothing here. */
const READ_PARAMS = new Set<string>([
  ...["model", "custom_llm_provider", "api_base", "base_url", "api_key", "api_version", "weight", "rpm", "tpm"],
  ...["timeout", "stream_timeout", "max_tokens", "max_parallel_requests", "extra_headers", "headers", "tags"],
  ...["drop_params", "order", "base_model", ...DEFAULTS],
]);

interface Model {
  id: string;
  task: Task;
  deployments: Record<string, unknown>[];
  accessGroups: Set<string>;
  defaults: Record<string, unknown>;
}

export function fromLiteLlm(source: unknown): Imported {
  return new LiteLlmImport(asFields(source)).result();
}

class LiteLlmImport {
  readonly #source: Fields;
  readonly #notes: Note[] = [];
  readonly #models = new Map<string, Model>();
  /** Environment variables by the keys that stand in the file. */
  readonly #variables = new Map<string, string>();

  constructor(source: Fields) {
    this.#source = source;
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
    const deployment = task === undefined ? undefined : this.#toDeployment(params, info, path);
    if (task === undefined || deployment === undefined) return;
    const model = this.#models.get(id) ?? newModel(id, task);
    if (model.task !== task) {
      this.#note(path, `${id} has the task ${model.task} in an earlier entry, and ${task} here.`);
      return;
    }
    this.#models.set(id, model);
    this.#addWeight(deployment, params);
    model.deployments.push(deployment);
    for (const group of asList(info.access_groups)) model.accessGroups.add(String(group));
    this.#addDefaults(model, params, path);
  }

  #taskOf(upstream: string, mode: string | undefined, path: string): Task | undefined {
    const task = mode === undefined ? guessTask(upstream) : TASKS[mode];
    if (task === undefined) this.#note(path, `${mode ?? "image generation"} is no task here; the model was left out.`);
    return task;
  }

  #toDeployment(params: Fields, info: Fields, path: string): Record<string, unknown> | undefined {
    const provider = resolveProvider(asText(params.model) ?? "", asText(params.custom_llm_provider));
    if ("unsupported" in provider) {
      this.#note(
        path,
        `${provider.unsupported} has an API of its own, which no deployment speaks; the model was left out.`,
      );
      return undefined;
    }
    if (provider.isAssumed) this.#note(`${path}.litellm_params.model`, "names no known provider; openai was assumed.");
    const address = asText(params.api_base) ?? asText(params.base_url);
    const baseUrl = this.#baseUrl(provider.name, address, path) ?? provider.baseUrl;
    if (baseUrl === undefined) {
      this.#note(path, `${provider.name} needs api_base; the model was left out.`);
      return undefined;
    }
    const variable = provider.baseUrl !== undefined && address !== undefined ? undefined : provider.keyVariable;
    const key = this.#secret(asText(params.api_key), variable, `${path}.litellm_params.api_key`);
    const isAzure = provider.name === "azure";
    const headers = Object.entries({ ...asFields(params.headers), ...asFields(params.extra_headers) });
    for (const name of Object.keys(params)) {
      if (READ_PARAMS.has(name) || name.includes("cost")) continue;
      this.#note(`${path}.litellm_params.${name}`, "has no counterpart.");
    }
    for (const name of ["rpm", "tpm"])
      if (params[name] !== undefined && asPositive(params.weight) === undefined)
        this.#note(`${path}.litellm_params.${name}`, "became the deployment's weight; limits belong to projects here.");
    return compact({
      engine: "openai-compatible",
      base_url: this.#variable(baseUrl),
      api_key: isAzure ? undefined : key,
      model: this.#variable(provider.model),
      headers: compact({
        ...(isAzure && { "api-key": key }),
        ...Object.fromEntries(headers.map(([name, value]) => [name, this.#variable(String(value))])),
      }),
      max_concurrency: asPositive(params.max_parallel_requests),
      first_byte_timeout_seconds: asPositive(params.stream_timeout) ?? asPositive(params.timeout),
      price: toPrice({ ...info, ...params }),
      ...provider.settings,
    });
  }

  #baseUrl(provider: string, address: string | undefined, path: string): string | undefined {
    if (address === undefined) return undefined;
    const base = address.replace(/\/+$/, "");
    if (provider === "ollama" || provider === "ollama_chat") return base.endsWith("/v1") ? base : `${base}/v1`;
    if (provider !== "azure") return base;
    this.#note(
      `${path}.litellm_params.api_version`,
      "is not sent: the deployment uses Azure's v1 API. Check that it is enabled.",
    );
    return base.endsWith("/openai/v1") ? base : `${base}/openai/v1`;
  }

  /** Key as a reference to the environment; a key in the file stays out of the result. */
  #secret(value: string | undefined, variable: string | undefined, path: string): string | undefined {
    if (value === undefined) return variable === undefined ? undefined : `\${${variable}}`;
    if (value.startsWith("os.environ/")) return this.#variable(value);
    const name = this.#variableFor(value, variable ?? "UPSTREAM_KEY");
    this.#note(path, `is a secret in the file. Set the environment variable ${name} instead.`);
    return `\${${name}}`;
  }

  /** Each key in the file gets a variable of its own. */
  #variableFor(key: string, name: string): string {
    const existing = this.#variables.get(key);
    if (existing !== undefined) return existing;
    const used = [...this.#variables.values()].filter((each) => each.startsWith(name)).length;
    const variable = used === 0 ? name : `${name}_${used + 1}`;
    this.#variables.set(key, variable);
    return variable;
  }

  #variable(value: string): string {
    const name = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/.exec(value)?.[1];
    return name === undefined ? value.replaceAll("${", "$${") : `\${${name}}`;
  }

  #addWeight(deployment: Record<string, unknown>, params: Fields): void {
    const weight = asPositive(params.weight) ?? asPositive(params.rpm) ?? asPositive(params.tpm);
    if (weight !== undefined) deployment.weight = Math.min(weight, 1_000_000);
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
    const retries = asPositive(router.num_retries) ?? asPositive(liteLlm.num_retries);
    const failures = asPositive(router.allowed_fails) ?? asPositive(liteLlm.allowed_fails);
    const cooldown = asPositive(router.cooldown_time) ?? asPositive(liteLlm.cooldown_time);
    return compact({
      id: model.id,
      task: model.task,
      aliases: this.#aliasesOf(model.id),
      access_groups: [...model.accessGroups],
      fallbacks: this.#fallbacksOf(model),
      strategy: hasSeveral ? (STRATEGIES[routing ?? ""] ?? "weighted") : undefined,
      retries: retries === undefined ? undefined : Math.min(10, Math.round(retries)),
      circuit: compact({ failures: failures && Math.round(failures), cooldown_seconds: cooldown }),
      defaults: model.task === "chat" ? model.defaults : undefined,
      deployments: model.deployments,
    });
  }

  #aliasesOf(id: string): string[] {
    const router = asFields(this.#source.router_settings);
    const groups = asFields(router.model_group_alias ?? asFields(this.#source.litellm_settings).model_group_alias);
    return Object.entries(groups).flatMap(([alias, target]) => {
      const model = asText(target) ?? asText(asFields(target).model);
      return model === id && !this.#models.has(alias) ? [alias] : [];
    });
  }

  #fallbacksOf({ id, task }: Model): string[] {
    const router = asFields(this.#source.router_settings);
    const liteLlm = asFields(this.#source.litellm_settings);
    const fallbackIds = asList(router.fallbacks ?? liteLlm.fallbacks).flatMap((each) => asList(asFields(each)[id]));
    const common = asList(router.default_fallbacks ?? liteLlm.default_fallbacks);
    const targets = [...new Set([...fallbackIds, ...common].map(String))].filter((target) => target !== id);
    return targets.filter((target) => {
      const model = this.#models.get(target);
      if (model?.task === task) return true;
      if (fallbackIds.map(String).includes(target)) {
        const reason = model === undefined ? "is not in the model list" : `has another task than ${id}`;
        this.#note(`fallbacks.${id}`, `${target} ${reason}.`);
      }
      return false;
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
  return { id, task, deployments: [], accessGroups: new Set(), defaults: {} };
}

/** Undefined for models that make images. */
function guessTask(upstream: string): Task | undefined {
  const name = upstream.toLowerCase();
  if (/dall-e|gpt-image|stable-diffusion|imagen|flux/.test(name)) return undefined;
  if (/embed|rerank|bge-/.test(name)) return "embedding";
  if (/whisper|transcribe/.test(name)) return "transcription";
  if (/(^|[/-])tts(-|$)/.test(name)) return "speech";
  return /moderation/.test(name) ? "moderation" : "chat";
}

/** What became of settings, by name; "": carried over, or without an effect here. */
const REASONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...["drop_params", "telemetry", "set_verbose", "json_logs", "request_timeout", "num_retries", "allowed_fails"],
      ...["cooldown_time", "fallbacks", "default_fallbacks", "model_group_alias", "routing_strategy"],
      ...["database_connection_pool_limit", "proxy_batch_write_at", "store_model_in_db", "enable_pre_call_checks"],
      ...["proxy_budget_rescheduler_min_time", "proxy_budget_rescheduler_max_time"],
    ].map((name) => [name, ""]),
  ),
  master_key: "is a secret. Set PARLANCE_ADMIN_KEY, with at least 32 characters.",
  database_url: "is another database. Set DATABASE_URL; usage is not carried over.",
  redis_host: "belongs to the environment. Set REDIS_URL.",
  redis_port: "belongs to the environment. Set REDIS_URL.",
  redis_password: "is a secret. Set REDIS_URL.",
  max_budget: "is a limit of the database. Use: parlance projects budget PROJECT DOLLARS",
  budget_duration: "is always a calendar month here.",
  context_window_fallbacks: "are not distinguished: fallbacks answer when no deployment can.",
  content_policy_fallbacks: "are not distinguished: fallbacks answer when no deployment can.",
  success_callback: "sends traces elsewhere. Use opentelemetry, which Langfuse and Phoenix accept.",
  failure_callback: "sends traces elsewhere. Use opentelemetry, which Langfuse and Phoenix accept.",
  callbacks: "are code or services of LiteLLM. Use opentelemetry or webhooks.",
  default_team_settings: "belong to teams, which are projects here; traces are those of the whole service.",
  alerting: "goes through webhooks here.",
  pass_through_endpoints: "forward to other APIs; only models are served here.",
};

const SECTIONS: Readonly<Record<string, string>> = {
  environment_variables: "belong to the environment of the service.",
  guardrails: "are set by project here, with a moderation model.",
  finetune_settings: "have no counterpart: models are not fine-tuned here.",
  files_settings: "have no counterpart: files are stored by this service.",
  mcp_servers: "have no counterpart.",
};
