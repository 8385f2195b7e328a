/** Every kind of engine: its settings schema at once, its code only when a deployment uses it. */

import type { ZodType } from "zod";
import { classifierSettings } from "./classifier/settings.ts";
import type { Engine, EngineServices, Model, Task } from "./engine.ts";
import { fliteSettings } from "./flite/settings.ts";
import { type GuardSettings, guardSettings } from "./guard/settings.ts";
import { kokoroSettings } from "./kokoro/settings.ts";
import { llamaCppSettings } from "./llama-cpp/settings.ts";
import { llamaServerSettings } from "./llama-server/settings.ts";
import { openAiCompatibleSettings, tlsFiles } from "./openai-compatible/settings.ts";
import { scriptedSettings } from "./scripted/settings.ts";
import { sherpaOnnxSettings } from "./sherpa-onnx/settings.ts";
import { whisperSettings } from "./whisper/settings.ts";

interface RegisteredEngine {
  /** Checks and completes what a deployment in the configuration says besides `engine`. */
  settings: ZodType;
  /** It speaks to another service, rather than to run something here. */
  isUpstream?: true;
  /** Files that it reads when it opens, besides a model's: a reload that finds one changed opens it anew. */
  files?: (settings: never) => readonly string[];
  load: () => Promise<Engine<never>>;
}

export const ENGINES = {
  classifier: {
    settings: classifierSettings,
    load: async () => (await import("./classifier/classifier-engine.ts")).classifierEngine,
  },
  flite: {
    settings: fliteSettings,
    load: async () => (await import("./flite/flite-engine.ts")).fliteEngine,
  },
  guard: {
    settings: guardSettings,
    files: filesOfGuard,
    load: async () => (await import("./guard/guard-engine.ts")).guardEngine,
  },
  kokoro: {
    settings: kokoroSettings,
    load: async () => (await import("./kokoro/kokoro-engine.ts")).kokoroEngine,
  },
  "llama-cpp": {
    settings: llamaCppSettings,
    load: async () => (await import("./llama-cpp/llama-cpp-engine.ts")).llamaCppEngine,
  },
  "llama-server": {
    settings: llamaServerSettings,
    load: async () => (await import("./llama-server/llama-server-engine.ts")).llamaServerEngine,
  },
  "openai-compatible": {
    settings: openAiCompatibleSettings,
    isUpstream: true,
    files: tlsFiles,
    load: async () => (await import("./openai-compatible/openai-compatible-engine.ts")).openAiCompatibleEngine,
  },
  scripted: {
    settings: scriptedSettings,
    load: async () => (await import("./scripted/scripted-engine.ts")).scriptedEngine,
  },
  "sherpa-onnx": {
    settings: sherpaOnnxSettings,
    load: async () => (await import("./sherpa-onnx/sherpa-onnx-engine.ts")).sherpaOnnxEngine,
  },
  whisper: {
    settings: whisperSettings,
    load: async () => (await import("./whisper/whisper-engine.ts")).whisperEngine,
  },
} as const satisfies Record<string, RegisteredEngine>;

export function isUpstream(kind: string): boolean {
  const registered: RegisteredEngine | undefined = ENGINES[kind as EngineKind];
  return registered?.isUpstream === true;
}

/** Of a deployment whose settings this engine's schema has checked. */
export function filesOf(kind: string, settings: unknown): readonly string[] {
  const registered: RegisteredEngine | undefined = ENGINES[kind as EngineKind];
  return registered?.files?.(settings as never) ?? [];
}

export type EngineKind = keyof typeof ENGINES;

/** Those of the chat engine that it asks; none where the settings of that are wrong, which its opening tells. */
function filesOfGuard({ chat }: GuardSettings): readonly string[] {
  const { engine, ...given } = JSON.parse(chat.reveal()) as { engine: string };
  const registered: RegisteredEngine | undefined = ENGINES[engine as EngineKind];
  const checked = registered?.settings.safeParse(given);
  return checked?.success === true ? filesOf(engine, checked.data) : [];
}

/** Opens a model with settings that this engine's schema has checked. Throws a Fault whose message helps the operator. */
export async function openModel(kind: string, settings: unknown, task: Task, services: EngineServices): Promise<Model> {
  const registered = ENGINES[kind as EngineKind];
  if (registered === undefined) throw new Error(`No engine is called ${kind}`);
  const engine: Engine<never> = await registered.load();
  return engine.open(settings as never, task, services);
}
