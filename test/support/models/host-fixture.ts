import { readFileSync } from "node:fs";
import type { ChatEvent, ChatModel } from "../../../src/contracts/chat-model.ts";
import type { Model } from "../../../src/contracts/engine.ts";
import { type Hosted, hostModel } from "../../../src/engines/host/host-model.ts";
import { makeChatRequest } from "../service/chat-request.ts";
import { makeEngineServices } from "./engine-services.ts";
import type { HostedSettings } from "./hosted-child.ts";

const opened = new Set<Model>();

/** A model of `hosted-child.ts` in a child process, with the lines that the host logs. */
export async function openHosted<Task extends Model["task"]>(
  task: Task,
  settings: Omit<HostedSettings, "task"> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<{ model: Hosted<Extract<Model, { task: Task }>>; logged: string[] }> {
  const { logger, logged } = makeEngineServices();
  const module = new URL("./hosted-child.ts", import.meta.url);
  const model = await hostModel({ name: "hosted", module, settings: { ...settings, task }, logger, signal });
  opened.add(model);
  return { model: model as Hosted<Extract<Model, { task: Task }>>, logged };
}

/** Closes the models that a test opened; for `afterEach`. */
export async function closeHosted(): Promise<void> {
  await Promise.all([...opened].map((model) => model.close()));
  opened.clear();
}

export function ask(model: ChatModel, say: string, signal = new AbortController().signal): AsyncIterable<ChatEvent> {
  return model.chat(makeChatRequest({ say }), signal);
}

/** True while a process runs; false for a zombie. */
export function isRunning(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !isZombie(pid);
}

function isZombie(pid: number): boolean {
  if (process.platform !== "linux") return false;
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return true;
  }
}
