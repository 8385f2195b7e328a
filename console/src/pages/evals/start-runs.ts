/** Starts runs of an eval from the fields of the form. */

import type { Answers } from "../../api/answers.ts";
import { request, send } from "../../api/request.ts";
import { t } from "../../i18n/translate.ts";
import { type EvalRun, pathOf } from "./evals-api.ts";

export type RowSource = "file" | "recorded" | "completions" | "responses" | "before";

export interface RunFields {
  source: RowSource;
  file: File | null;
  /** Days of recorded requests. */
  days: number | string;
  /** Model of recorded requests and stored answers; empty: any. */
  ofModel: string | null;
  /** Minimum mean score of recorded requests; empty: any. */
  minScore: number | string;
  limit: number | string;
  models: string[];
  /** Stored prompts as `name@version`. */
  prompts: string[];
  /** Template of the user's message, for rows of files. */
  template: string;
  /** JSON of the prompts' variables. */
  variables: string;
}

interface StartOptions {
  evalId: string;
  /** Data source of the run before, for its rows. */
  before: EvalRun["data_source"] | undefined;
  project: string;
}

type DataSource = Record<string, unknown> & { type: string; source: object };

const DAY_SECONDS = 86_400;

/** Starts one run per model and prompt; without any, one that grades the answers of the rows. */
export async function startRuns(fields: RunFields, options: StartOptions): Promise<EvalRun[]> {
  const variants = variantsOf(fields);
  const data_source = await dataSourceOf(fields, options, variants.length === 0);
  const path = pathOf(options.evalId);
  if (variants.length === 0) {
    return [await request<EvalRun>(`${path}/runs`, { method: "POST", body: { name: t("As answered"), data_source } })];
  }
  const body = { data_source, variants };
  return (await request<Answers["EvalComparison"]>(`${path}/comparisons`, { method: "POST", body })).runs;
}

/** Throws for variables that are not JSON. */
export function variantsOf({
  models,
  prompts,
  variables,
}: Pick<RunFields, "models" | "prompts" | "variables">): object[] {
  const values = prompts.length === 0 || variables.trim() === "" ? undefined : parseVariables(variables);
  return [
    ...models.map((model) => ({ name: model, model })),
    ...prompts.map((each) => {
      const at = each.lastIndexOf("@");
      const prompt = { id: each.slice(0, at), version: each.slice(at + 1), ...(values && { variables: values }) };
      return { name: each, prompt, ...(values && { input_messages: null }) };
    }),
  ];
}

function parseVariables(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Reported below.
  }
  throw new Error(
    t("Variables must be a JSON object, such as {{example}}.", { example: '{"topic": "{{item.topic}}"}' }),
  );
}

async function dataSourceOf(fields: RunFields, options: StartOptions, isGradedOnly: boolean): Promise<DataSource> {
  const { source, ofModel, limit, template } = fields;
  if (source === "before" && options.before !== undefined) {
    return repeated(options.before as DataSource, template, isGradedOnly);
  }
  const filter = { ...(ofModel && { model: ofModel }), ...(limit !== "" && { limit: Number(limit) }) };
  if (source === "responses") return { type: "responses", source: { type: "responses", ...filter } };
  if (source === "completions") return { type: "completions", source: { type: "stored_completions", ...filter } };
  const file = source === "recorded" ? await exportRequests(fields, options.project) : fields.file;
  if (file === null) throw new Error(t("Choose a file with the rows."));
  const rows = { type: "file_id", id: await upload(file) };
  if (isGradedOnly) return { type: "jsonl", source: rows };
  const messages = { input_messages: { type: "item_reference", item_reference: "item.messages" } };
  return { type: "completions", source: rows, ...(source === "recorded" ? messages : messageOf(template)) };
}

/** The rows of an earlier run, without its model. */
function repeated(dataSource: DataSource, template: string, isGradedOnly: boolean): DataSource {
  const { model: _model, prompt: _prompt, ...before } = dataSource;
  if (isGradedOnly && !isStored(before.source)) return { type: "jsonl", source: before.source };
  const again = before.type === "jsonl" ? { ...before, type: "completions", ...messageOf(template) } : before;
  return isGradedOnly ? { type: again.type, source: again.source } : (again as DataSource);
}

function messageOf(template: string): object {
  const text = template.trim();
  return text === "" ? {} : { input_messages: { type: "template", template: [{ role: "user", content: text }] } };
}

function isStored(source: object): boolean {
  return "type" in source && (source.type === "stored_completions" || source.type === "responses");
}

/** Exports recorded requests as rows, which the audit log notes. */
async function exportRequests({ days, ofModel, minScore }: RunFields, project: string): Promise<File> {
  const query = {
    format: "evals",
    project_ids: project,
    start_time: Math.floor(Date.now() / 1000 - Number(days || 1) * DAY_SECONDS),
    ...(ofModel && { models: ofModel }),
    ...(minScore !== "" && { min_score: Number(minScore) }),
  };
  const text = await (await send("v1/organization/requests/export", { query })).text();
  if (text === "")
    throw new Error(t("No recorded request matches. A project records requests once its Recording is on."));
  return new File([text], "recorded-requests.jsonl");
}

async function upload(file: File): Promise<string> {
  const form = new FormData();
  form.set("purpose", "evals");
  form.set("file", file);
  return (await request<Answers["File"]>("v1/files", { method: "POST", body: form })).id;
}
