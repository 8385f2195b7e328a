import type { Task } from "../contracts/task.ts";
import type { DeploymentSettings, ModelSettings } from "./model-settings.ts";

export interface DeploymentConfig extends DeploymentSettings {
  /** Name in the engine registry. */
  engine: string;
  /** Output of the engine's settings schema. */
  settings: unknown;
}

/** Settings for a built-in model, which keeps its deployment. */
export type BuiltinOverride = Omit<ModelSettings, "task" | "deployments">;

export interface ModelConfig extends BuiltinOverride {
  task: Task;
  deployments: readonly DeploymentConfig[];
}

declare module "../kernel/settings/settings.ts" {
  interface Settings {
    models: readonly ModelConfig[];
    /** Settings for built-in models, by ID. */
    builtinOverrides: readonly BuiltinOverride[];
  }
}
