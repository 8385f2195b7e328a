import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { DAY_MS } from "../../kernel/durations.ts";
import { Keyring } from "../../kernel/encryption/keyring.ts";
import { Secret } from "../../kernel/secret.ts";
import { type Executor, openDatabase } from "../../storage/database.ts";
import { insertOrganization } from "../accounts/organizations/organization-queries.ts";
import { insertProject } from "../accounts/projects/project-queries.ts";
import { insertUser } from "../accounts/users/user-queries.ts";
import { savedChatRetention } from "./saved-chat-retention.ts";
import { SavedChats } from "./saved-chats.ts";
import { SealedChats } from "./sealed-chats.ts";
import { SharedChats } from "./shared-chats.ts";

const databases = useDatabases();
let closing = new AsyncDisposableStack();
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

const SETTINGS = { maxChatsPerPerson: 3, maxSizePerChat: 100, maxSizePerPerson: 150 };
const ADA = { projectId: "proj_a", userId: "user_ada" };
const BOB = { projectId: "proj_a", userId: "user_bob" };
const [OLD, NEW] = [new Secret("o".repeat(32)), new Secret("n".repeat(32))];

async function open(kind: (typeof DATABASE_KINDS)[number]) {
  const options = await databases.create(kind);
  const database = openDatabase(options);
  closing.defer(() => database.close());
  const common = { organizationId: "org", createdAt: 1, archivedAt: null };
  await database.run(async (executor) => {
    await insertOrganization(executor, { id: "org", name: "Org", isDefault: 1, createdAt: 1, archivedAt: null });
    await insertProject(executor, { ...common, id: "proj_a", name: "A", isDefault: 1 });
    await insertProject(executor, { ...common, id: "proj_old", name: "Old", isDefault: 0, archivedAt: 2 });
    for (const name of ["ada", "bob"]) {
      await insertUser(executor, {
        ...{ id: `user_${name}`, organizationId: "org", email: `${name}@example.com`, name, role: "reader" },
        ...{ addedAt: 1, disabledAt: null, lastActiveAt: null, isScimManaged: 0 },
      });
    }
  });
  const withKeys = (...secrets: [Secret, ...Secret[]]) => {
    const keyring = new Keyring(secrets);
    const sealed = new SealedChats(keyring, options.logger);
    const keys = { keyring, sealed };
    const retention = savedChatRetention({ database, keys, logger: options.logger, keepDays: 30 });
    closing.use(retention);
    const parts = { database, sealed, settings: SETTINGS };
    return { chats: new SavedChats(parts), shared: new SharedChats(parts), retention };
  };
  const withoutKeys = () =>
    closing.use(savedChatRetention({ database, keys: undefined, logger: options.logger, keepDays: 30 }));
  return { database, withKeys, withoutKeys, ...withKeys(OLD) };
}

const change = (title: string, revision = 0, content = `{"about":"${title}"}`) => ({ title, content, revision });
const PAGE = { query: undefined, after: undefined, limit: 10 };
const titlesOf = ({ entries }: { entries: readonly { title: string | null }[] }) => entries.map(({ title }) => title);

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("saves chats for one person, encrypted, and finds them by title", async () => {
    const { chats, database } = await open(kind);
    await chats.put({ ...ADA, id: "a" }, change("Badgers dig"));
    await chats.put({ ...ADA, id: "b" }, change("Foxes hunt"));
    await chats.put({ ...BOB, id: "a" }, change("Bob's"));
    expect(titlesOf(await chats.list(ADA, PAGE)).toSorted()).toEqual(["Badgers dig", "Foxes hunt"]);
    expect(titlesOf(await chats.list(ADA, { ...PAGE, query: "bADGER" }))).toEqual(["Badgers dig"]);
    const first = await chats.list(ADA, { ...PAGE, limit: 1 });
    expect(first.hasMore).toBe(true);
    const second = await chats.list(ADA, { ...PAGE, limit: 1, after: first.entries[0]?.id });
    expect(second.hasMore).toBe(false);
    expect([...titlesOf(first), ...titlesOf(second)].toSorted()).toEqual(["Badgers dig", "Foxes hunt"]);
    expect(await chats.find({ ...ADA, id: "a" })).toMatchObject({ revision: 1, content: '{"about":"Badgers dig"}' });
    await expect(chats.find({ ...ADA, projectId: "proj_old", id: "a" })).rejects.toMatchObject({ kind: "not-found" });
    await expect(chats.find({ ...BOB, id: "b" })).rejects.toMatchObject({ code: "chat_not_found" });
    const [row] = await database.run((executor) => executor.selectFrom("savedChats").selectAll().execute());
    expect(Buffer.concat([row?.title ?? Buffer.of(), row?.content ?? Buffer.of()]).includes("Badgers")).toBe(false);
  });

  test("counts shared copies within the bounds, encrypts them, and deletes them with an expired chat", async () => {
    const { chats, shared, retention, database } = await open(kind);
    const place = { ...ADA, id: "a" };
    await chats.put(place, change("Badgers dig"));
    const id = await shared.share(place, { title: "Badgers dig", content: "Badgers".repeat(2) });
    expect(await shared.share(place, { title: "Badgers dig", content: "Badgers" })).toBe(id);
    expect(await shared.find({ projectId: "proj_a", id })).toMatchObject({ author: "ada", content: "Badgers" });
    await expect(shared.find({ projectId: "proj_old", id })).rejects.toMatchObject({ code: "shared_chat_not_found" });
    await chats.arrange(place, { folder: "Badgers", isPinned: true });
    const rows = await database.run((executor) => executor.selectFrom("savedChats").selectAll().execute());
    const stored = rows.flatMap(({ title, content, folder }) => [title, content, folder ?? Buffer.of()]);
    expect(Buffer.concat(stored).includes("Badgers")).toBe(false);
    const large = { title: "", content: "x".repeat(101) };
    await expect(shared.share(place, large)).rejects.toMatchObject({ code: "chat_too_large" });
    await chats.put({ ...ADA, id: "b" }, change("b"));
    await expect(chats.put({ ...ADA, id: "c" }, change("c"))).rejects.toMatchObject({ code: "too_many_chats" });
    // The copy is newer than the chat.
    const day = (executor: Executor) =>
      executor.updateTable("savedChats").set({ updatedAt: 1 }).where("id", "=", "a").execute();
    await database.run(day);
    await retention.removeExpired();
    await expect(shared.find({ projectId: "proj_a", id })).rejects.toMatchObject({ code: "shared_chat_not_found" });
  });

  test("refuses a change that another one came before", async () => {
    const { chats } = await open(kind);
    const place = { ...ADA, id: "a" };
    await chats.put(place, change("One"));
    const both = await Promise.allSettled([chats.put(place, change("Two", 1)), chats.put(place, change("Three", 1))]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await expect(chats.put(place, change("New"))).rejects.toMatchObject({ kind: "conflict", code: "chat_changed" });
    expect(await chats.find(place)).toMatchObject({ revision: 2 });
    await chats.delete(place);
    await expect(chats.put(place, change("Late", 2))).rejects.toMatchObject({ code: "chat_not_found" });
    await expect(chats.delete(place)).rejects.toMatchObject({ code: "chat_not_found" });
  });

  test("bounds the size of a chat, and the number and size of a person's chats", async () => {
    const { chats } = await open(kind);
    const put = (id: string, bytes: number, revision = 0) =>
      chats.put({ ...ADA, id }, change(id, revision, "x".repeat(bytes)));
    await expect(put("a", 101)).rejects.toMatchObject({ code: "chat_too_large" });
    await put("a", 100);
    await expect(put("b", 51)).rejects.toMatchObject({ code: "chats_too_large" });
    await put("a", 20, 1);
    await put("b", 60);
    await put("c", 60);
    await expect(put("d", 1)).rejects.toMatchObject({ code: "too_many_chats" });
    await chats.put({ ...BOB, id: "d" }, change("d", 0, "x".repeat(100)));
    expect(await chats.deleteAll(ADA)).toBe(3);
    expect(titlesOf(await chats.list(BOB, PAGE))).toEqual(["d"]);
  });

  test("deletes chats that did not change for the configured days, and those of archived projects", async () => {
    const { chats, retention } = await open(kind);
    await chats.put({ ...ADA, id: "a" }, change("Kept"));
    await chats.put({ ...ADA, projectId: "proj_old", id: "b" }, change("Archived"));
    await retention.removeExpired();
    expect(titlesOf(await chats.list(ADA, PAGE))).toEqual(["Kept"]);
    expect(titlesOf(await chats.list({ ...ADA, projectId: "proj_old" }, PAGE))).toEqual([]);
    await retention.removeExpired(Date.now() + 31 * DAY_MS);
    expect(titlesOf(await chats.list(ADA, PAGE))).toEqual([]);
  });

  test("deletes earlier chats where none are saved any more", async () => {
    const { chats, withoutKeys } = await open(kind);
    await chats.put({ ...ADA, id: "a" }, change("Old"));
    const retention = withoutKeys();
    await retention.removeExpired(Date.now() + 29 * DAY_MS);
    expect(titlesOf(await chats.list(ADA, PAGE))).toEqual(["Old"]);
    await retention.removeExpired(Date.now() + 31 * DAY_MS);
    expect(titlesOf(await chats.list(ADA, PAGE))).toEqual([]);
  });

  test("encrypts chats of a former key with the current one", async () => {
    const { chats, withKeys } = await open(kind);
    for (const id of ["a", "b"]) await chats.put({ ...ADA, id }, change(id));
    await chats.arrange({ ...ADA, id: "a" }, { folder: "Work", isPinned: false });
    expect(titlesOf(await withKeys(NEW).chats.list(ADA, PAGE))).toEqual([null, null]);
    await withKeys(NEW, OLD).retention.removeExpired();
    const rotated = withKeys(NEW).chats;
    expect(titlesOf(await rotated.list(ADA, PAGE)).toSorted()).toEqual(["a", "b"]);
    expect(await rotated.find({ ...ADA, id: "a" })).toMatchObject({ folder: "Work" });
    expect(await rotated.find({ ...ADA, id: "b" })).toMatchObject({ revision: 1, content: '{"about":"b"}' });
    await expect(chats.find({ ...ADA, id: "b" })).rejects.toMatchObject({ code: "chat_not_readable" });
  });
});
