import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { listOperations } from "../reference/list-operations.ts";
import { compareOperations } from "./compare-operations.ts";
import { type DocumentedOperations, LISTED_DOCUMENT, readDocument } from "./openai-document.ts";
import { readSdk } from "./sdk-operations.ts";

const served = async () => (await listOperations()).map(({ method, path }) => `${method.toUpperCase()} ${path}`);

test("compares paths whatever their parameters are called", () => {
  const ours = ["GET /v1/files/{file}", "POST /v1/files"];
  expect(compareOperations(ours, ["GET /files/{file_id}", "DELETE /files/{file_id}"])).toEqual({
    present: 1,
    missing: ["DELETE /files/{file_id}"],
  });
});

test("reads the living operations of a document", async () => {
  const directory = await mkdtemp(join(tmpdir(), "openai-document-"));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(directory, { recursive: true }));
  const file = join(directory, "openapi.yaml");
  await writeFile(
    file,
    `info: { version: 9.9.9 }
paths:
  /files: { get: {}, parameters: [], post: { deprecated: true } }
  /threads/{thread_id}: { get: {} }
  /responses: { post: {} }
  /responses?beta=true: { post: {} }
`,
  );
  expect(readDocument(file)).toEqual({ version: "9.9.9", operations: ["GET /files", "POST /responses"] });
});

test("knows the requests of the installed SDK", () => {
  const { operations } = readSdk(resolve(import.meta.dirname, "../../node_modules/openai"));
  const wanted = ["POST /chat/completions", "GET /files", "DELETE /files/{file}", "POST /vector_stores/{id}/search"];
  expect(compareOperations(operations, wanted).missing).toEqual([]);
  expect(operations.length).toBeGreaterThan(300);
});

test("the service has as many operations of OpenAI's document as it had", async () => {
  const { operations } = JSON.parse(readFileSync(LISTED_DOCUMENT, "utf8")) as DocumentedOperations;
  const { present } = compareOperations(await served(), operations);
  expect(present).toBeGreaterThanOrEqual(186);
});
