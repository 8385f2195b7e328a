/** How an engine is declared, and how any of them opens a model: in a child process, or in the service itself. */

import type { ZodType } from "zod";
import { unsupportedValue } from "../faults.ts";
import type { Secret } from "../secret.ts";
import type { ChatModel } from "./chat-model.ts";
import type { EngineServices, Model } from "./engine.ts";
import type { ModelFacts } from "./host/messages.ts";
import type { Task } from "./task.ts";

/** What a module exports that runs inside the service. */
export interface InProcessModule<Settings> {
  /** Resolves once the model can serve. Throws a Fault whose message helps the operator. */
  open(settings: Settings, task: Task, services: EngineServices, chat: ChatModel | undefined): Promise<Model>;
}

export interface EngineDefinition<Name extends string, Settings> {
  /** As `engine` names it in the configuration. */
  name: Name;
  tasks: readonly Task[];
  /** Checks and completes a deployment's keys other than those that all engines share. Each key has a description. */
  settings: ZodType<Settings>;
  /**
   * The model's code. The URL of a `HostedModule` runs in a supervised child process; a function imports an
   * `InProcessModule` into the service.
   */
  module: URL | (() => Promise<InProcessModule<NoInfer<Settings>>>);
  /**
   * Runs in the service before the child process starts: checks settings and pulls files. Returns what the child's
   * `open` is given, which has to survive a structured clone. Default: the settings themselves.
   */
  prepare?(settings: Settings, task: Task, services: EngineServices): Promise<unknown>;
  /**
   * Describes the model without starting its child process, which then starts on the first request. Throws a Fault for
   * settings that the model would refuse. Left out: the process starts at once, and describes the model itself.
   */
  lazyFacts?(settings: Settings): ModelFacts;
  /** Environment variables of the child process besides the few that every child gets. */
  environment?: Readonly<Record<string, string>>;
  /** A model of this engine takes memory of this machine. Default: where `module` is a URL. */
  isLocal?: true;
  /** Speaks to another service instead of running a model here. */
  isUpstream?: true;
  /** Wildcard models are possible: the id in the request is passed on. */
  takesWildcards?: true;
  /** For tests and demos: left out of the configuration reference. */
  isForTests?: true;
  /** Files besides the model's that are read when it opens: a reload that finds one changed opens the model again. */
  files?(settings: Settings): readonly string[];
  /** A deployment of a chat engine, as JSON, which is opened first and given to `open`. */
  chat?(settings: Settings): Secret;
}

/** An engine that the registry can list. `Settings` is what its schema makes of a deployment in the configuration. */
export interface Engine<Name extends string, Settings> extends EngineDefinition<Name, Settings> {
  /** Throws a Fault for a task that the engine does not perform. `chat` is what the definition's `chat` asks for. */
  open(settings: Settings, task: Task, services: EngineServices, chat?: ChatModel): Promise<Model>;
}

/**
 * ```ts
 * export const fliteEngine = defineEngine({
 *   name: "flite",
 *   tasks: ["speech"],
 *   settings: z.strictObject({ slots: z.int().default(8).describe("Requests served concurrently") }),
 *   module: siblingModule(import.meta.url, "./flite-speech"),
 * });
 * ```
 */
export function defineEngine<const Name extends string, Settings>(
  definition: EngineDefinition<Name, Settings>,
): Engine<Name, Settings> {
  return {
    ...definition,
    async open(settings, task, services, chat) {
      const { name, tasks, module, prepare, lazyFacts, environment = {} } = definition;
      if (!tasks.includes(task)) {
        throw unsupportedValue(`The engine ${name} does not do ${task}; only ${inWords(tasks)}.`, "task");
      }
      if (!(module instanceof URL)) return (await module()).open(settings, task, services, chat);
      const prepared = prepare === undefined ? settings : await prepare(settings, task, services);
      // Imported here, since commands that only read the configuration start no process.
      const { hostModel } = await import("./host/host-model.ts");
      const hosted = { name: services.name, module, settings: prepared, environment, ...pick(services) };
      return hostModel({ ...hosted, lazyFacts: lazyFacts?.(settings) });
    },
  };
}

function pick({ logger, signal }: EngineServices): Pick<EngineServices, "logger" | "signal"> {
  return { logger, signal };
}

function inWords(tasks: readonly Task[]): string {
  const [last = "", ...others] = tasks.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(", ")} and ${last}`;
}
