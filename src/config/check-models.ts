/** Checks references between models. Works on raw values, so that an error in one model does not hide errors in another. */

import { TASKS, type Task } from "../contracts/task.ts";
import { nearest } from "../kernel/nearest.ts";
import { PIPER_PREFIX } from "../kernel/piper-name.ts";
import type { ConfigErrors, Path } from "./config-errors.ts";
import { asMapping, listAt } from "./parse-file.ts";

/** A built-in model, which a fallback may name. */
export interface KnownModel {
  id: string;
  task: Task;
}

export interface KnownEngine {
  tasks: readonly Task[];
  /** True if it forwards the requested ID upstream. A local engine serves only the model that it has loaded. */
  takesWildcards: boolean;
  /** True if its setting `model` is the ID of a model in the manifest. */
  pullsModels: boolean;
}

export interface KnownNames {
  builtinModels: readonly KnownModel[];
  /** IDs of the models that can be pulled by their ID. */
  manifestIds: readonly string[];
  engines: Readonly<Record<string, KnownEngine>>;
}

interface RawModel {
  id: string;
  task: unknown;
  path: Path;
  value: unknown;
}

/** `written` holds the same models before substitution: messages quote from it, so that they never show a variable's value. */
export function checkModels(value: unknown, written: unknown, known: KnownNames, errors: ConfigErrors): void {
  const { builtinModels } = known;
  const models = listAt(value, "models").flatMap((each, index): RawModel[] => {
    const { id, task } = asMapping(each) ?? {};
    return typeof id === "string" ? [{ id, task, path: ["models", index], value: each }] : [];
  });
  const tasks = new Map<string, unknown>(builtinModels.map(({ id, task }) => [id, task]));
  const first = new Map<string, Path>();
  for (const { id, task, path, value: own } of models) {
    checkTask({ id, task, path, value: own }, builtinModels, errors);
    if (asMapping(own)?.deployments !== undefined) tasks.set(id, task);
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, path);
    else errors.add([...path, "id"], `is already used by models[${earlier[1]}]`);
  }
  checkAliases(models, tasks, errors);
  for (const model of models) {
    checkWildcard(model, known.engines, errors);
    checkDeployments(model, known, written, errors);
    checkFallbacks(model, tasks, written, errors);
    checkMirror(model, tasks, written, errors);
  }
}

/** A model without deployments adds settings to a built-in one. */
function checkTask(
  { id, task, path, value }: RawModel,
  builtinModels: readonly KnownModel[],
  errors: ConfigErrors,
): void {
  const { deployments, defaults } = asMapping(value) ?? {};
  const builtin = builtinModels.find((each) => each.id === id);
  const actualTask = task ?? builtin?.task;
  if (defaults !== undefined && typeof actualTask === "string" && actualTask !== "chat") {
    errors.add([...path, "defaults"], `are parameters of chat requests, and the model's task is ${actualTask}`);
  }
  if (deployments !== undefined) {
    if (task === undefined) errors.add([...path, "task"], "is required");
  } else if (builtin === undefined) {
    errors.add([...path, "deployments"], "is required: no built-in model has this ID");
  } else if (task !== undefined && task !== builtin.task) {
    errors.add(
      [...path, "task"],
      `must be ${builtin.task}, the built-in model's task; a model with another one needs deployments`,
    );
  }
}

function checkAliases(models: readonly RawModel[], tasks: ReadonlyMap<string, unknown>, errors: ConfigErrors): void {
  const usedIds = new Map<string, string>([...tasks.keys()].map((id) => [id, "is already the ID of a model"]));
  for (const { id, path, value } of models) {
    listAt(value, "aliases").forEach((alias, index) => {
      if (typeof alias !== "string") return;
      const problem =
        alias.endsWith("/*") || id.endsWith("/*")
          ? "a wildcard can neither have aliases nor be one"
          : usedIds.get(alias);
      if (problem !== undefined) errors.add([...path, "aliases", index], problem);
      usedIds.set(alias, "is already used as an alias");
    });
  }
}

function checkWildcard({ id, path, value }: RawModel, engines: KnownNames["engines"], errors: ConfigErrors): void {
  if (!id.endsWith("/*")) return;
  const wildcardEngines = Object.keys(engines).filter((name) => engines[name]?.takesWildcards);
  listAt(value, "deployments").forEach((deployment, index) => {
    const engine = asMapping(deployment)?.engine;
    if (typeof engine !== "string" || wildcardEngines.includes(engine)) return;
    errors.add(
      [...path, "deployments", index, "engine"],
      `cannot serve a wildcard because it runs a single model; use ${wildcardEngines.join(" or ")}`,
    );
  });
}

/** Settings of a guard and a cascade that hold a deployment, and its task. */
const NESTED: Readonly<Record<string, Task>> = { chat: "chat", classifier: "moderation", guard: "moderation" };

/** Checks what opening a deployment would refuse: a task that its engine lacks, and a model that nobody can pull. */
function checkDeployments(model: RawModel, known: KnownNames, written: unknown, errors: ConfigErrors): void {
  listAt(model.value, "deployments").forEach((deployment, index) => {
    const path = [...model.path, "deployments", index];
    checkDeployment(deployment, model.task, { path, known, written, errors });
  });
}

/** A voice of Piper is checked by its engine's settings. */
function isPullable(model: string, { manifestIds }: KnownNames): boolean {
  return manifestIds.includes(model) || model.startsWith(PIPER_PREFIX);
}

function checkDeployment(
  deployment: unknown,
  task: unknown,
  { path, ...rest }: { path: Path; known: KnownNames; written: unknown; errors: ConfigErrors },
): void {
  const { known, written, errors } = rest;
  const fields = asMapping(deployment) ?? {};
  for (const [name, nestedTask] of Object.entries(NESTED)) {
    if (fields[name] !== undefined) checkDeployment(fields[name], nestedTask, { path: [...path, name], ...rest });
  }
  const { engine: name, model } = fields;
  const engine = typeof name === "string" && Object.hasOwn(known.engines, name) ? known.engines[name] : undefined;
  if (engine === undefined) return;
  if (TASKS.some((each) => each === task) && !engine.tasks.some((each) => each === task)) {
    const able = Object.keys(known.engines).filter((each) => known.engines[each]?.tasks.some((own) => own === task));
    errors.add([...path, "engine"], `does not support ${task}; engines that do: ${able.join(", ")}`);
  } else if (engine.pullsModels && typeof model === "string" && !isPullable(model, known)) {
    const meant = nearest(model, known.manifestIds);
    const wayOut = meant === undefined ? "`parlance models list --all` shows the known ones" : `did you mean ${meant}?`;
    errors.add([...path, "model"], `is ${quote(written, [...path, "model"])}, which is not a known model; ${wayOut}`);
  }
}

function checkFallbacks(model: RawModel, tasks: ReadonlyMap<string, unknown>, written: unknown, errors: ConfigErrors) {
  const usedNames = new Set<string>();
  listAt(model.value, "fallbacks").forEach((each, index) => {
    const isId = typeof each === "string";
    const fallback = isId ? each : (each as { model?: unknown } | null)?.model;
    if (typeof fallback !== "string") return;
    const path = [...model.path, "fallbacks", index, ...(isId ? [] : ["model"])];
    const problem = usedNames.has(fallback) ? "is listed twice" : fallbackProblem(model, fallback, tasks);
    usedNames.add(fallback);
    if (problem !== undefined && !errors.has(path)) errors.add(path, problem.replace("%s", quote(written, path)));
  });
}

function checkMirror(model: RawModel, tasks: ReadonlyMap<string, unknown>, written: unknown, errors: ConfigErrors) {
  const mirror = asMapping(asMapping(model.value)?.mirror)?.model;
  if (typeof mirror !== "string") return;
  const path = [...model.path, "mirror", "model"];
  const isChat = typeof model.task !== "string" || model.task === "chat";
  const problem = isChat ? fallbackProblem(model, mirror, tasks) : "mirrors chats, and this is no chat model";
  if (problem !== undefined && !errors.has(path)) errors.add(path, problem.replace("%s", quote(written, path)));
}

function fallbackProblem(model: RawModel, fallback: string, tasks: ReadonlyMap<string, unknown>): string | undefined {
  if (fallback === model.id) return "is the model itself";
  if (fallback.endsWith("/*")) return "must be the ID of one model, not a wildcard";
  const target = tasks.has(fallback) ? fallback : [...tasks.keys()].find((id) => covers(id, fallback));
  if (target === undefined) {
    const meant = nearest(fallback, [...tasks.keys()]);
    return `refers to %s, which does not exist${meant === undefined ? "" : `; did you mean ${meant}?`}`;
  }
  const task = tasks.get(target);
  return typeof task === "string" && typeof model.task === "string" && task !== model.task
    ? `refers to a model whose task is ${task}, not ${model.task}`
    : undefined;
}

function covers(wildcard: string, id: string): boolean {
  return wildcard.endsWith("/*") && id.startsWith(wildcard.slice(0, -1)) && id.length > wildcard.length - 1;
}

function quote(written: unknown, path: Path): string {
  const text = path.reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], written);
  return JSON.stringify(text);
}
