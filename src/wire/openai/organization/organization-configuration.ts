import type { Configuration as ConfigurationAnswer } from "../../openapi/configuration-answers.ts";
import type { AnswerOf } from "../../openapi/named.ts";

interface Configuration {
  version: string;
  /** Path of the file; undefined without one. */
  file: string | undefined;
  settings: readonly {
    key: string;
    value: unknown;
    default: unknown;
    source: "default" | "file" | "environment" | "api";
    description: string;
  }[];
  /** Each with its `id`. */
  models: readonly Readonly<Record<string, unknown>>[];
}

type Shown = AnswerOf<typeof ConfigurationAnswer>;

/** GET /v1/organization/configuration */
export function toConfiguration({
  version,
  file,
  settings,
  models,
}: Configuration): AnswerOf<typeof ConfigurationAnswer> {
  return {
    object: "organization.configuration" as const,
    version,
    file: file ?? null,
    settings,
    models: models as Shown["models"],
  };
}
