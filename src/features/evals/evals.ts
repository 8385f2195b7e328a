/** Evals: the form of their rows, and their graders. */

import { newId } from "../../kernel/id.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { Page, PageRequest } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { StoredBytes } from "../../storage/stored-bytes.ts";
import type { EvalDefinition } from "../../wire/openai/evals/evals.ts";
import { type ProjectAuthor, recordProjectAudit } from "../accounts/index.ts";
import type { SealedRows } from "../responses/index.ts";
import { notFound, requireContent } from "./eval-faults.ts";
import { deleteEval, findEval, insertEval, listEvals, updateEval } from "./eval-queries.ts";
import type { EvalRow } from "./eval-rows.ts";
import { fromText, type MetadataInput, toText } from "./metadata-text.ts";

export interface Eval extends Omit<EvalRow, "definition" | "metadata"> {
  definition: EvalDefinition;
  metadata: Readonly<Record<string, string>> | null;
}

interface NewEval {
  name: string | undefined;
  metadata: MetadataInput;
  definition: EvalDefinition;
}

interface EvalsOptions {
  database: Database;
  /** Undefined: there is no key to encrypt the content of runs with. */
  content: SealedRows | undefined;
  storedBytes: Pick<StoredBytes, "add" | "checkRoom">;
}

export class Evals {
  readonly #database: Database;
  readonly #options: EvalsOptions;

  constructor(options: EvalsOptions) {
    this.#database = options.database;
    this.#options = options;
  }

  /** Throws a Fault when the project has no room. */
  async create(author: ProjectAuthor, projectId: string, { name, metadata, definition }: NewEval): Promise<Eval> {
    const { content, storedBytes } = this.#options;
    requireContent(content);
    await storedBytes.checkRoom(projectId);
    const id = newId("eval_");
    const row: EvalRow = {
      ...{ id, projectId, name: name ?? id, definition: JSON.stringify(definition) },
      ...{ metadata: toText(metadata), createdBy: author.keyId ?? null, createdAt: Date.now() },
    };
    await this.#database.transaction(async (executor) => {
      await insertEval(executor, row);
      const event = { projectId, resourceId: id, details: { name: row.name } };
      await recordProjectAudit(executor, author, { type: "eval.created", ...event });
    });
    storedBytes.add(projectId, row.definition.length);
    return toEval(row);
  }

  async list(page: PageRequest & { projectId: string }): Promise<Page<Eval>> {
    const { entries, hasMore } = await this.#database.run((executor) => listEvals(executor, page));
    return { entries: entries.map(toEval), hasMore };
  }

  /** Throws a Fault when the project has no such eval. */
  async find(resource: ProjectResource): Promise<Eval> {
    return this.#database.run(async (executor) => toEval(await requireEval(executor, resource)));
  }

  async update(
    author: ProjectAuthor,
    resource: ProjectResource,
    change: { name?: string | undefined; metadata?: MetadataInput },
  ): Promise<Eval> {
    return this.#database.transaction(async (executor) => {
      const before = await requireEval(executor, resource);
      const { id } = before;
      const { name, metadata } = change;
      const isSame =
        (name ?? before.name) === before.name && (metadata === undefined || toText(metadata) === before.metadata);
      if (isSame) return toEval(before);
      await updateEval(executor, id, {
        ...(name !== undefined && { name }),
        ...(metadata !== undefined && { metadata: toText(metadata) }),
      });
      const row = await requireEval(executor, resource);
      const event = { projectId: row.projectId, resourceId: id, details: { name: row.name } };
      await recordProjectAudit(executor, author, { type: "eval.updated", ...event });
      return toEval(row);
    });
  }

  /** Deletes an eval with its runs and results. */
  async delete(author: ProjectAuthor, resource: ProjectResource): Promise<void> {
    await this.#database.transaction(async (executor) => {
      const { id, projectId, name } = await requireEval(executor, resource);
      await deleteEval(executor, id);
      await recordProjectAudit(executor, author, {
        type: "eval.deleted",
        projectId,
        resourceId: id,
        details: { name },
      });
    });
  }
}

/** Throws a Fault when the project has no such eval. */
export async function requireEval(executor: Executor, resource: ProjectResource): Promise<EvalRow> {
  const row = await findEval(executor, resource);
  if (row === undefined) throw notFound("eval", resource.id);
  return row;
}

function toEval({ definition, metadata, ...row }: EvalRow): Eval {
  return { ...row, definition: JSON.parse(definition) as EvalDefinition, metadata: fromText(metadata) };
}
