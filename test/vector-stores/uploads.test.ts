/** Uploads in parts through the official client. */

import { createHash } from "node:crypto";
import type OpenAI from "openai";
import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sharedPostgres } from "../support/databases/postgres.ts";
import { type Service, startService } from "../support/service/service.ts";
import { administrator, caller } from "../support/service/team-services.ts";

const files = "files: { max_file_size: 1MB, max_size_per_project: 2MB }";

let service: Service;
let client: OpenAI;
beforeAll(async () => {
  // A database in which transactions run side by side.
  const environment = { DATABASE_URL: (await (await sharedPostgres()).createDatabase()).reveal() };
  service = await startService({ config: `builtin_models: false\n${files}\n`, environment });
  client = service.client({ maxRetries: 0 });
});
afterAll(() => service.stop());

const begin = (bytes: number, filename = "tides.md") =>
  client.uploads.create({ bytes, filename, purpose: "user_data" as "assistants", mime_type: "text/markdown" });
const part = async (upload: string, text: string) =>
  (await client.uploads.parts.create(upload, { data: await toFile(Buffer.from(text), "part") })).id;

test("puts parts together in the order of the completion", async () => {
  const upload = await begin(11);
  expect(upload).toMatchObject({ object: "upload", status: "pending", bytes: 11, file: null });
  expect(upload.expires_at).toBe(upload.created_at + 3600);
  const [second, first] = [await part(upload.id, "world"), await part(upload.id, "Hello ")];
  const md5 = createHash("md5").update("Hello world").digest("hex");
  const completed = await client.uploads.complete(upload.id, { part_ids: [first, second], md5 });
  expect(completed).toMatchObject({
    status: "completed",
    file: { filename: "tides.md", bytes: 11, purpose: "user_data" },
  });
  expect(await (await client.files.content(completed.file?.id ?? "")).text()).toBe("Hello world");
  await expect(client.uploads.cancel(upload.id)).rejects.toMatchObject({ status: 400 });
  await expect(part(upload.id, "more")).rejects.toMatchObject({ status: 400 });
});

test("refuses parts beyond the announced size, unknown parts and another hash", async () => {
  const upload = await begin(5);
  await expect(part(upload.id, "too long")).rejects.toMatchObject({ status: 400, param: "data" });
  const id = await part(upload.id, "abc");
  const complete = (part_ids: string[], md5?: string) =>
    client.uploads.complete(upload.id, { part_ids, ...(md5 && { md5 }) });
  await expect(complete([id])).rejects.toMatchObject({ status: 400, message: expect.stringContaining("3 bytes") });
  await expect(complete([id, "part_x"])).rejects.toMatchObject({ status: 400, param: "part_ids[1]" });
  const rest = await part(upload.id, "de");
  await expect(complete([id, rest], "0".repeat(32))).rejects.toMatchObject({ status: 400, param: "md5" });
  expect((await complete([id, rest])).status).toBe("completed");
});

test("refuses a part that is listed more than once", async () => {
  const upload = await begin(9);
  const id = await part(upload.id, "abc");
  const refused = { status: 400, param: "part_ids[1]", message: expect.stringContaining("more than once") };
  await expect(client.uploads.complete(upload.id, { part_ids: [id, id, id] })).rejects.toMatchObject(refused);
  const others = [await part(upload.id, "def"), await part(upload.id, "ghi")];
  expect((await client.uploads.complete(upload.id, { part_ids: [id, ...others] })).status).toBe("completed");
});

test("cancels, and counts open uploads for the project's limit", async () => {
  await expect(begin(2_000_000)).rejects.toMatchObject({ status: 400, param: "bytes" });
  const uploads = [await begin(900_000), await begin(900_000)];
  await expect(begin(900_000)).rejects.toMatchObject({ status: 429, code: "insufficient_quota" });
  for (const { id } of uploads) expect((await client.uploads.cancel(id)).status).toBe("cancelled");
  expect((await client.uploads.cancel((await begin(900_000)).id)).status).toBe("cancelled");
});

test("counts uploads and parts that arrive at the same time", async () => {
  const granted = async <Result>(requests: Promise<Result>[]) =>
    (await Promise.allSettled(requests)).flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const uploads = await granted(Array.from({ length: 8 }, () => begin(900_000)));
  expect(uploads).toHaveLength(2);
  const id = uploads[0]?.id ?? "";
  const parts = await granted(Array.from({ length: 8 }, () => part(id, "x".repeat(300_000))));
  expect(parts).toHaveLength(3);
  expect((await client.uploads.complete(id, { part_ids: parts })).file?.bytes).toBe(900_000);
  await client.uploads.cancel(uploads[1]?.id ?? "");
});

test("hides uploads from other projects", async () => {
  const { id: project } = await administrator(service).projects.create({ name: "Other" });
  const account = await administrator(service).projects.serviceAccounts.create(project, { name: "app" });
  const other = caller(service, account.api_key?.value);
  const { id } = await begin(3);
  const data = await toFile(Buffer.from("abc"), "part");
  await expect(other.uploads.parts.create(id, { data })).rejects.toMatchObject({ status: 404 });
  await expect(other.uploads.complete(id, { part_ids: ["part_x"] })).rejects.toMatchObject({ status: 404 });
  await expect(other.uploads.cancel(id)).rejects.toMatchObject({ status: 404 });
});
