import type { BuiltinOverride, ModelConfig } from "../catalog/model-config.ts";
import type { FileSettings, S3Options } from "../features/files/settings.ts";
import type { HubSettings } from "../model-store/hub-settings.ts";
import type { OpenTelemetryOptions } from "../observability/open-telemetry-options.ts";
import type { SettingsInForce } from "./effective-settings.ts";
import type { Environment } from "./environment-schema.ts";
import type { ConfigFile } from "./file-schema.ts";
import type { LayerReport } from "./layer.ts";
import type { ReadFile } from "./read-config-file.ts";

/**
 * Validated, frozen configuration: the settings of parlance.yaml as their schemas give them, overridden by the
 * environment, with absolute paths. Built once; nothing else reads the file or the environment.
 */
export interface Config extends Omit<ConfigFile, "opentelemetry" | "models"> {
  /** Absolute path of the file that was read; undefined without one. */
  file: string | undefined;
  /** The variables that Parlance reads, by their names. */
  environment: Environment;
  dataDirectory: string;
  modelsDirectory: string;
  files: Omit<FileSettings, "directory" | "s3"> & { directory: string; s3: S3Options | undefined };
  hub: HubSettings;
  /** Undefined: nothing is exported. */
  openTelemetry: OpenTelemetryOptions | undefined;
  models: readonly ModelConfig[];
  /** Settings for built-in models, by ID. */
  builtinOverrides: readonly BuiltinOverride[];
  /** The settings as operators read them, without secrets. */
  effective: SettingsInForce;
  /** What the file said when it was read last. */
  read: ReadFile;
  /** What became of the entries of the API. */
  layer: LayerReport;
  /** Messages to log at startup. */
  warnings: readonly string[];
}
