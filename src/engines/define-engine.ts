/** Declares engines, which open models in a child process or in the service itself. */

import type { ZodType } from "zod";
import type { EngineServices, Model } from "../contracts/engine.ts";
import type { ModelDescription } from "../contracts/model-description.ts";
import type { CallerHeaders } from "../contracts/open-model.ts";
import type { Task } from "../contracts/task.ts";
import type { Endpoint, EndpointSource } from "../kernel/discovery/endpoint.ts";
import { unsupportedValue } from "../kernel/faults.ts";
import type { Secret } from "../kernel/secret.ts";
import type { ModelFacts } from "./host/messages.ts";

/** Exports of a module that runs inside the service. */
export interface InProcessModule<Settings> {
  /** Resolves once the model can serve. Throws a Fault whose message helps the operator. */
  open(settings: Settings, task: Task, services: EngineServices, nested: NestedModels): Promise<Model>;
}

/** A deployment within the settings of another one. */
interface NestedDeployment {
  task: Task;
  /** Engine and settings as JSON; secret, because they may include an upstream's key. */
  deployment: Secret;
}

type Environment = Readonly<Record<string, string>>;

/** Open models of the nested deployments, by the names of the settings. */
type NestedModels = Readonly<Record<string, Model>>;

export interface EngineDefinition<Name extends string, Settings> {
  /** Value of `engine` in the configuration. */
  name: Name;
  tasks: readonly Task[];
  /** Schema of a deployment's keys other than those that all engines share. Each key has a description. */
  settings: ZodType<Settings>;
  /**
   * The model's code. The URL of a `HostedModule` runs in a supervised child process; a function imports an
   * `InProcessModule` into the service.
   */
  module: URL | (() => Promise<InProcessModule<NoInfer<Settings>>>);
  /**
   * Runs in the service before the child process starts: checks settings and pulls files. Returns what the child's
   * `open` gets, which must survive a structured clone. Default: the settings themselves.
   */
  prepare?(settings: Settings, task: Task, services: EngineServices): Promise<unknown>;
  /**
   * Describes the model without starting its child process, which then starts on the first request. Throws a Fault for
   * settings that the model would refuse. Default: the process starts at once and describes the model.
   */
  lazyFacts?(settings: Settings): ModelFacts;
  /**
   * Describes a model whose files are there from its settings and their names, without loading it. What is not known
   * before is left out. Default: `lazyFacts`.
   */
  describe?(settings: Settings, task: Task, services: EngineServices): Promise<ModelDescription>;
  /** Name of the nested deployment that has the description of this one. */
  describedAs?: string;
  /** Environment variables of the child process in addition to those that every child gets; from what `prepare` returned. */
  environment?: Environment | ((prepared: never) => Promise<Environment>);
  /**
   * What `open` gets in a second attempt after the first one failed, with a warning for the log; undefined: there is no
   * other way to open the model. An `OpenCrash` says that the process ended.
   */
  afterFailure?(prepared: never, failure: unknown): { prepared: unknown; warning: string } | undefined;
  /**
   * Estimates the memory that a model takes at first in addition to its files, from what `prepare` returned. Default:
   * what is usual for its files.
   */
  contextBytes?(prepared: never): Promise<number>;
  /** Whether a deployment's model is expected to take memory of a GPU. */
  usesGpu?(settings: NoInfer<Settings>): Promise<boolean>;
  /** True if a model of this engine runs in the memory of this machine. Default: true where `module` is a URL. */
  isLocal?: true;
  /** True for a proxy to another service. */
  isUpstream?: true;
  /** True if the engine passes the requested ID on, as wildcard models require. */
  takesWildcards?: true;
  /** True for engines for tests and demos, which the configuration reference leaves out. */
  isForTests?: true;
  /** Files other than the model's that opening reads. A reload opens the model again if one has changed. */
  files?(settings: Settings): readonly string[];
  /** Source of the endpoints that a deployment stands for; undefined: it has one, which its settings name. */
  endpoints?(settings: Settings): EndpointSource | undefined;
  /** Headers of a caller that reach the upstream; left out: none. */
  forwardedHeaders?(settings: NoInfer<Settings>, headers: CallerHeaders): Readonly<Record<string, string>>;
  /** Settings of a deployment at one of its endpoints; with `endpoints`. */
  atEndpoint?(settings: Settings, endpoint: Endpoint): Settings;
  /** Deployments by the names of their settings, which are opened first and passed to `open`; it closes them. */
  nested?(settings: Settings): Readonly<Record<string, NestedDeployment>>;
}

/** An engine in the registry. `Settings` is the output of its schema for a deployment in the configuration. */
export interface Engine<Name extends string, Settings> extends EngineDefinition<Name, Settings> {
  /** Throws a Fault for a task that the engine does not support. */
  open(settings: Settings, task: Task, services: EngineServices, nested?: NestedModels): Promise<Model>;
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
    async open(settings, task, services, nested = {}) {
      const { name, tasks, module, prepare, lazyFacts, environment = {}, afterFailure } = definition;
      if (!tasks.includes(task)) {
        throw unsupportedValue(`The engine ${name} does not support ${task}, only ${inWords(tasks)}.`, "task");
      }
      if (!(module instanceof URL)) return (await module()).open(settings, task, services, nested);
      const prepared = prepare === undefined ? settings : await prepare(settings, task, services);
      // Imported here because commands that only read the configuration start no process.
      const { hostModel } = await import("./host/host-model.ts");
      const host = async (given: unknown) =>
        hostModel({
          name: services.name,
          module,
          settings: given,
          environment: typeof environment === "function" ? await environment(given as never) : environment,
          lazyFacts: lazyFacts?.(settings),
          ...pick(services),
        });
      try {
        return await host(prepared);
      } catch (failure) {
        const other = services.signal.aborted ? undefined : afterFailure?.(prepared as never, failure);
        if (other === undefined) throw failure;
        services.logger.warn({ reason: (failure as Error).message }, other.warning);
        return await host(other.prepared);
      }
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
