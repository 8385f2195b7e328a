/** Rows of runs that are stored chat completions or responses, with the answers that they got. */

import { mapInSlices } from "../../kernel/async/map-in-slices.ts";
import { turns } from "../../kernel/async/turns.ts";
import { contains } from "../../kernel/contains.ts";
import { Fault } from "../../kernel/faults.ts";
import type { Database } from "../../storage/database.ts";
import {
  type CompletionsSource,
  type EvalRowInput,
  type ResponsesSource,
  rowLimitOf,
} from "../../wire/openai/evals/data-source.ts";
import { lastQuestionOf, outputTextOf } from "../../wire/openai/evals/messages-of.ts";
import { toEvalLine } from "../../wire/openai/organization/request-export.ts";
import { hasMetadata, type RecordedContents } from "../recorded-content/index.ts";
import {
  findResponse,
  listAnsweredResponses,
  type ResponseItemRow,
  type ResponseSelection,
  readChain,
  readItems,
  type SealedRows,
  type StoredResponseRow,
} from "../responses/index.ts";

/** A row, and whose request it was. */
export interface RunRow extends EvalRowInput {
  organizationId: string | null;
  authorKeyId: string | null;
  endUser: string | null;
}

export interface StoredRowsOptions {
  database: Database;
  content: SealedRows;
  /** Undefined: no chat completions are stored. */
  recorded: Pick<RecordedContents, "find" | "readCompletions"> | undefined;
}

interface Place {
  organizationId: string;
  projectId: string;
}

type Fields = Readonly<Record<string, unknown>>;
type Metadata = Readonly<Record<string, string>>;

const RESPONSES_AT_ONCE = 50;
/** Responses whose items are read to find the context of one; earlier ones are left out. */
const MAX_CHAIN_LENGTH = 200;

export class StoredRows {
  readonly #options: StoredRowsOptions;

  constructor(options: StoredRowsOptions) {
    this.#options = options;
  }

  /** Returns the IDs of the rows, newest first. Throws a Fault without any. */
  async select(place: Place, source: CompletionsSource | ResponsesSource, signal: AbortSignal): Promise<string[]> {
    const limit = rowLimitOf(source);
    const ids: string[] = [];
    const matches =
      source.type === "stored_completions"
        ? this.#completions(place, source, signal)
        : this.#responses(place.projectId, source, signal);
    for await (const id of matches) {
      ids.push(id);
      if (ids.length === limit) break;
    }
    if (ids.length > 0) return ids;
    const kind = source.type === "responses" ? "responses" : "chat completions";
    const message = `The project stores no ${kind} that match. They are stored with 'store: true'.`;
    throw new Fault("not-found", message, { code: "no_rows", param: "data_source.source" });
  }

  /** Reads a row that was selected; undefined when it was deleted since. */
  async read(place: Place, type: "stored_completions" | "responses", id: string): Promise<RunRow | undefined> {
    return type === "responses" ? this.#readResponse(place, id) : this.#readCompletion(place, id);
  }

  async *#completions(
    { organizationId, projectId }: Place,
    source: CompletionsSource,
    signal: AbortSignal,
  ): AsyncGenerator<string, void> {
    const { model, metadata, created_after: after, created_before: before } = source;
    const filter = {
      ...{ organizationId, projectIds: [projectId] },
      ...(after != null && { from: after * 1000 }),
      ...(before != null && { until: (before + 1) * 1000 }),
    };
    const entries = Object.entries(metadata ?? {});
    for await (const { entry, completion } of this.#options.recorded?.readCompletions(filter, signal) ?? []) {
      const isOfModel = model == null || model === completion.model || model === entry.model;
      if (isOfModel && hasMetadata(completion, entries)) yield entry.id;
    }
  }

  async #readCompletion({ organizationId, projectId }: Place, id: string): Promise<RunRow | undefined> {
    const content = await this.#options.recorded?.find(organizationId, id);
    if (content?.completion === undefined || content.entry.projectId !== projectId) return undefined;
    const { item, sample } = toEvalLine(content, []);
    const { metadata, model, id: completionId } = content.completion;
    return {
      item: { ...item, ...inputFields(item.messages), completion_id: completionId, metadata },
      sample: { ...sample, model },
      organizationId,
      authorKeyId: content.entry.keyId,
      endUser: content.entry.details?.endUser ?? null,
    };
  }

  async *#responses(projectId: string, source: ResponsesSource, signal: AbortSignal): AsyncGenerator<string, void> {
    const { database } = this.#options;
    const { created_after: after, created_before: before } = source;
    const from = (after ?? 0) * 1000;
    const until = before == null ? Number.MAX_SAFE_INTEGER : before * 1000 + 999;
    const turn = turns(signal);
    let position: ResponseSelection["after"];
    for (;;) {
      const selection = { projectId, from, until, after: position, limit: RESPONSES_AT_ONCE };
      const { rows, next } = await database.run((executor) => listAnsweredResponses(executor, selection));
      for (const row of rows) {
        await turn();
        if (matchesResponse(this.#openResponse(row), source)) yield row.id;
      }
      if (next === undefined) return;
      position = next;
    }
  }

  async #readResponse({ organizationId, projectId }: Place, id: string): Promise<RunRow | undefined> {
    const { row, ids, items } = await this.#options.database.run(async (executor) => {
      const chain = await readChain(executor, { projectId, id }, MAX_CHAIN_LENGTH);
      const ids = chain.map((link) => link.id).reverse();
      const row = await findResponse(executor, { projectId, id });
      return { row, ids, items: await readItems(executor, "responseId", ids) };
    });
    if (row === undefined) return undefined;
    const response = this.#openResponse(row);
    const before = items
      .filter(({ responseId, isOutput }) => responseId !== id || isOutput === 0)
      .sort((a, b) => ids.indexOf(a.responseId ?? "") - ids.indexOf(b.responseId ?? "") || a.position - b.position);
    const after = items.filter(({ responseId, isOutput }) => responseId === id && isOutput === 1);
    const context = await mapInSlices(before, (item) => this.#openItem(item));
    const output = await mapInSlices(after, (item) => this.#openItem(item));
    const { instructions, metadata, model } = response;
    const input =
      typeof instructions === "string" ? [{ role: "developer", content: instructions }, ...context] : context;
    return {
      item: { response_id: id, ...inputFields(input), instructions, metadata: metadata ?? {}, model },
      sample: { model, output_text: outputTextOf(output), output },
      organizationId,
      authorKeyId: row.createdBy ?? null,
      endUser: typeof response.safety_identifier === "string" ? response.safety_identifier : null,
    };
  }

  #openResponse({ projectId, id, content }: StoredResponseRow): Fields {
    return this.#options.content.open<Fields>({ table: "response", projectId, id }, content);
  }

  /** Without the ID and status, which no request sends. */
  #openItem({ projectId, id, content }: ResponseItemRow): Fields {
    const item = this.#options.content.open<Fields>({ table: "item", projectId, id }, content);
    const { id: _id, status: _status, ...fields } = item;
    return fields;
  }
}

function inputFields(input: readonly unknown[]): { input: readonly unknown[]; question: string } {
  return { input, question: lastQuestionOf(input) };
}

function matchesResponse(response: Fields, source: ResponsesSource): boolean {
  const { model, metadata, instructions_search: search, temperature, top_p, tools, users } = source;
  const effort = (response.reasoning as { effort?: unknown } | null)?.effort;
  const used = (response.tools ?? []) as readonly { type?: string; name?: string }[];
  const instructions = typeof response.instructions === "string" ? response.instructions : "";
  return (
    (model == null || model === response.model) &&
    hasMetadata({ metadata: (response.metadata ?? {}) as Metadata }, Object.entries(metadata ?? {})) &&
    (search == null || contains(instructions, search)) &&
    (temperature == null || temperature === response.temperature) &&
    (top_p == null || top_p === response.top_p) &&
    (source.reasoning_effort == null || source.reasoning_effort === effort) &&
    (tools ?? []).every((tool) => used.some(({ type, name }) => tool === type || tool === name)) &&
    (users == null || users.includes(String(response.safety_identifier ?? response.user ?? "")))
  );
}
