import type { Settings } from "../kernel/settings/settings.ts";
import type { SettingsInForce } from "./effective-settings.ts";
import type { Environment } from "./environment-schema.ts";
import type { ConfigFile } from "./file-schema.ts";
import type { LayerReport } from "./layer.ts";
import type { ReadFile } from "./read-config-file.ts";

/** The settings of all parts, with absolute paths. Built once; nothing else reads the file or the environment. */
export type Config = Settings;

declare module "../kernel/settings/settings.ts" {
  interface Settings extends Pick<ConfigFile, "builtinModels" | "defaultAliases" | "configuration" | "logLevel"> {
    /** Absolute path of the file that was read; undefined without one. */
    file: string | undefined;
    /** The variables that Parlance reads, by their names. */
    environment: Environment;
    dataDirectory: string;
    modelsDirectory: string;
    /** The settings as operators read them, without secrets. */
    effective: SettingsInForce;
    /** What the file said when it was read last. */
    read: ReadFile;
    /** What became of the entries of the API. */
    layer: LayerReport;
    /** Messages to log at startup. */
    warnings: readonly string[];
  }
}
