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
