/** The table of engines. Checking settings needs only what is imported here; opening a model imports its code. */

import type { ZodSafeParseResult } from "zod";
import type { EngineServices, Model } from "../contracts/engine.ts";
import type { ModelDescription } from "../contracts/model-description.ts";
import type { CallerHeaders } from "../contracts/open-model.ts";
import type { Task } from "../contracts/task.ts";
import type { Endpoint, EndpointSource } from "../kernel/discovery/endpoint.ts";
import { invalidRequest } from "../kernel/faults.ts";
import { anthropicEngine } from "./anthropic/anthropic-engine.ts";
import { azureOpenAiEngine } from "./azure-openai/azure-openai-engine.ts";
import { bedrockEngine } from "./bedrock/bedrock-engine.ts";
import { cascadeEngine } from "./cascade/cascade-engine.ts";
import { classifierEngine } from "./classifier/classifier-engine.ts";
import { cohereEngine } from "./cohere/cohere-engine.ts";
import type { Engine } from "./define-engine.ts";
import { fliteEngine } from "./flite/flite-engine.ts";
import { geminiEngine } from "./gemini/gemini-engine.ts";
import { guardEngine } from "./guard/guard-engine.ts";
import { kokoroEngine } from "./kokoro/kokoro-engine.ts";
import { llamaCppEngine } from "./llama-cpp/llama-cpp-engine.ts";
import { llamaServerEngine } from "./llama-server/llama-server-engine.ts";
import { mistralEngine } from "./mistral/mistral-engine.ts";
import { moonshineEngine } from "./moonshine/moonshine-engine.ts";
import { openAiCompatibleEngine } from "./openai-compatible/openai-compatible-engine.ts";
import { scriptedEngine } from "./scripted/scripted-engine.ts";
import { sdServerEngine } from "./sd-server/sd-server-engine.ts";
import { sentenceEmbeddingsEngine } from "./sentence-embeddings/sentence-embeddings-engine.ts";
import { describeModel } from "./shared/describe-model.ts";
import { sherpaOnnxEngine } from "./sherpa-onnx/sherpa-onnx-engine.ts";
import { whisperEngine } from "./whisper/whisper-engine.ts";

const LIST = [
  anthropicEngine,
  azureOpenAiEngine,
  bedrockEngine,
  cascadeEngine,
  classifierEngine,
  cohereEngine,
  fliteEngine,
  geminiEngine,
  guardEngine,
  kokoroEngine,
  llamaCppEngine,
  llamaServerEngine,
  mistralEngine,
  moonshineEngine,
  openAiCompatibleEngine,
  scriptedEngine,
  sdServerEngine,
  sentenceEmbeddingsEngine,
  sherpaOnnxEngine,
  whisperEngine,
] as const;

type Listed = (typeof LIST)[number];

export const ENGINES = Object.fromEntries(LIST.map((engine) => [engine.name, engine])) as {
  readonly [Each in Listed as Each["name"]]: Each;
};

type EngineKind = keyof typeof ENGINES;

/** Whether the engine is a proxy to another service. */
export function isUpstream(kind: string): boolean {
  return find(kind)?.isUpstream === true;
}

/** True if a deployment with parsed settings runs a model in the memory of this machine. */
export function isLocal(kind: string, settings: unknown): boolean {
  const engine = find(kind);
  const nested = nestedIn(kind, settings);
  if (nested.length > 0) return nested.some(({ engine: inner, checked }) => isLocal(inner, checked?.data));
  return engine?.isLocal === true || engine?.module instanceof URL;
}

/** Whether a deployment with parsed settings is expected to take memory of a GPU. */
export async function usesGpu(kind: string, settings: unknown): Promise<boolean> {
  const nested = nestedIn(kind, settings);
  for (const { engine, checked } of nested) {
    if (checked?.success === true && (await usesGpu(engine, checked.data))) return true;
  }
  return (await find(kind)?.usesGpu?.(settings as never)) ?? false;
}

/** Files other than the model's that a deployment with parsed settings reads when it opens. */
export function filesOf(kind: string, settings: unknown): readonly string[] {
  // Opening the model reports invalid settings.
  const nested = nestedIn(kind, settings).flatMap(({ engine, checked }) =>
    checked?.success === true ? filesOf(engine, checked.data) : [],
  );
  return [...nested, ...(find(kind)?.files?.(settings as never) ?? [])];
}

/** Texts in the parsed settings of a deployment that is no upstream: those that name its model's files are among them. */
export function textsIn(kind: string, settings: unknown): readonly string[] {
  if (isUpstream(kind)) return [];
  const nested = nestedIn(kind, settings).flatMap(({ engine, checked }) =>
    checked?.success === true ? textsIn(engine, checked.data) : [],
  );
  return [...nested, ...textsOf(settings)];
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

/** Source of the endpoints that a deployment with parsed settings stands for; undefined: it has one. */
export function endpointsOf(kind: string, settings: unknown): EndpointSource | undefined {
  return find(kind)?.endpoints?.(settings as never);
}

/** Settings of a deployment at one of its endpoints. */
export function atEndpoint(kind: string, settings: unknown, endpoint: Endpoint): unknown {
  return find(kind)?.atEndpoint?.(settings as never, endpoint);
}

/** Headers of a caller that reach the upstream of a deployment with parsed settings. */
export function forwardedHeaders(
  kind: string,
  settings: unknown,
  headers: CallerHeaders,
): Readonly<Record<string, string>> {
  return find(kind)?.forwardedHeaders?.(settings as never, headers) ?? {};
}

/** Opens a model with settings that its engine's schema has parsed. Throws a Fault whose message helps the operator. */
export function openModel(kind: string, settings: unknown, task: Task, services: EngineServices): Promise<Model> {
  return openAt([], kind, settings, task, services);
}

/**
 * Checks settings and downloads files, as opening does before it loads the model. Resolves with the memory that the
 * contexts take in addition to the files. Throws what opening throws.
 */
export async function prepareModel(
  kind: string,
  settings: unknown,
  task: Task,
  services: EngineServices,
): Promise<number> {
  const engine = find(kind);
  if (engine?.tasks.includes(task) !== true) return 0;
  const prepared = await engine.prepare?.(settings as never, task, services);
  let bytes = (await engine.contextBytes?.(prepared as never)) ?? 0;
  for (const nested of nestedIn(kind, settings)) {
    if (nested.checked?.success !== true) continue;
    bytes += await prepareModel(nested.engine, nested.checked.data, nested.task, services);
  }
  return bytes;
}

/** Describes a model whose files are there without loading it; undefined where nothing is known before. */
export async function describeUnopened(
  kind: string,
  settings: unknown,
  task: Task,
  services: EngineServices,
): Promise<ModelDescription | undefined> {
  const engine = find(kind);
  if (engine?.tasks.includes(task) !== true) return undefined;
  if (engine.describe !== undefined) return engine.describe(settings as never, task, services);
  const nested = nestedIn(kind, settings).find(({ name }) => name === engine.describedAs);
  if (nested?.checked?.success === true) {
    return describeUnopened(nested.engine, nested.checked.data, nested.task, services);
  }
  const facts = engine.lazyFacts?.(settings as never);
  return facts === undefined || facts.task === "server" ? undefined : describeModel(facts as Model);
}

/** `path` leads to a nested deployment, for messages. */
async function openAt(
  path: readonly string[],
  kind: string,
  settings: unknown,
  task: Task,
  services: EngineServices,
): Promise<Model> {
  const engine = find(kind);
  if (engine === undefined) throw new Error(`No engine is called ${kind}`);
  const models: Record<string, Model> = {};
  try {
    const nested = engine.tasks.includes(task) ? nestedIn(kind, settings) : [];
    for (const each of nested) models[each.name] = await openNested([...path, each.name], each, services);
    return await engine.open(settings as never, task, services, models);
  } catch (failure) {
    await Promise.allSettled(Object.values(models).map((model) => model.close()));
    throw failure;
  }
}

async function openNested(
  path: readonly string[],
  { engine, task, checked }: CheckedNested,
  services: EngineServices,
): Promise<Model> {
  if (checked === undefined || find(engine)?.tasks.includes(task) !== true) {
    const at = [...path, "engine"].join(".");
    throw invalidRequest(`\`${at}\` is ${JSON.stringify(engine)}, which is not a ${task} engine.`, at);
  }
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const at = [...path, ...(issue?.path ?? [])].join(".");
    throw invalidRequest(`\`${at}\` ${issue?.message ?? "is not valid"}.`, at);
  }
  const model = await openAt(path, engine, checked.data, task, services);
  if (model.task !== task) throw new Error(`The engine ${engine} opened no ${task} model`);
  return model;
}

interface CheckedNested {
  /** Name of the setting that holds the deployment. */
  name: string;
  task: Task;
  engine: string;
  /** Undefined: no engine has this name. */
  checked: ZodSafeParseResult<unknown> | undefined;
}

function nestedIn(kind: string, settings: unknown): readonly CheckedNested[] {
  if (settings === undefined) return [];
  const nested = find(kind)?.nested?.(settings as never) ?? {};
  return Object.entries(nested).map(([name, { task, deployment }]) => {
    const { engine, ...given } = JSON.parse(deployment.reveal()) as { engine: string };
    return { name, task, engine, checked: find(engine)?.settings.safeParse(given) };
  });
}

function find(kind: string): Engine<string, never> | undefined {
  return Object.hasOwn(ENGINES, kind) ? (ENGINES[kind as EngineKind] as unknown as Engine<string, never>) : undefined;
}
