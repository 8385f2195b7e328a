/** Stored prompts: named, with versions that never change and labels that move between them. */

import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { Page, PageRequest } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { PromptContent, PromptReference } from "../../wire/openai/prompts/prompt-content.ts";
import { checkContent } from "../../wire/openai/prompts/render-prompt.ts";
import { lockProject, type ProjectAuthor, recordProjectAudit } from "../accounts/index.ts";
import type { NewVersion, Prompt, PromptVersion, UsedVersion } from "./prompt.ts";
import { checkLabel, promptNotFound, versionNotFound } from "./prompt-faults.ts";
import {
  averageRatings,
  deleteLabel,
  deletePrompt,
  findLabels,
  findLatestVersions,
  findPrompt,
  findVersion,
  insertPrompt,
  insertVersion,
  listPrompts,
  listVersions,
  putLabel,
  sumUsage,
  updatePrompt,
} from "./prompt-queries.ts";
import type { PromptRow, PromptVersionRow } from "./prompt-rows.ts";

/** Label of the version that requests without one use. */
const DEFAULT_LABEL = "production";
const MAX_VERSIONS = 1_000;
const MAX_LABELS = 50;

export class Prompts {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async list(page: PageRequest & { projectId: string }): Promise<Page<Prompt>> {
    return this.#database.run(async (executor) => {
      const { entries, hasMore } = await listPrompts(executor, page);
      return { entries: await withVersions(executor, entries), hasMore };
    });
  }

  /** Throws a Fault when the project has no such prompt. */
  async find(resource: ProjectResource): Promise<Prompt> {
    return this.#database.run(async (executor) => toPrompt(executor, await require(executor, resource)));
  }

  /** Creates a prompt with its first version. Throws a Fault for a name that another prompt of the project has. */
  async create(
    author: ProjectAuthor,
    {
      projectId,
      name,
      description,
      ...first
    }: { projectId: string; name: string; description: string | undefined } & NewVersion,
  ): Promise<Prompt> {
    checkContent(first.content);
    const now = Date.now();
    const row: PromptRow = {
      ...{ id: newId("pmpt_"), projectId, name, description: description ?? null, createdAt: now, updatedAt: now },
    };
    return this.#change(author, async (executor, audit) => {
      await checkName(executor, row);
      await insertPrompt(executor, row);
      await addVersion(executor, author, row, first, 1, now);
      await audit("prompt.created", row, { name });
      return toPrompt(executor, row);
    });
  }

  async update(
    author: ProjectAuthor,
    resource: ProjectResource,
    change: { name?: string | undefined; description?: string | null | undefined },
  ): Promise<Prompt> {
    return this.#change(author, async (executor, audit) => {
      const before = await require(executor, resource);
      const isSame =
        (change.name ?? before.name) === before.name &&
        (change.description === undefined || change.description === before.description);
      // Others would wait for the lock.
      if (isSame) return toPrompt(executor, before);
      await lockProject(executor, resource.projectId);
      const row = await require(executor, resource);
      const updatedAt = Date.now();
      const { name = row.name, description = row.description } = change;
      await checkName(executor, { ...row, name });
      await updatePrompt(executor, row.id, { name, description, updatedAt });
      await audit("prompt.updated", row, { name });
      return toPrompt(executor, { ...row, name, description, updatedAt });
    });
  }

  /** Deletes a prompt with all versions; requests that name it fail. */
  async delete(author: ProjectAuthor, resource: ProjectResource): Promise<PromptRow> {
    return this.#change(author, async (executor, audit) => {
      const row = await require(executor, resource);
      await deletePrompt(executor, row.id);
      await audit("prompt.deleted", row, {});
      return row;
    });
  }

  async versions(resource: ProjectResource): Promise<PromptVersion[]> {
    return this.#database.run(async (executor) => {
      const { id } = await require(executor, resource);
      const labels = await findLabels(executor, [id]);
      return (await listVersions(executor, id)).map((row) => toVersion(row, labels));
    });
  }

  /** Finds the version that a request refers to. Throws a Fault naming `prompt`. */
  async resolve(projectId: string, { id, version }: PromptReference, param = "prompt"): Promise<PromptVersion> {
    return this.#database.run(async (executor) => {
      const prompt = await findPrompt(executor, { projectId, id });
      if (prompt === undefined) throw promptNotFound(id, `${param}.id`);
      const labels = await findLabels(executor, [prompt.id]);
      const number = await numberOf(executor, prompt.id, labels, version ?? undefined);
      const row = number === undefined ? undefined : await findVersion(executor, prompt.id, number);
      if (row === undefined) throw versionNotFound(prompt.name, version ?? "", labels, `${param}.version`);
      return toVersion(row, labels);
    });
  }

  async addVersion(author: ProjectAuthor, resource: ProjectResource, next: NewVersion): Promise<PromptVersion> {
    checkContent(next.content);
    return this.#change(author, async (executor, audit) => {
      const row = await require(executor, resource);
      const now = Date.now();
      // The update locks the prompt, so that two versions get two numbers.
      await updatePrompt(executor, row.id, { updatedAt: now });
      const [latest] = await findLatestVersions(executor, [row.id]);
      const number = (latest?.version ?? 0) + 1;
      if (number > MAX_VERSIONS) {
        throw invalidRequest(`A prompt has at most ${MAX_VERSIONS} versions. Create another prompt.`);
      }
      const version = await addVersion(executor, author, row, next, number, now);
      await audit("prompt.version.created", row, { version: number });
      return toVersion(version, await findLabels(executor, [row.id]));
    });
  }

  /** Moves a label to a version; a label that the prompt lacks is added. */
  async setLabel(author: ProjectAuthor, resource: ProjectResource, label: string, version: number): Promise<Prompt> {
    checkLabel(label, "label");
    return this.#change(author, async (executor, audit) => {
      const row = await require(executor, resource);
      const labelled = (await findLabels(executor, [row.id])).find((each) => each.label === label);
      if (labelled?.version === version) return toPrompt(executor, row);
      const now = Date.now();
      await updatePrompt(executor, row.id, { updatedAt: now });
      const labels = await findLabels(executor, [row.id]);
      if ((await findVersion(executor, row.id, version)) === undefined) {
        throw versionNotFound(row.name, String(version), labels, "version");
      }
      if (labels.length >= MAX_LABELS && labels.every((each) => each.label !== label)) {
        throw invalidRequest(`A prompt has at most ${MAX_LABELS} labels. Remove one.`, "label");
      }
      const before = labels.find((each) => each.label === label)?.version ?? null;
      await putLabel(executor, { promptId: row.id, label, version, updatedAt: now });
      await audit("prompt.label.updated", row, { label, version, previousVersion: before });
      return toPrompt(executor, { ...row, updatedAt: now });
    });
  }

  async removeLabel(author: ProjectAuthor, resource: ProjectResource, label: string): Promise<Prompt> {
    return this.#change(author, async (executor, audit) => {
      const row = await require(executor, resource);
      if (!(await deleteLabel(executor, row.id, label))) {
        throw new Fault("not-found", `The prompt '${row.name}' has no label '${label.slice(0, 64)}'.`);
      }
      await audit("prompt.label.updated", row, { label, version: null });
      return toPrompt(executor, row);
    });
  }

  /** What each version cost and how requests with it were rated, newest first. */
  async usage(resource: ProjectResource): Promise<{ id: string; usage: UsedVersion[] }> {
    return this.#database.run(async (executor) => {
      const { id, projectId } = await require(executor, resource);
      const ratings = await averageRatings(executor, projectId, id);
      const usage = (await sumUsage(executor, projectId, id)).map((each) => {
        const rating = ratings.find(({ version }) => version === each.version);
        return { ...each, ratings: rating?.ratings ?? 0, meanScore: rating?.meanScore ?? null };
      });
      return { id, usage };
    });
  }

  async #change<Result>(
    author: ProjectAuthor,
    work: (
      executor: Executor,
      audit: (type: PromptAudit, row: PromptRow, details: Readonly<Record<string, unknown>>) => Promise<void>,
    ) => Promise<Result>,
  ): Promise<Result> {
    return this.#database.transaction(async (executor) =>
      work(executor, (type, { id: resourceId, projectId }, details) =>
        recordProjectAudit(executor, author, { type, projectId, resourceId, details }),
      ),
    );
  }
}

type PromptAudit =
  | "prompt.created"
  | "prompt.updated"
  | "prompt.deleted"
  | "prompt.version.created"
  | "prompt.label.updated";

/** Makes others that name a prompt of the project wait. Throws a Fault for the name or ID of another prompt. */
async function checkName(executor: Executor, { id, projectId, name }: PromptRow): Promise<void> {
  await lockProject(executor, projectId);
  const other = await findPrompt(executor, { projectId, id: name });
  if (other === undefined || other.id === id) return;
  const message = "Another prompt of the project has this name. Choose another one, or add a version to that prompt.";
  throw new Fault("conflict", message, { code: "prompt_exists", param: "name" });
}

async function addVersion(
  executor: Executor,
  { keyId }: ProjectAuthor,
  { id: promptId }: PromptRow,
  { content, note, labels = [] }: NewVersion,
  version: number,
  now: number,
): Promise<PromptVersionRow> {
  const row: PromptVersionRow = {
    ...{ promptId, version, content: JSON.stringify(content), note: note ?? null },
    ...{ createdBy: keyId ?? null, createdAt: now },
  };
  await insertVersion(executor, row);
  for (const [index, label] of labels.entries()) {
    checkLabel(label, `labels[${index}]`);
    await putLabel(executor, { promptId, label, version, updatedAt: now });
  }
  return row;
}

async function numberOf(
  executor: Executor,
  promptId: string,
  labels: readonly { label: string; version: number }[],
  version: string | undefined,
): Promise<number | undefined> {
  const label = labels.find((each) => each.label === (version ?? DEFAULT_LABEL));
  if (label !== undefined) return label.version;
  if (version === undefined) return (await findLatestVersions(executor, [promptId]))[0]?.version;
  return /^\d{1,6}$/.test(version) ? Number(version) : undefined;
}

async function require(executor: Executor, resource: ProjectResource): Promise<PromptRow> {
  const row = await findPrompt(executor, resource);
  if (row === undefined) throw promptNotFound(resource.id, undefined);
  return row;
}

async function toPrompt(executor: Executor, row: PromptRow): Promise<Prompt> {
  const [prompt] = await withVersions(executor, [row]);
  return prompt as Prompt;
}

async function withVersions(executor: Executor, rows: readonly PromptRow[]): Promise<Prompt[]> {
  const ids = rows.map(({ id }) => id);
  const latest = new Map(
    (await findLatestVersions(executor, ids)).map(({ promptId, version }) => [promptId, version] as const),
  );
  const labels = Map.groupBy(await findLabels(executor, ids), ({ promptId }) => promptId);
  return rows.map((row) => ({
    ...row,
    latestVersion: latest.get(row.id) ?? 0,
    labels: Object.fromEntries((labels.get(row.id) ?? []).map(({ label, version }) => [label, version])),
  }));
}

function toVersion(row: PromptVersionRow, labels: readonly { label: string; version: number }[]): PromptVersion {
  const names = labels.filter(({ version }) => version === row.version).map(({ label }) => label);
  const { content } = row;
  return { ...row, content: JSON.parse(content) as PromptContent, characters: content.length, labels: names };
}
