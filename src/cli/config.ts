/** `parlance config`: validates the configuration without starting the service. */

import { Command } from "commander";
import type { Config } from "../config/config.ts";
import { configJsonSchema } from "../config/json-schema.ts";
import { loadConfig } from "../config/load-config.ts";
import type { ExportOptions } from "./config-entries.ts";
import { configSources } from "./config-sources.ts";
import { addServiceOptions } from "./with-administration.ts";

export function configCommand(): Command {
  const command = new Command("config");
  command
    .command("check")
    .description("Validate the environment and the configuration file; prints every error at once")
    .argument("[file]", "file to validate; default: $PARLANCE_CONFIG, or parlance.yaml in the working directory")
    .option("--json", "print the configuration in effect as JSON")
    .action(async (file: string | undefined, { json }: { json?: true }) => {
      const sources = configSources();
      const environment = file === undefined ? sources.environment : { ...sources.environment, PARLANCE_CONFIG: file };
      const config = await loadConfig({ ...sources, environment });
      for (const warning of config.warnings) console.error(`warning: ${warning}`);
      console.log(json === true ? JSON.stringify(summarize(config), undefined, 2) : describe(config));
    });
  command
    .command("schema")
    .description("Print the JSON Schema of parlance.yaml, for editors")
    .action(() => console.log(JSON.stringify(configJsonSchema(configSources().deploymentSchemas), undefined, 2)));
  command
    .command("export")
    .description("Print the configuration file with the models, connections and settings of the API as one file")
    .option("--output <file>", "write a file that only its owner may read")
    .option("--secrets", "write the keys of upstreams; default: variables in their place")
    .action(async (options: ExportOptions) => (await import("./config-entries.ts")).exportConfiguration(options));
  addServiceOptions(
    command
      .command("import")
      .description("Send the models, connections and settings of a file to the running service, as one change")
      .argument("<file>", "file in the form of parlance.yaml, such as one that `parlance config export` wrote")
      .option("--replace", "remove what the API has and the file does not")
      .option("--reason <text>", "why, for the history"),
  ).action(async (file: string, options: Parameters<typeof import("./config-entries.ts").importConfiguration>[1]) =>
    (await import("./config-entries.ts")).importConfiguration(file, options),
  );
  return command;
}

function describe({ file, server, dataDirectory, environment, builtinModels, models }: Config): string {
  const count = `${models.length} ${models.length === 1 ? "model" : "models"}`;
  return [
    `${file ?? "Environment and defaults (no configuration file)"}: valid`,
    `  listens on ${server.host} port ${server.port}`,
    `  stores data in ${dataDirectory}${environment.DATABASE_URL === undefined ? "" : " and PostgreSQL"}`,
    `  serves ${count} from the file${builtinModels ? " and the built-in ones" : ""}`,
  ].join("\n");
}

function summarize({ file, server, dataDirectory, modelsDirectory, builtinModels, models, warnings }: Config) {
  return {
    file: file ?? null,
    host: server.host,
    port: server.port,
    data_directory: dataDirectory,
    models_directory: modelsDirectory,
    builtin_models: builtinModels,
    models: models.map(({ id, task, deployments }) => ({ id, task, engines: deployments.map(({ engine }) => engine) })),
    warnings,
  };
}
