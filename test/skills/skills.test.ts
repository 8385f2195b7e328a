/** Skills with the official client: uploads, versions, and code that reads them. */

import type OpenAI from "openai";
import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SANDBOX_SETTING } from "../support/service/os-sandbox.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";
import { manifest, zipOf } from "../support/skills/zip-entries.ts";

const READ = "print(open('/mnt/skills/tables/scripts/read.py').read())";
const WRITE = "open('/mnt/skills/tables/SKILL.md', 'w')";
const REMOVE = "import os\nos.remove('/mnt/skills/tables/scripts/read.py')";
const call = (code: string) => `{ name: code_interpreter, arguments: { code: ${JSON.stringify(code)} } }`;
const CONFIG = `
builtin_models: false
code_interpreter: { sandbox: ${SANDBOX_SETTING}, max_sessions: 1, max_file_megabytes: 1 }
files: { max_size_per_project: 3MB }
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "/a script/", text: "It has a script." }
          - { match_tool: "/PermissionError/", text: "It cannot be changed." }
          - { match: "read", tool_calls: [${call(READ)}] }
          - { match: "write", tool_calls: [${call(WRITE)}] }
          - { match: "remove", tool_calls: [${call(REMOVE)}] }
          - { text: "No tool." }
`;

let service: Service;
let client: OpenAI;
let stranger: OpenAI;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
  client = service.client({ maxRetries: 0 });
  const { projects } = administrator(service);
  const { id } = await projects.create({ name: "Other" });
  const account = await projects.serviceAccounts.create(id, { name: "other" });
  stranger = service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 });
});
afterAll(() => service?.stop());

const zipFile = (name = "tables", description?: string, content: string | Buffer = "# a script") =>
  toFile(
    zipOf([
      { name: `${name}/SKILL.md`, content: manifest(name, description) },
      { name: `${name}/scripts/read.py`, content },
    ]),
    "skill.zip",
  );
const create = async (...parts: Parameters<typeof zipFile>) => client.skills.create({ files: await zipFile(...parts) });
const textOf = async (response: Response) => Buffer.from(await response.arrayBuffer()).toString("latin1");

test("creates a skill from a zip archive, adds versions and chooses the default", async () => {
  const created = await create();
  expect(created).toEqual({
    ...{ id: expect.stringMatching(/^skill_/), object: "skill", created_at: expect.any(Number) },
    ...{ name: "tables", description: "Reads tables.", default_version: "1", latest_version: "1" },
  });
  const { id } = created;
  const second = await client.skills.versions.create(id, { files: await zipFile("tables", "Reads more.") });
  expect(second).toMatchObject({ object: "skill.version", skill_id: id, version: "2", description: "Reads more." });
  expect(await client.skills.retrieve(id)).toMatchObject({ default_version: "1", latest_version: "2" });
  const third = await client.skills.versions.create(id, { files: await zipFile("other"), default: true });
  expect(await client.skills.retrieve(id)).toMatchObject({ name: "other", default_version: "3" });
  expect(await client.skills.update(id, { default_version: "2" })).toMatchObject({ description: "Reads more." });
  const versions = await Array.fromAsync(client.skills.versions.list(id, { limit: 2 }));
  expect(versions.map(({ version }) => version)).toEqual(["3", "2", "1"]);
  const ascending = await Array.fromAsync(client.skills.versions.list(id, { limit: 1, order: "asc" }));
  expect(ascending.map(({ version }) => version)).toEqual(["1", "2", "3"]);
  expect(await client.skills.versions.retrieve("3", { skill_id: id })).toEqual(third);
  await expect(client.skills.versions.delete("2", { skill_id: id })).rejects.toMatchObject({
    status: 400,
    code: "skill_version_is_default",
  });
  expect(await client.skills.versions.delete("3", { skill_id: id })).toEqual({
    ...{ id: third.id, object: "skill.version.deleted", deleted: true, version: "3" },
  });
  const fourth = await client.skills.versions.create(id, { files: await zipFile() });
  expect(fourth.version).toBe("4");
  expect(await client.skills.delete(id)).toEqual({ id, object: "skill.deleted", deleted: true });
  await expect(client.skills.retrieve(id)).rejects.toMatchObject({ status: 404 });
  await expect(client.skills.versions.content.retrieve("1", { skill_id: id })).rejects.toMatchObject({ status: 404 });
});

test("ends a skill with its last version", async () => {
  const { id } = await create();
  await client.skills.versions.delete("1", { skill_id: id });
  await expect(client.skills.retrieve(id)).rejects.toMatchObject({ status: 404, code: "skill_not_found" });
});

test("creates a skill from files with their paths, and gives them back as a zip archive", async () => {
  const files = [
    await toFile(Buffer.from(manifest("notes")), "notes/SKILL.md"),
    await toFile(Buffer.from(""), "notes/empty.txt"),
    await toFile(Buffer.from("text"), "notes/references/a.md"),
  ];
  const { id, name } = await client.skills.create({ files });
  expect(name).toBe("notes");
  const response = await client.skills.content.retrieve(id);
  expect(response.headers.get("content-type")).toBe("application/zip");
  const zip = await textOf(response);
  expect(zip.slice(0, 4)).toBe("PK\u0003\u0004");
  for (const path of ["notes/SKILL.md", "notes/empty.txt", "notes/references/a.md"]) expect(zip).toContain(path);
  expect(await textOf(await client.skills.versions.content.retrieve("1", { skill_id: id }))).toBe(zip);
  await client.skills.delete(id);
});

test("lists the skills of the project, and hides them from others", async () => {
  const { id } = await create();
  const other = await create();
  const listed = await Array.fromAsync(client.skills.list({ limit: 1 }));
  expect(listed.map((each) => each.id).toSorted()).toEqual([id, other.id].toSorted());
  expect((await stranger.skills.list()).data).toEqual([]);
  const attempts = [
    stranger.skills.retrieve(id),
    stranger.skills.update(id, { default_version: "1" }),
    stranger.skills.delete(id),
    stranger.skills.content.retrieve(id),
    stranger.skills.versions.list(id),
    stranger.skills.versions.create(id, { files: await zipFile() }),
    stranger.skills.versions.retrieve("1", { skill_id: id }),
    stranger.skills.versions.delete("1", { skill_id: id }),
    stranger.skills.versions.content.retrieve("1", { skill_id: id }),
    stranger.skills.list({ after: id }),
    stranger.containers.create({ name: "c", skills: [{ type: "skill_reference", skill_id: id }] }),
  ];
  for (const result of await Promise.allSettled(attempts)) {
    const { status, param } = (result as PromiseRejectedResult).reason as { status: number; param: string };
    expect(param === "after" ? 404 : status).toBe(404);
  }
  expect(await client.skills.retrieve(id)).toMatchObject({ default_version: "1" });
  await client.skills.delete(id);
  await client.skills.delete(other.id);
});

test("gives versions that are added at once different numbers", async () => {
  const { id } = await create();
  const files = await zipFile();
  const added = await Promise.all(Array.from({ length: 8 }, () => client.skills.versions.create(id, { files })));
  expect(added.map(({ version }) => Number(version)).toSorted()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  await client.skills.delete(id);
});

test("counts bundles against the room of the project, until they are deleted", async () => {
  const content = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)));
  const large = Buffer.concat(Array.from({ length: 25 }, (_, index) => content.map((byte) => byte ^ index)));
  const { id } = await create("large", "Large.", large);
  await expect(create("large", "Large.", large)).rejects.toMatchObject({ status: 429, code: "insufficient_quota" });
  const file = await toFile(large, "a.bin");
  await expect(client.files.create({ file, purpose: "user_data" })).rejects.toMatchObject({ status: 429 });
  await client.skills.delete(id);
  const stored = await client.files.create({ file, purpose: "user_data" });
  await client.files.delete(stored.id);
});

const form = (files: Record<string, Blob>, fields: Record<string, string> = {}) => {
  const body = new FormData();
  for (const [name, value] of Object.entries(files)) body.append("files[]", value, name);
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  return body;
};

test.each([
  ["a path upward", form({ "../SKILL.md": new Blob([manifest("a")]) }), "segment that is empty"],
  ["an absolute path", form({ "/SKILL.md": new Blob([manifest("a")]) }), "is absolute"],
  ["a Windows path", form({ "a\\SKILL.md": new Blob([manifest("a")]) }), "forbidden characters"],
  ["no SKILL.md", form({ "a.md": new Blob(["a"]) }), "no SKILL.md"],
  ["no zip archive", form({ "a.zip": new Blob(["a"]) }), "cannot be read"],
  ["another field", form({ "SKILL.md": new Blob([manifest("a")]) }, { a: "b" }), "Unknown parameter: 'a'"],
  ["a text in place of files", form({}, { default: "true" }), "Unknown parameter: 'default'"],
])("refuses an upload with %s", async (_, body, message) => {
  const answer = await service.fetch("/v1/skills", { method: "POST", body });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain(message);
});

test("records changes in the audit log, with their author", async () => {
  const { id } = await create();
  await client.skills.versions.create(id, { files: await zipFile(), default: true });
  await client.skills.update(id, { default_version: "1" });
  // Nothing changes, and nothing is written.
  await client.skills.update(id, { default_version: "1" });
  await client.skills.versions.delete("2", { skill_id: id });
  await client.skills.delete(id);
  const { auditLogs } = administrator(service);
  const { data } = await auditLogs.list({ resource_ids: [id], limit: 10 });
  expect(data.map(({ type }) => type as string).toReversed()).toEqual([
    ...["skill.created", "skill.version.created", "skill.updated", "skill.version.deleted", "skill.deleted"],
  ]);
  expect(data[0]?.actor).toMatchObject({ type: "api_key" });
});

const ask = (input: string, container: object | string) =>
  client.responses.create({
    ...{ model: "agent", input },
    tools: [{ type: "code_interpreter", container: container as { type: "auto" } }],
  });

test("mounts skills into containers, where code reads and does not change them", async () => {
  const { id } = await create();
  const skills = [{ type: "skill_reference" as const, skill_id: id, version: "latest" }];
  const container = await client.containers.create({ name: "with a skill", skills });
  expect((await ask("read", container.id)).output_text).toBe("It has a script.");
  expect((await ask("write", container.id)).output_text).toBe("It cannot be changed.");
  expect((await ask("remove", container.id)).output_text).toBe("It cannot be changed.");
  expect((await client.containers.files.list(container.id)).data).toEqual([]);
  const auto = await ask("read", { type: "auto", skills });
  expect(auto.output_text).toBe("It has a script.");
  await client.skills.delete(id);
  // The container keeps what it was created with.
  expect((await ask("read", container.id)).output_text).toBe("It has a script.");
  await expect(ask("read", { type: "auto", skills })).rejects.toMatchObject({ status: 404, code: "skill_not_found" });
});

test("takes skills within the request that creates a container", async () => {
  const data = zipOf([
    { name: "SKILL.md", content: manifest("any") },
    { name: "scripts/read.py", content: "# a script" },
  ]).toString("base64");
  const source = { type: "base64", media_type: "application/zip", data } as const;
  const skill = { type: "inline", name: "tables", description: "Reads tables.", source } as const;
  const container = await client.containers.create({ name: "inline", skills: [skill] });
  expect((await ask("read", container.id)).output_text).toBe("It has a script.");
  const twice = client.containers.create({ name: "twice", skills: [skill, skill] });
  await expect(twice).rejects.toMatchObject({ status: 400, param: "skills[1]" });
  const broken = { ...skill, source: { ...source, data: "bm8gemlw" } };
  const refused = client.containers.create({ name: "broken", skills: [broken] });
  await expect(refused).rejects.toMatchObject({ status: 400, code: "invalid_skill", param: "skills[0]" });
  await expect(ask("read", { type: "auto", skills: [skill] })).rejects.toMatchObject({ status: 400 });
});

test("refuses skills that are larger than a container", async () => {
  const { id } = await create("zeros", "Zeros.", Buffer.alloc(2 * 1024 ** 2));
  const skills = [{ type: "skill_reference" as const, skill_id: id }];
  const before = (await client.containers.list()).data.length;
  const refused = client.containers.create({ name: "large", skills });
  await expect(refused).rejects.toMatchObject({ status: 400, param: "skills[0]" });
  expect((await client.containers.list()).data).toHaveLength(before);
  await client.skills.delete(id);
});
