import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { t } from "../../i18n/translate.ts";
import { readContent, uploadFile } from "../files/files-api.ts";

export type Batch = Answers["Batch"];

export const BATCHES = "v1/batches";
export const ENDPOINTS: readonly Batch["endpoint"][] = [
  "/v1/chat/completions",
  "/v1/responses",
  "/v1/embeddings",
  "/v1/moderations",
  "/v1/completions",
];
const ENDED: ReadonlySet<Batch["status"]> = new Set(["completed", "failed", "expired", "cancelled"]);

export function hasEnded({ status }: Batch): boolean {
  return ENDED.has(status);
}

export interface NewBatch {
  /** A new input, or the ID of a stored one. */
  input: File | string;
  endpoint: Batch["endpoint"];
  description: string;
}

export async function createBatch({ input, endpoint, description }: NewBatch): Promise<Batch> {
  const id = typeof input === "string" ? input : (await uploadFile({ file: input, purpose: "batch" })).id;
  const metadata = description.trim() === "" ? undefined : { description: description.trim() };
  const body = { input_file_id: id, endpoint, completion_window: "24h", ...(metadata && { metadata }) };
  return request<Batch>(BATCHES, { method: "POST", body });
}

export function cancelBatch(id: string): Promise<Batch> {
  return request<Batch>(`${BATCHES}/${encodeURIComponent(id)}/cancel`, { method: "POST" });
}

export interface InputSummary {
  requests: number;
  endpoint: Batch["endpoint"] | undefined;
  models: string[];
  /** What is wrong with the first line that is not a request. */
  problem: string | undefined;
}

/** Reads what a file of requests contains, line by line; the service checks it again. */
export function summarizeInput(text: string): InputSummary {
  const models = new Set<string>();
  let endpoint: InputSummary["endpoint"];
  let problem: string | undefined;
  let requests = 0;
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    requests += 1;
    try {
      const {
        url,
        body,
        custom_id: id,
      } = JSON.parse(line) as {
        url?: unknown;
        body?: { model?: unknown };
        custom_id?: unknown;
      };
      endpoint ??= ENDPOINTS.find((each) => each === url);
      if (typeof body?.model === "string") models.add(body.model);
      if (typeof id !== "string") problem ??= t("Line {{line}} has no custom_id.", { line: String(index + 1) });
    } catch {
      problem ??= t("Line {{line}} is not valid JSON.", { line: String(index + 1) });
    }
  }
  if (requests === 0) problem = t("The file has no requests.");
  return { requests, endpoint, models: [...models], problem };
}

export interface FailedLine {
  id: string;
  message: string;
}

const SHOWN_FAILURES = 20;

/** Reads the first failures of a batch. */
export async function readFailures(errorFile: string): Promise<FailedLine[]> {
  const text = await (await readContent(errorFile)).text();
  const lines = text.split("\n").filter(Boolean).slice(0, SHOWN_FAILURES);
  return lines.map((line) => {
    const {
      custom_id: id,
      error,
      response,
    } = JSON.parse(line) as {
      custom_id: string;
      error?: { message?: string } | null;
      response?: { body?: { error?: { message?: string } } } | null;
    };
    return { id, message: response?.body?.error?.message ?? error?.message ?? t("No message") };
  });
}
