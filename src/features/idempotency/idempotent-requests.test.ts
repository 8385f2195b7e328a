import { expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { openDatabase } from "../../storage/database.ts";
import { IdempotentRequests } from "./idempotent-requests.ts";

const databases = useDatabases();

test.each(DATABASE_KINDS)("keeps requests of the operator to two organizations apart on %s", async (kind) => {
  const database = openDatabase(await databases.create(kind));
  await using _closed = { [Symbol.asyncDispose]: () => database.close() };
  await database.migrate();
  const requests = new IdempotentRequests(database);
  const request = { keyId: "key_operator", method: "POST", path: "/v1/organization/projects", idempotencyKey: "a" };
  for (const organizationId of ["org_a", "org_b"]) {
    const first = await requests.begin({ ...request, organizationId, body: { name: "A" } });
    if (!("end" in first)) throw new Error("answered for another organization");
    await first.end(200, organizationId);
    const again = await requests.begin({ ...request, organizationId, body: { name: "A" } });
    expect(again).toEqual({ status: 200, body: organizationId });
  }
});

test.each(DATABASE_KINDS)("refuses further requests of a key whose answers are large together on %s", async (kind) => {
  const database = openDatabase(await databases.create(kind));
  await using _closed = { [Symbol.asyncDispose]: () => database.close() };
  await database.migrate();
  const requests = new IdempotentRequests(database);
  const common = { organizationId: "org_a", method: "POST", path: "/v1/evals", body: {} };
  const begin = (idempotencyKey: string, keyId = "key_a", at = requests) =>
    at.begin({ ...common, keyId, idempotencyKey });
  const answer = "a".repeat(256 * 1024);
  for (let index = 0; index < 256; index += 1) {
    const first = await begin(`${index}`);
    if (!("end" in first)) throw new Error("answered before");
    await first.end(200, answer);
  }
  const refusal = { kind: "quota-exhausted", message: expect.stringContaining("have 64 MiB, the limit") };
  await expect(begin("further")).rejects.toMatchObject(refusal);
  await expect(begin("further", "key_a", new IdempotentRequests(database))).rejects.toMatchObject(refusal);
  expect(await begin("0")).toEqual({ status: 200, body: answer });
  expect(await begin("further", "key_b")).toHaveProperty("end");
  // Nothing of the refused ones stays.
  await database.run((executor) => executor.deleteFrom("idempotentRequests").where("keyId", "=", "key_a").execute());
  expect(await begin("further", "key_a", new IdempotentRequests(database))).toHaveProperty("end");
});
