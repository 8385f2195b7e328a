/** Evals, as OpenAI's clients send and read them. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { parsedListOf } from "../../../kernel/list-of.ts";
import { listOfEntries } from "../../openapi/list-answers.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import { Metadata } from "../../responses/metadata.ts";
import { PAGE_QUERY, toSeconds } from "../organization/organization-list.ts";
import { Grader } from "./graders.ts";

export const NAME = z.string().min(1).max(200);

const DataSourceConfig = z.discriminatedUnion(
  "type",
  [
    lazy.looseObject(() => ({
      type: z.literal("custom"),
      item_schema: z.record(z.string(), z.unknown()),
      include_sample_schema: z.boolean().nullish(),
    })),
    lazy.strictObject(() => ({
      type: z.enum(["logs", "stored_completions"]),
      metadata: Metadata.nullish().describe("Metadata that the stored completions or responses of its runs have."),
    })),
  ],
  { error: "it must be custom, logs or stored_completions" },
);

export const EvalCreateBody = named(
  "EvalCreateBody",
  lazy.strictObject(() => ({
    name: NAME.optional(),
    metadata: Metadata.nullish(),
    data_source_config: DataSourceConfig,
    testing_criteria: parsedListOf(Grader).min(1).max(50),
  })),
);

export const EvalUpdateBody = named(
  "EvalUpdateBody",
  lazy.strictObject(() => ({ name: NAME.optional(), metadata: Metadata.nullish() })),
);

export const EvalListQuery = lazy.looseObject(() => ({ ...PAGE_QUERY, order: z.enum(["asc", "desc"]).default("asc") }));

export interface EvalDefinition {
  dataSourceConfig: z.output<typeof DataSourceConfig>;
  testingCriteria: Grader[];
}

export const nullableMetadata = z.record(z.string(), z.string()).nullable();

export const Eval = named(
  "Eval",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("eval"),
    name: z.string(),
    created_at: z.int(),
    data_source_config: z.object({
      type: z.enum(["custom", "logs", "stored_completions"]),
      schema: z.record(z.string(), z.unknown()),
      metadata: nullableMetadata.optional(),
    }),
    testing_criteria: z.array(Grader),
    metadata: nullableMetadata,
  })),
);
export const EvalList = listOfEntries(Eval);
export const EvalDeleted = named(
  "EvalDeleted",
  lazy.object(() => ({
    object: z.literal("eval.deleted"),
    deleted: z.boolean(),
    eval_id: z.string(),
  })),
);

export function toEval(row: {
  id: string;
  name: string;
  createdAt: number;
  definition: EvalDefinition;
  metadata: Readonly<Record<string, string>> | null;
}): AnswerOf<typeof Eval> {
  const { dataSourceConfig, testingCriteria } = row.definition;
  return {
    id: row.id,
    object: "eval",
    name: row.name,
    created_at: toSeconds(row.createdAt),
    data_source_config: toDataSource(dataSourceConfig),
    testing_criteria: testingCriteria,
    metadata: row.metadata,
  };
}

function toDataSource(config: EvalDefinition["dataSourceConfig"]): AnswerOf<typeof Eval>["data_source_config"] {
  const hasSample = config.type !== "custom" || config.include_sample_schema;
  const item = config.type === "custom" ? config.item_schema : { type: "object" };
  const properties = { item, ...(hasSample && { sample: { type: "object" } }) };
  const schema = { type: "object", properties, required: Object.keys(properties) };
  return config.type === "custom"
    ? { type: config.type, schema }
    : { type: config.type, schema, metadata: config.metadata ?? null };
}
