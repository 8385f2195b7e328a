/** Checks what models say of each other; works on raw values, so that a fault in one hides none in another. */

import type { Task } from "../engines/task.ts";
import type { FaultList, Path } from "./fault-list.ts";
import { nearest } from "./known-keys.ts";
import { asMapping, listAt } from "./parse-file.ts";

/** A model that Parlance brings, as far as the file may name it. */
export interface KnownModel {
  id: string;
  task: Task;
}

export interface KnownNames {
  builtinModels: readonly KnownModel[];
  /** Engines that pass on the id they are asked for; a local one serves the one model that it has loaded. */
  wildcardEngines: readonly string[];
}

interface RawModel {
  id: string;
  task: unknown;
  path: Path;
  value: unknown;
}

/** `written` are the same models before substitution: what a message quotes comes from there, never from a variable. */
export function checkModels(
  value: unknown,
  written: unknown,
  { builtinModels, wildcardEngines }: KnownNames,
  faults: FaultList,
): void {
  const models = listAt(value, "models").flatMap((each, index): RawModel[] => {
    const { id, task } = asMapping(each) ?? {};
    return typeof id === "string" ? [{ id, task, path: ["models", index], value: each }] : [];
  });
  const tasks = new Map<string, unknown>(builtinModels.map(({ id, task }) => [id, task]));
  const first = new Map<string, Path>();
  for (const { id, task, path } of models) {
    tasks.set(id, task);
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, path);
    else faults.add([...path, "id"], `is taken already by models[${earlier[1]}]`);
  }
  checkAliases(models, tasks, faults);
  for (const model of models) {
    checkWildcard(model, wildcardEngines, faults);
    checkFallbacks(model, tasks, written, faults);
  }
}

function checkAliases(models: readonly RawModel[], tasks: ReadonlyMap<string, unknown>, faults: FaultList): void {
  const taken = new Map<string, string>([...tasks.keys()].map((id) => [id, "is a model's id already"]));
  for (const { id, path, value } of models) {
    listAt(value, "aliases").forEach((alias, index) => {
      if (typeof alias !== "string") return;
      const fault =
        alias.endsWith("/*") || id.endsWith("/*") ? "a wildcard has no aliases and is none" : taken.get(alias);
      if (fault !== undefined) faults.add([...path, "aliases", index], fault);
      taken.set(alias, "is another alias already");
    });
  }
}

function checkWildcard({ id, path, value }: RawModel, wildcardEngines: readonly string[], faults: FaultList): void {
  if (!id.endsWith("/*")) return;
  listAt(value, "deployments").forEach((deployment, index) => {
    const engine = asMapping(deployment)?.engine;
    if (typeof engine !== "string" || wildcardEngines.includes(engine)) return;
    faults.add(
      [...path, "deployments", index, "engine"],
      `cannot serve a wildcard, since it runs a single model; ${wildcardEngines.join(" and ")} can`,
    );
  });
}

function checkFallbacks(model: RawModel, tasks: ReadonlyMap<string, unknown>, written: unknown, faults: FaultList) {
  const seen = new Set<string>();
  listAt(model.value, "fallbacks").forEach((fallback, index) => {
    if (typeof fallback !== "string") return;
    const path = [...model.path, "fallbacks", index];
    const fault = seen.has(fallback) ? "is named twice" : faultOfFallback(model, fallback, tasks);
    seen.add(fallback);
    if (fault !== undefined && !faults.has(path)) faults.add(path, fault.replace("%s", quote(written, path)));
  });
}

function faultOfFallback(model: RawModel, fallback: string, tasks: ReadonlyMap<string, unknown>): string | undefined {
  if (fallback === model.id) return "names the model itself";
  if (fallback.endsWith("/*")) return "must be one model's id, not a wildcard";
  const target = tasks.has(fallback) ? fallback : [...tasks.keys()].find((id) => covers(id, fallback));
  if (target === undefined) {
    const meant = nearest(fallback, [...tasks.keys()]);
    return `names %s, which is no model's id${meant === undefined ? "" : `; did you mean ${meant}?`}`;
  }
  const task = tasks.get(target);
  return typeof task === "string" && typeof model.task === "string" && task !== model.task
    ? `names a model whose task is ${task}, not ${model.task}`
    : undefined;
}

function covers(wildcard: string, id: string): boolean {
  return wildcard.endsWith("/*") && id.startsWith(wildcard.slice(0, -1)) && id.length > wildcard.length - 1;
}

function quote(written: unknown, path: Path): string {
  const text = path.reduce<unknown>((value, part) => (value as Record<string, unknown> | undefined)?.[part], written);
  return JSON.stringify(text);
}
