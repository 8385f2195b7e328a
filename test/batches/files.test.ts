/** Files through the official client, on both databases. */

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type OpenAI from "openai";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator } from "../support/service/team-services.ts";

const CONFIG = "builtin_models: false\nfiles: { max_file_size: 1MB, max_size_per_project: 2MB }\n";
const databases = useDatabases();

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let service: Service;
  let client: OpenAI;
  beforeAll(async () => {
    const { url } = await databases.create(kind);
    const environment: Record<string, string> = url === undefined ? {} : { DATABASE_URL: url.reveal() };
    service = await startService({ config: CONFIG, environment });
    client = service.client({ maxRetries: 0 });
  });
  afterAll(() => service?.stop());

  const upload = (text: string | Uint8Array, as: OpenAI = client) =>
    toFile(Buffer.from(text), "lines.jsonl").then((file) => as.files.create({ file, purpose: "batch" }));

  async function otherProject(): Promise<OpenAI> {
    const admin = administrator(service);
    const project = await admin.projects.create({ name: "Other" });
    const account = await admin.projects.serviceAccounts.create(project.id, { name: "other" });
    return service.client({ apiKey: account.api_key?.value ?? "", maxRetries: 0 });
  }

  test("stores, lists, reads and deletes a file, which only the service's user can read", async () => {
    const text = '{"custom_id":"ä"}\n'.repeat(2000);
    const file = await upload(text);
    expect(file).toMatchObject({ object: "file", purpose: "batch", filename: "lines.jsonl", status: "processed" });
    expect(file.bytes).toBe(Buffer.byteLength(text));
    expect(file.expires_at).toBe(file.created_at + 30 * 86_400);
    expect(await client.files.retrieve(file.id)).toEqual(file);
    expect(await (await client.files.content(file.id)).text()).toBe(text);
    const folder = join(service.dataDirectory, "files", "files");
    expect(await readdir(folder)).toContain(file.id);
    expect((await stat(join(folder, file.id))).mode & 0o777).toBe(0o600);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
    expect(await readdir(folder)).not.toContain(file.id);
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
    await expect(client.files.delete(file.id)).rejects.toMatchObject({ status: 404 });
  });

  test("refuses batches once the results of former ones exceed the project's limit", async () => {
    const other = await otherProject();
    const line = (index: number) =>
      JSON.stringify({
        ...{ custom_id: `${index}`, method: "POST", url: "/v1/chat/completions" },
        body: { model: "none", messages: [{ role: "user", content: "x".repeat(2_000) }] },
      });
    const input = await upload(Array.from({ length: 440 }, (_, index) => line(index)).join("\n"), other);
    await upload("x".repeat(1_000_000), other);
    await upload("x".repeat(999_000 - input.bytes), other);
    const create = () =>
      other.batches.create({
        input_file_id: input.id,
        endpoint: "/v1/chat/completions",
        completion_window: "24h",
      });
    const { id } = await create();
    await expect.poll(async () => (await other.batches.retrieve(id)).status).toBe("completed");
    await expect(create()).rejects.toMatchObject({ status: 429, code: "insufficient_quota" });
    await other.files.delete((await other.batches.retrieve(id)).error_file_id ?? "");
    await expect(create()).resolves.toMatchObject({ status: "validating" });
  });

  test("pages through files, newest first, and filters them by purpose", async () => {
    const created = [await upload("1"), await upload("2"), await upload("3")];
    const other = await client.files.create({ file: await toFile(Buffer.from("x"), "a.txt"), purpose: "user_data" });
    const listed = await Array.fromAsync(client.files.list({ limit: 2, purpose: "batch" }));
    expect(listed.map(({ id }) => id)).toEqual(created.map(({ id }) => id).reverse());
    const all = await Array.fromAsync(client.files.list({ order: "asc" }));
    expect(all.at(-1)?.id).toBe(other.id);
    await expect(client.files.list({ after: "file-none" })).rejects.toMatchObject({ status: 400, param: "after" });
    for (const { id } of all) await client.files.delete(id);
  });

  test("answers for another project's file as for a missing one", async () => {
    const file = await upload("{}");
    const stranger = await otherProject();
    const missing = await client.files.retrieve("file-missing").catch((error) => error.message);
    for (const call of [
      () => stranger.files.retrieve(file.id),
      () => stranger.files.content(file.id),
      () => stranger.files.delete(file.id),
    ]) {
      const failure = await call().catch((error) => error);
      expect(failure).toMatchObject({ status: 404 });
      expect(failure.message.replace(file.id, "file-missing")).toBe(missing);
    }
    expect((await stranger.files.list()).data).toEqual([]);
    await client.files.delete(file.id);
  });

  test("refuses files that are too large, and those beyond the project's limit", async () => {
    await expect(upload(new Uint8Array(1_200_000))).rejects.toMatchObject({ status: 413 });
    const kept = [await upload(new Uint8Array(900_000)), await upload(new Uint8Array(900_000))];
    const refused = await upload(new Uint8Array(900_000)).catch((error) => error);
    expect(refused).toMatchObject({ status: 429, code: "insufficient_quota" });
    expect(refused.message).toContain("its limit of 2000000");
    // Both fit on their own, and only one of them beside the rest.
    const both = await Promise.allSettled([upload(new Uint8Array(150_000)), upload(new Uint8Array(150_000))]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    for (const file of await Array.fromAsync(client.files.list())) await client.files.delete(file.id);
    expect(await upload(new Uint8Array(900_000))).toMatchObject({ bytes: kept[0]?.bytes });
  });

  test.each([
    ["no purpose", { file: new Blob(["{}"]) }, 400, "purpose"],
    ["an unknown purpose", { file: new Blob(["{}"]), purpose: "fine-tune" }, 400, "purpose"],
    ["no file", { purpose: "batch" }, 400, "file"],
    ["an empty file", { file: new Blob([]), purpose: "batch" }, 400, "file"],
    [
      "a short expiration",
      { file: new Blob(["{}"]), purpose: "batch", "expires_after[seconds]": "10" },
      400,
      /expires/,
    ],
  ] as const)("refuses an upload with %s", async (_name, fields, status, param) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value as Blob);
    const answer = await service.fetch("/v1/files", { method: "POST", body });
    expect(answer.status).toBe(status);
    const { error } = (await answer.json()) as { error: { param: string } };
    expect(error.param).toMatch(param);
  });

  test("keeps a file no longer than the upload asks", async () => {
    const expires_after = { anchor: "created_at", seconds: 3600 } as const;
    const file = await client.files.create({
      file: await toFile(Buffer.from("a"), "a"),
      purpose: "batch",
      expires_after,
    });
    expect(file.expires_at).toBe(file.created_at + 3600);
  });
});
