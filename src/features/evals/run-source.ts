/** The data source of a new run. */

import { invalidRequest } from "../../kernel/faults.ts";
import { isStored, type RunDataSource } from "../../wire/openai/evals/data-source.ts";
import type { EvalDefinition } from "../../wire/openai/evals/evals.ts";

/** Fixes the time until which stored answers are rows, and adds the metadata that those of the eval have. */
export function withDefaults(source: RunDataSource, { dataSourceConfig }: EvalDefinition, now: number): RunDataSource {
  if (!isStored(source.source)) return source;
  const metadata = {
    ...(dataSourceConfig.type === "custom" ? {} : dataSourceConfig.metadata),
    ...source.source.metadata,
  };
  const rows = {
    ...source.source,
    created_before: source.source.created_before ?? Math.floor(now / 1000),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  };
  return { ...source, source: rows } as RunDataSource;
}

/** Throws a Fault for a source that has nothing to sample. */
export function checkSource(source: RunDataSource, param: string): void {
  // Stored answers have samples, and the messages that they were asked with.
  if (source.type === "jsonl" || isStored(source.source)) return;
  if (source.model === undefined && source.prompt === undefined) {
    const message = `'${param}' needs 'model', or a 'prompt' that has one.`;
    throw invalidRequest(message, `${param}.model`, "missing_required_parameter");
  }
  if (source.input_messages === undefined && source.prompt === undefined) {
    const message = "'data_source' needs 'input_messages', or a 'prompt'.";
    throw invalidRequest(message, "data_source.input_messages", "missing_required_parameter");
  }
}
