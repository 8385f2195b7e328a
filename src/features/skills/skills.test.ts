import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { createLogger } from "../../kernel/logger.ts";
import { openDatabase } from "../../storage/database.ts";
import type { Person, PersonalContext } from "../../storage/personal-data.ts";
import { OPERATOR } from "../accounts/audit/audit.ts";
import { insertApiKey } from "../accounts/keys/api-key-queries.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { archiveProject, insertProject } from "../accounts/projects/project-queries.ts";
import { FileStore } from "../files/file-store.ts";
import { LocalBlobs } from "../files/local-blobs.ts";
import { ContainerSkillReader } from "./container-skills.ts";
import { skillVersionData } from "./personal-data.ts";
import { insertVersion, sumBundleBytes } from "./skill-queries.ts";
import { skillRetention } from "./skill-retention.ts";
import { Skills } from "./skills.ts";

const databases = useDatabases();
const logger = createLogger("silent");
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const DAY_MS = 86_400_000;
const row = { name: "a", isDefault: 0, createdAt: 0, archivedAt: null };
const PROJECT = "proj_a";

async function open(kind: (typeof DATABASE_KINDS)[number]) {
  const directory = await mkdtemp(join(tmpdir(), "parlance-skills-"));
  closing.push(() => rm(directory, { recursive: true, force: true }));
  const database = openDatabase(await databases.create(kind));
  closing.push(() => database.close());
  await database.run((executor) => insertOrganization(executor, { ...row, id: "org_a" }));
  for (const id of [PROJECT, "proj_b"]) {
    await database.run((executor) => insertProject(executor, { ...row, id, organizationId: "org_a" }));
  }
  for (const id of ["key_a", "key_b", "key_c"]) {
    const key = {
      ...{ id, organizationId: "org_a", projectId: PROJECT, serviceAccountId: null, userId: null },
      kind: "project" as const,
      ...{ name: id, keyHash: id, redactedValue: id, isFixed: 0, createdAt: 0, expiresAt: null, revokedAt: null },
      ...{ lastUsedAt: null, lastUsedAddress: null, lastUsedClient: null },
    };
    await database.run((executor) => insertApiKey(executor, key));
  }
  const blobs = new LocalBlobs(join(directory, "files"));
  await blobs.check();
  const files = new FileStore({ database, blobs, keepDays: 30, maxSizePerProject: 1_000 });
  files.alsoCount(sumBundleBytes);
  const skills = new Skills(database, files);
  const retention = skillRetention({ database, blobs, logger });
  closing.push(async () => retention[Symbol.dispose]());
  const author = (keyId: string) => ({ ...OPERATOR, keyId, organizationId: "org_a" });
  const bundle = async () => {
    const path = join(directory, "bundle");
    await writeFile(path, "zip");
    return { name: "tables", description: "Reads tables.", bytes: 3, path };
  };
  const create = async (key: string, projectId = PROJECT) => skills.create(author(key), projectId, await bundle());
  const add = async (key: string, id: string, isDefault = false) =>
    skills.addVersion(author(key), { projectId: PROJECT, id }, await bundle(), isDefault);
  const stored = async (id: string) => (await readdir(join(directory, "files", "skills", id)).catch(() => [])).sort();
  const rows = () => database.run((executor) => executor.selectFrom("skillVersions").selectAll().execute());
  return { directory, database, blobs, files, skills, retention, author, bundle, create, add, stored, rows };
}

const personOf = (...caller: string[]) => ({ identifiers: { caller } }) as unknown as Person;
const versions = skillVersionData.skillVersions.rows[0];

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("retention removes skills of archived projects, and what uploads and deletions left", async () => {
    const { database, retention, create, stored, rows } = await open(kind);
    const kept = await create("key_a");
    const archived = await create("key_a", "proj_b");
    await database.run((executor) => archiveProject(executor, { organizationId: "org_a", id: "proj_b" }, Date.now()));
    const [version] = (await rows()).filter(({ skillId }) => skillId === kept.id);
    if (version === undefined) throw new Error("no version");
    const unnumbered = { ...version, version: 0 };
    const now = Date.now();
    const others = [
      { ...unnumbered, id: "skillver_abandoned", createdAt: now - 3 * DAY_MS },
      { ...unnumbered, id: "skillver_withdrawn", createdAt: 0 },
      { ...unnumbered, id: "skillver_running", createdAt: now },
    ];
    for (const each of others) await database.run((executor) => insertVersion(executor, each));
    await retention.removeExpired();
    expect((await rows()).map(({ id }) => id).toSorted()).toEqual([version.id, "skillver_running"].toSorted());
    expect(await stored(archived.id)).toEqual([]);
    expect(await stored(kept.id)).toEqual([version.id]);
    const left = await database.run((executor) => executor.selectFrom("skills").select("id").execute());
    expect(left).toEqual([{ id: kept.id }]);
  });

  test("an erasure deletes what a person uploaded, and a skill keeps the versions of others", async () => {
    const { database, files, skills, create, add, stored, rows } = await open(kind);
    const context = { database, files } as unknown as PersonalContext;
    const own = await create("key_a");
    const shared = await create("key_b");
    const last = await add("key_a", shared.id, true);
    const exported = await Array.fromAsync(versions.read?.(context, personOf("key_a")) ?? []);
    expect(exported).toHaveLength(2);
    expect(exported).toContainEqual({ ...last, content: Buffer.from("zip") });
    expect(await versions.erase?.(context, personOf("key_a"))).toBe(2);
    expect(await versions.erase?.(context, personOf("key_a"))).toBe(0);
    expect(await versions.erase?.(context, personOf())).toBe(0);
    await expect(skills.find({ projectId: PROJECT, id: own.id })).rejects.toMatchObject({ kind: "not-found" });
    const found = await skills.find({ projectId: PROJECT, id: shared.id });
    expect(found).toMatchObject({ latestVersion: 1, shown: { version: 1 } });
    expect(await stored(own.id)).toEqual([]);
    expect(await stored(shared.id)).toEqual((await rows()).map(({ id }) => id));
    expect((await add("key_b", shared.id)).version).toBe(3);
  });

  test("an upload that cannot be stored leaves nothing, and takes no room", async () => {
    const { database, files, author, bundle, rows, create } = await open(kind);
    const full = {
      blobs: { ...files.blobs, putFile: () => Promise.reject(new Error("full")), delete: async () => {} },
      requireRoom: files.requireRoom.bind(files),
    };
    const failing = new Skills(database, full as unknown as FileStore);
    await expect(failing.create(author("key_a"), PROJECT, await bundle())).rejects.toThrow("full");
    expect(await rows()).toEqual([]);
    const huge = { ...(await bundle()), bytes: 1_001 };
    await expect(failing.create(author("key_a"), PROJECT, huge)).rejects.toMatchObject({ kind: "quota-exhausted" });
    expect(await rows()).toEqual([]);
    await create("key_a");
  });

  test("a version of a skill that is deleted meanwhile is not left behind", async () => {
    const { skills, author, bundle, create, files, database, rows, stored } = await open(kind);
    const { id } = await create("key_a");
    const resource = { projectId: PROJECT, id };
    const putFile: typeof files.blobs.putFile = async (key, path) => {
      await skills.delete(author("key_b"), resource);
      await files.blobs.putFile(key, path);
    };
    const { blobs } = files;
    const slow = { blobs: { putFile, delete: blobs.delete.bind(blobs) }, requireRoom: files.requireRoom.bind(files) };
    const other = new Skills(database, slow as unknown as FileStore);
    await expect(other.addVersion(author("key_a"), resource, await bundle(), false)).rejects.toMatchObject({
      kind: "not-found",
    });
    expect(await rows()).toEqual([]);
    expect(await stored(id)).toEqual([]);
  });
});

test("refuses a bundle that is too large for a container before the container costs anything", async () => {
  const version = { skillId: "skill_a", id: "skillver_a", projectId: PROJECT, name: "a", bytes: 2 * 1024 ** 2 };
  const skills = { findVersion: async () => version } as never;
  const requested = [{ type: "skill_reference", skill_id: "skill_a" }] as const;
  const find = (maxBytes: number) => ContainerSkillReader.find(skills, { projectId: PROJECT, maxBytes }, requested);
  await expect(find(1024 ** 2)).rejects.toMatchObject({ code: "invalid_skill", param: "skills[0]" });
  await expect(find(2 * 1024 ** 2)).resolves.toBeInstanceOf(ContainerSkillReader);
});
