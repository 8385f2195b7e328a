/** Skills of projects: versions that never change, of which one is the default. */

import { buffer } from "node:stream/consumers";
import { newId } from "../../kernel/id.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { Page, PageRequest } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { ShownSkill } from "../../wire/openai/skills.ts";
import { type ProjectAuthor, recordProjectAudit } from "../accounts/index.ts";
import type { FileStore } from "../files/index.ts";
import type { PackedSkill, UnpackedSkill } from "./bundle-worker.ts";
import { unpackBundle } from "./bundles.ts";
import { bundleOf, removeVersion, withdrawVersion } from "./remove-version.ts";
import { isDefault, skillNotFound, versionNotFound } from "./skill-faults.ts";
import {
  deleteSkill,
  findLatestVersion,
  findSkill,
  findVersion,
  insertSkill,
  insertVersion,
  listSkills,
  listVersions,
  listWithdrawnVersions,
  lockSkill,
  numberVersion,
  updateSkill,
  withdrawVersions,
  withVersions,
} from "./skill-queries.ts";
import type { SkillRow, SkillVersionRow } from "./skill-rows.ts";

export interface NewBundle extends PackedSkill {
  /** Temporary file with the bundle, which is moved or copied. */
  path: string;
}

type SkillAudit =
  | "skill.created"
  | "skill.updated"
  | "skill.deleted"
  | "skill.version.created"
  | "skill.version.deleted";

export class Skills {
  readonly #database: Database;
  readonly #files: Pick<FileStore, "blobs" | "requireRoom">;

  constructor(database: Database, files: Pick<FileStore, "blobs" | "requireRoom">) {
    this.#database = database;
    this.#files = files;
  }

  async list(page: PageRequest & { projectId: string }): Promise<Page<ShownSkill>> {
    return this.#database.run((executor) => listSkills(executor, page));
  }

  /** Throws a Fault when the project has no such skill. */
  async find(resource: ProjectResource): Promise<ShownSkill> {
    return this.#database.run(async (executor) => show(executor, await require(executor, resource)));
  }

  async listVersions(resource: ProjectResource, page: PageRequest): Promise<Page<SkillVersionRow>> {
    return this.#database.run(async (executor) => {
      const { id: skillId } = await require(executor, resource);
      return listVersions(executor, { ...page, skillId });
    });
  }

  /** Finds a version by its number or `latest`; default: the default version. Throws a Fault without it. */
  async findVersion(resource: ProjectResource, version?: string, param?: string): Promise<SkillVersionRow> {
    return this.#database.run(async (executor) =>
      requireVersion(executor, await require(executor, resource, param), version, param),
    );
  }

  /** Streams the bundle of a version, a zip archive. */
  async read(version: SkillVersionRow): Promise<AsyncIterable<Uint8Array>> {
    return this.#files.blobs.read(bundleOf(version));
  }

  /** Reads the files of a version. Throws a Fault naming `param` for more than `maxBytes`. */
  async unpack(version: SkillVersionRow, maxBytes: number, param: string, signal: AbortSignal): Promise<UnpackedSkill> {
    const read = async () => buffer(await this.read(version));
    return unpackBundle(read, { maxBytes, param, projectId: version.projectId, signal });
  }

  /** Creates a skill with its first version. Throws a Fault when the project has no room for it. */
  async create(author: ProjectAuthor, projectId: string, bundle: NewBundle): Promise<ShownSkill> {
    const version = await this.#store(author, { projectId, id: newId("skill_") }, bundle);
    return this.#withVersion(version, (executor, audit) => this.#insert(executor, audit, version), author);
  }

  /** Adds a version. Throws a Fault when there is no such skill, or the project has no room. */
  async addVersion(
    author: ProjectAuthor,
    resource: ProjectResource,
    bundle: NewBundle,
    isNewDefault: boolean,
  ): Promise<SkillVersionRow> {
    await this.find(resource);
    const row = await this.#store(author, resource, bundle);
    const add = async (executor: Executor, audit: Audit) => {
      const skill = await lockSkill(executor, resource);
      if (skill === undefined) throw skillNotFound(resource.id);
      const version = skill.lastVersion + 1;
      const createdAt = Date.now();
      await numberVersion(executor, row.id, version, createdAt);
      await updateSkill(executor, skill.id, { lastVersion: version, ...(isNewDefault && { defaultVersion: version }) });
      await audit("skill.version.created", skill, { version, isDefault: isNewDefault });
      return { ...row, version, createdAt };
    };
    return this.#withVersion(row, add, author);
  }

  async setDefault(author: ProjectAuthor, resource: ProjectResource, version: string): Promise<ShownSkill> {
    return this.#change(author, async (executor, audit) => {
      const skill = await lockSkill(executor, resource);
      if (skill === undefined) throw skillNotFound(resource.id);
      const next = await requireVersion(executor, skill, version, "default_version");
      if (next.version === skill.defaultVersion) return show(executor, skill);
      await updateSkill(executor, skill.id, { defaultVersion: next.version });
      const details = { defaultVersion: next.version, previousVersion: skill.defaultVersion };
      await audit("skill.updated", skill, details);
      return show(executor, { ...skill, defaultVersion: next.version });
    });
  }

  /** Deletes a skill with all versions. */
  async delete(author: ProjectAuthor, resource: ProjectResource): Promise<void> {
    const withdrawn = await this.#change(author, async (executor, audit) => {
      const skill = await lockSkill(executor, resource);
      if (skill === undefined) throw skillNotFound(resource.id);
      await withdrawVersions(executor, skill.id);
      await deleteSkill(executor, skill.id);
      await audit("skill.deleted", skill, {});
      return listWithdrawnVersions(executor, skill.id);
    });
    for (const version of withdrawn) await removeVersion(this.#database, this.#files.blobs, version);
  }

  /** Deletes a version; with the last one, the skill. Throws a Fault for the default version of others. */
  async deleteVersion(author: ProjectAuthor, resource: ProjectResource, version: string): Promise<SkillVersionRow> {
    const deleted = await this.#change(author, async (executor, audit) => {
      const skill = await lockSkill(executor, resource);
      if (skill === undefined) throw skillNotFound(resource.id);
      const row = await requireVersion(executor, skill, version);
      await withdrawVersion(executor, row);
      const isOther = row.version !== skill.defaultVersion;
      if (!isOther && (await findSkill(executor, resource)) !== undefined) throw isDefault(row.version);
      await audit("skill.version.deleted", skill, { version: row.version });
      if (!isOther) await audit("skill.deleted", skill, {});
      return row;
    });
    await removeVersion(this.#database, this.#files.blobs, deleted);
    return deleted;
  }

  /** Stores a bundle, which nothing finds until its version gets a number. */
  async #store(author: ProjectAuthor, { projectId, id: skillId }: ProjectResource, bundle: NewBundle) {
    const { name, description, bytes, path } = bundle;
    const row: SkillVersionRow = {
      ...{ id: newId("skillver_"), skillId, projectId, version: 0, name, description, bytes },
      ...{ createdAt: Date.now(), createdBy: author.keyId ?? null },
    };
    await this.#database.transaction(async (executor) => {
      await this.#files.requireRoom(executor, projectId, bytes);
      await insertVersion(executor, row);
    });
    try {
      await this.#files.blobs.putFile(bundleOf(row), path);
    } catch (failure) {
      await this.#discard(row);
      throw failure;
    }
    return row;
  }

  async #insert(executor: Executor, audit: Audit, { id, skillId, projectId, name }: SkillVersionRow) {
    const createdAt = Date.now();
    const skill: SkillRow = { id: skillId, projectId, defaultVersion: 1, lastVersion: 1, createdAt };
    await insertSkill(executor, skill);
    await numberVersion(executor, id, 1, createdAt);
    await audit("skill.created", skill, { name });
    return show(executor, skill);
  }

  async #withVersion<Result>(
    version: SkillVersionRow,
    work: (executor: Executor, audit: Audit) => Promise<Result>,
    author: ProjectAuthor,
  ): Promise<Result> {
    try {
      return await this.#change(author, work);
    } catch (failure) {
      await this.#discard(version);
      throw failure;
    }
  }

  /** What is left, for example because the database is unavailable now, is removed by retention. */
  async #discard(version: SkillVersionRow): Promise<void> {
    await removeVersion(this.#database, this.#files.blobs, version).catch(() => {});
  }

  async #change<Result>(
    author: ProjectAuthor,
    work: (executor: Executor, audit: Audit) => Promise<Result>,
  ): Promise<Result> {
    return this.#database.transaction(async (executor) =>
      work(executor, (type, { id: resourceId, projectId }, details) =>
        recordProjectAudit(executor, author, { type, projectId, resourceId, details }),
      ),
    );
  }
}

type Audit = (type: SkillAudit, row: SkillRow, details: Readonly<Record<string, unknown>>) => Promise<void>;

async function require(executor: Executor, resource: ProjectResource, param?: string): Promise<SkillRow> {
  const row = await findSkill(executor, resource);
  if (row === undefined) throw skillNotFound(resource.id, param);
  return row;
}

async function requireVersion(
  executor: Executor,
  { id, defaultVersion }: SkillRow,
  version = String(defaultVersion),
  param = "version",
): Promise<SkillVersionRow> {
  const number = /^[1-9]\d{0,8}$/.test(version) ? Number(version) : undefined;
  const row =
    version === "latest"
      ? await findLatestVersion(executor, id)
      : number !== undefined && (await findVersion(executor, id, number));
  if (!row) throw versionNotFound(id, version, param);
  return row;
}

async function show(executor: Executor, row: SkillRow): Promise<ShownSkill> {
  const [skill] = await withVersions(executor, [row]);
  return skill as ShownSkill;
}
