/** The table of engines. Checking settings needs only what is imported here; opening a model imports its code. */

import type { Endpoint, EndpointSource } from "../discovery/endpoint.ts";
import { invalidRequest } from "../faults.ts";
import type { ChatModel } from "./chat-model.ts";
import { classifierEngine } from "./classifier/classifier-engine.ts";
import type { Engine } from "./define-engine.ts";
import type { EngineServices, Model } from "./engine.ts";
import { fliteEngine } from "./flite/flite-engine.ts";
import { guardEngine } from "./guard/guard-engine.ts";
import { kokoroEngine } from "./kokoro/kokoro-engine.ts";
import { llamaCppEngine } from "./llama-cpp/llama-cpp-engine.ts";
import { llamaServerEngine } from "./llama-server/llama-server-engine.ts";
import { moonshineEngine } from "./moonshine/moonshine-engine.ts";
import { openAiCompatibleEngine } from "./openai-compatible/openai-compatible-engine.ts";
import { scriptedEngine } from "./scripted/scripted-engine.ts";
import { sentenceEmbeddingsEngine } from "./sentence-embeddings/sentence-embeddings-engine.ts";
import { sherpaOnnxEngine } from "./sherpa-onnx/sherpa-onnx-engine.ts";
import type { Task } from "./task.ts";
import { whisperEngine } from "./whisper/whisper-engine.ts";

const LIST = [
  classifierEngine,
  fliteEngine,
  guardEngine,
  kokoroEngine,
  llamaCppEngine,
  llamaServerEngine,
  moonshineEngine,
  openAiCompatibleEngine,
  scriptedEngine,
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
  const chat = engine?.chat?.(settings as never);
  if (chat !== undefined) return isLocal((JSON.parse(chat.reveal()) as { engine: string }).engine, undefined);
  return engine?.isLocal === true || engine?.module instanceof URL;
}

/** Files other than the model's that a deployment with parsed settings reads when it opens. */
export function filesOf(kind: string, settings: unknown): readonly string[] {
  const engine = find(kind);
  const chat = engine?.chat?.(settings as never);
  if (chat !== undefined) {
    const { engine: chatKind, ...given } = JSON.parse(chat.reveal()) as { engine: string };
    const checked = find(chatKind)?.settings.safeParse(given);
    // Opening the model reports invalid settings.
    return checked?.success === true ? filesOf(chatKind, checked.data) : [];
  }
  return engine?.files?.(settings as never) ?? [];
}

/** Source of the endpoints that a deployment with parsed settings stands for; undefined: it has one. */
export function endpointsOf(kind: string, settings: unknown): EndpointSource | undefined {
  return find(kind)?.endpoints?.(settings as never);
}

/** Settings of a deployment at one of its endpoints. */
export function atEndpoint(kind: string, settings: unknown, endpoint: Endpoint): unknown {
  return find(kind)?.atEndpoint?.(settings as never, endpoint);
}

/** Opens a model with settings that its engine's schema has parsed. Throws a Fault whose message helps the operator. */
export async function openModel(kind: string, settings: unknown, task: Task, services: EngineServices): Promise<Model> {
  const engine = find(kind);
  if (engine === undefined) throw new Error(`No engine is called ${kind}`);
  const chat = engine.tasks.includes(task) ? engine.chat?.(settings as never) : undefined;
  if (chat === undefined) return engine.open(settings as never, task, services);
  const { engine: chatKind, ...given } = JSON.parse(chat.reveal()) as { engine: string };
  return engine.open(settings as never, task, services, await openChat(chatKind, given, services));
}

/** Checks settings and downloads files, as opening does before it loads the model. Throws what opening throws. */
export async function prepareModel(
  kind: string,
  settings: unknown,
  task: Task,
  services: EngineServices,
): Promise<void> {
  const engine = find(kind);
  const chat = engine?.tasks.includes(task) ? engine.chat?.(settings as never) : undefined;
  if (chat === undefined) {
    await engine?.prepare?.(settings as never, task, services);
    return;
  }
  const { engine: chatKind, ...given } = JSON.parse(chat.reveal()) as { engine: string };
  const checked = find(chatKind)?.settings.safeParse(given);
  if (checked?.success === true) await prepareModel(chatKind, checked.data, "chat", services);
}

/** `given` is an unchecked deployment. */
async function openChat(kind: string, given: unknown, services: EngineServices): Promise<ChatModel> {
  const engine = find(kind);
  if (engine === undefined || !engine.tasks.includes("chat")) {
    throw invalidRequest(`\`chat.engine\` is ${JSON.stringify(kind)}, which is not a chat engine.`, "chat.engine");
  }
  const checked = engine.settings.safeParse(given);
  if (!checked.success) {
    const [issue] = checked.error.issues;
    const path = ["chat", ...(issue?.path ?? [])].join(".");
    throw invalidRequest(`\`${path}\` ${issue?.message ?? "is not valid"}.`, path);
  }
  const model = await openModel(kind, checked.data, "chat", services);
  if (model.task !== "chat") throw new Error(`The engine ${kind} opened no chat model`);
  return model;
}

function find(kind: string): Engine<string, never> | undefined {
  return Object.hasOwn(ENGINES, kind) ? (ENGINES[kind as EngineKind] as unknown as Engine<string, never>) : undefined;
}
