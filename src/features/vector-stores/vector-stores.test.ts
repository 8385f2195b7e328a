import { expect, onTestFinished, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { DAY_MS } from "../../kernel/durations.ts";
import { openDatabase } from "../../storage/database.ts";
import { VectorStores } from "./vector-stores.ts";

const databases = useDatabases();

test.each(DATABASE_KINDS)("postpones the expiry by the days that are in force, on %s", async (kind) => {
  const database = openDatabase(await databases.create(kind));
  onTestFinished(() => database.close());
  await database.run(async (executor) => {
    const organization = { id: "org", name: "A", isDefault: 1, createdAt: 1, archivedAt: null };
    await executor.insertInto("organizations").values(organization).execute();
    const project = { id: "proj", organizationId: "org", name: "A", isDefault: 1, createdAt: 1, archivedAt: null };
    await executor.insertInto("projects").values(project).execute();
  });
  const stores = new VectorStores(database);
  const settings = { name: "Tides", description: undefined, metadata: undefined, embeddingModel: "m" };
  const store = await stores.create({ projectId: "proj", ...settings, expiresAfterDays: 30 });
  const later = store.createdAt + DAY_MS;
  await stores.markActive(store, later);
  expect(await stores.find(store)).toMatchObject({ lastActiveAt: later, expiresAt: later + 30 * DAY_MS });
  await stores.update(store, { expiresAfterDays: null });
  // By a search that had read the store before.
  await stores.markActive(store, later + DAY_MS);
  expect(await stores.find(store)).toMatchObject({ lastActiveAt: later + DAY_MS, expiresAt: null });
});
