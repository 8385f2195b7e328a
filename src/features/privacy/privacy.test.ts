import { accountExtensions } from "../../serving/account-extensions.ts";
/** Export and erasure on real data: what an erasure leaves in any column of any table is searched for the person. */

import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { evalItemRow, evalRow, evalRunRow } from "../../../test/support/service/eval-rows.ts";
import { PERSONAL_DATA } from "../../app/personal-data.ts";
import { DAY_MS } from "../../kernel/durations.ts";
import { Keyring } from "../../kernel/encryption/keyring.ts";
import { newId } from "../../kernel/id.ts";
import { Secret } from "../../kernel/secret.ts";
import { type Database, openDatabase } from "../../storage/database.ts";
import { Accounts } from "../accounts/accounts.ts";
import { OPERATOR } from "../accounts/audit/audit.ts";
import { PROJECT_ROLE_IDS } from "../accounts/roles/built-in-roles.ts";
import { Budgets } from "../budgets/budgets.ts";
import { insertConfigurationVersion } from "../configuration/configuration-queries.ts";
import { FileStore } from "../files/file-store.ts";
import { LocalBlobs } from "../files/local-blobs.ts";
import { MailOutbox } from "../mail/mail-outbox.ts";
import { ConversationStore } from "../responses/conversation-store.ts";
import { EventLog } from "../responses/event-log.ts";
import { ResponseStore } from "../responses/response-store.ts";
import { SealedRows } from "../responses/sealed-rows.ts";
import { StoredItems } from "../responses/stored-items.ts";
import { putPassword } from "../sign-on/password-queries.ts";
import { ensureSignOnKey } from "../sign-on/sign-on-key.ts";
import { RequestHistory } from "../usage/request-history.ts";
import { UsageRecorder } from "../usage/usage-recorder.ts";
import { WebhookOutbox } from "../webhooks/webhook-outbox.ts";
import { personalRetention } from "./personal-retention.ts";
import { type ExportedRow, Privacy } from "./privacy.ts";
import type { RetentionSettings } from "./settings.ts";

const databases = useDatabases();
const AUTHOR = { ...OPERATOR, access: undefined };
const ENDPOINT = { url: "http://127.0.0.1:9", secret: new Secret(""), events: ["api_key.created"] as const };
let directory: string;
let closing = new AsyncDisposableStack();
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "parlance-privacy-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

async function open(kind: (typeof DATABASE_KINDS)[number], existing?: Awaited<ReturnType<typeof databases.create>>) {
  const options = existing ?? (await databases.create(kind));
  const database = openDatabase(options);
  closing.defer(() => database.close());
  const { logger } = options;
  const outbox = new WebhookOutbox([{ ...ENDPOINT, events: [...ENDPOINT.events] }]);
  const accounts = new Accounts({ database, logger, extensions: accountExtensions(outbox) });
  closing.defer(() => accounts.close());
  await accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined });
  const scope = await accounts.defaultScope("project");
  const { organizationId, projectId = "" } = scope;
  const history = new RequestHistory({ database, logger, days: 7 });
  closing.defer(() => history.close());
  const folder = join(directory, randomUUID());
  const recorder = new UsageRecorder({ database, directory: folder, logger, onLost: () => {} });
  closing.defer(() => recorder.close());
  const files = new FileStore({ database, blobs: new LocalBlobs(folder), keepDays: 30, maxSizePerProject: 1e9 });
  const content = new SealedRows(new Keyring([new Secret("k".repeat(32))]), logger);
  /** What happens while an erasure waits. */
  const meanwhile: (() => Promise<unknown>)[] = [];
  const flush = async () => {
    await Promise.all([recorder.flush(), history.flush()]);
    await Promise.all(meanwhile.map((work) => work()));
  };
  const { transactions } = accounts;
  const privacy = new Privacy({
    transactions,
    tables: PERSONAL_DATA,
    context: { database, files, content },
    logger,
    flush,
    untilWritten: async () => {},
  });
  const parts = { database, accounts, history, recorder, privacy, organizationId, projectId, files, content, folder };
  return { ...parts, meanwhile };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** Leaves traces of a user in every store. */
async function leaveTraces(service: Opened, name: string, role: "owner" | "member" = "member") {
  const { database, accounts, organizationId, projectId } = service;
  const email = `${name}@example.com`;
  const projects = [{ id: projectId, role: PROJECT_ROLE_IDS.member }];
  const created = await accounts.invites.create(AUTHOR, {
    organizationId,
    email,
    role,
    projects,
    expiresInSeconds: undefined,
  });
  const user = await accounts.invites.accept(OPERATOR, { token: created.token.reveal(), email, name });
  const actor = { ...AUTHOR, userId: user.id, ipAddress: `192.0.2.${name.length}`, userAgent: `Browser of ${name}` };
  const { key } = await accounts.apiKeys.create(actor, {
    scope: { organizationId, kind: "project", projectId, userId: user.id },
    name: `Laptop of ${name}`,
    expiresInSeconds: undefined,
  });
  const keyId = key.id;
  const sessionKeyId = await accounts.transactions.run(actor, (transaction) =>
    ensureSignOnKey(transaction, { organizationId, userId: user.id }, projectId),
  );
  await storeContent(service, [keyId, sessionKeyId], name);
  const version = { version: name.length, createdAt: Date.now(), action: "change", reason: null } as const;
  await database.run((executor) =>
    insertConfigurationVersion(executor, { ...version, actorKeyId: keyId, actorUserId: user.id }, []),
  );
  const group = await accounts.groups.create(actor, organizationId, `Group ${name.length} ${randomUUID()}`);
  await accounts.groups.addMember(AUTHOR, { organizationId, id: group.id }, user.id);
  await accounts.invites.create(actor, {
    organizationId,
    email: `guest-of-${name.length}@example.com`,
    role: "reader",
    projects: [],
    expiresInSeconds: 60,
  });
  await database.run((executor) => putPassword(executor, { userId: user.id, hash: `hash of ${name}`, changedAt: 1 }));
  await database.run((executor) =>
    executor
      .insertInto("externalIdentities")
      .values({
        issuer: "https://issuer.test",
        subject: `subject ${name}`,
        userId: user.id,
        createdAt: 1,
        lastUsedAt: 1,
      })
      .execute(),
  );
  await storeBudgets(service, { user: user.id, email });
  for (const caller of [keyId, user.id]) recordRequest(service, caller, email);
  return { user, keyId, email };
}

/** Stores budgets of the user and the end user, one that alerts the user, and an e-mail about them. */
async function storeBudgets(
  { database, accounts, organizationId }: Opened,
  { user, email }: { user: string; email: string },
): Promise<void> {
  const rules = { recordsEndUsers: true, recordsTags: true, sendsMail: true };
  const budgets = new Budgets(accounts.transactions, rules);
  const common = { kind: "budget", name: null, organizationId, projectId: null, period: "day" } as const;
  const rest = { thresholdCents: 5, isEnforcing: true, startsAt: undefined, alertPercents: undefined };
  const notification = { recipients: [email, "boss@example.com"], subjectPrefix: null };
  for (const [subject, subjectId] of [
    ["user", user],
    ["end_user", email],
    ["organization", null],
  ] as const) {
    await budgets.create(AUTHOR, { ...common, ...rest, subject, subjectId, notification });
  }
  const mail = { type: "test", organizationId, subject: "Budget", body: `The budget of the user ${user} is reached.` };
  const recipients = [email, "boss@example.com"];
  await database.run((executor) => new MailOutbox().add(executor, { ...mail, recipients }, Date.now()));
}

/** Stores a file, a response and a conversation with each of the keys. */
async function storeContent({ database, files, content, projectId }: Opened, keys: string[], name: string) {
  const rows = content;
  const items = new StoredItems({ database, rows, maxContextBytes: 1e6 });
  const storedBytes = { checkRoom: async () => {} };
  const options = { database, rows, items, storedBytes, outbox: new WebhookOutbox([]) };
  const responses = new ResponseStore({ ...options, events: new EventLog(database, rows) });
  const conversations = new ConversationStore(options);
  for (const createdBy of keys) {
    const path = join(directory, randomUUID());
    await writeFile(path, `Secrets of ${name}`);
    const file = { projectId, purpose: "user_data", filename: `${name}.txt`, path, bytes: 11 + name.length } as const;
    await files.create({ ...file, createdBy });
    await responses.insert({
      ...{ projectId, id: newId("resp_"), envelope: { status: "completed" }, isBackground: false, createdBy },
      ...{ previousResponseId: undefined, conversationId: undefined, input: [] },
      output: [{ id: newId("msg_"), type: "message", text: `Answer for ${name}` }],
    });
    await conversations.create({ projectId, id: newId("conv_"), createdBy }, { owner: name }, [
      { id: newId("msg_"), type: "message", text: `Question of ${name}` },
    ]);
  }
}

/** Stores responses of a program, each with the end user that its request named. Returns their IDs. */
async function storeResponses({ database, content: rows, projectId }: Opened, endUsers: (string | undefined)[]) {
  const items = new StoredItems({ database, rows, maxContextBytes: 1e6 });
  const options = { database, rows, items, storedBytes: { checkRoom: async () => {} }, outbox: new WebhookOutbox([]) };
  const responses = new ResponseStore({ ...options, events: new EventLog(database, rows) });
  const ids = endUsers.map(() => newId("resp_"));
  for (const [index, endUser] of endUsers.entries()) {
    await responses.insert({
      ...{ projectId, id: ids[index] ?? "", isBackground: false, createdBy: "key_of_a_program" },
      envelope: { status: "completed", safety_identifier: endUser ?? null },
      ...{ previousResponseId: undefined, conversationId: undefined, input: [] },
      output: [{ id: newId("msg_"), type: "message", text: "Hi" }],
    });
  }
  return ids;
}

function recordRequest(
  {
    recorder,
    history,
    organizationId,
    projectId,
  }: Pick<Opened, "recorder" | "history" | "organizationId" | "projectId">,
  keyId: string,
  email: string,
  model = "parrot",
): void {
  const at = Date.now();
  const common = { organizationId, projectId, keyId, model, deployment: "parrot/1" };
  recorder.record({
    ...common,
    at,
    operation: "chat",
    serviceTier: null,
    isBatch: 0,
    promptTokens: 10,
    cachedTokens: 0,
    completionTokens: 5,
    reasoningTokens: 0,
    characters: 0,
    audioMilliseconds: 0,
    costNanoDollars: 700,
    labels: [{ kind: "end_user", value: email }],
  });
  history.record({
    ...{ ...common, at, id: `req_${randomUUID()}`, operation: "chat/completions", answeredBy: "parrot", status: 200 },
    ...{ outcome: "finished", error: null, attempts: 1, queuedMilliseconds: 0, firstTokenMilliseconds: 1 },
    ...{ durationMilliseconds: 2, promptTokens: 10, cachedTokens: 0, completionTokens: 5, characters: 0 },
    ...{ audioMilliseconds: 0, costNanoDollars: 700, details: { endUser: email } },
  });
}

/** Every cell of every table as text, with its place. */
async function allCells(database: Database): Promise<string[]> {
  return database.run(async (executor) => {
    const plain = executor.withoutPlugins();
    const tables = await plain.introspection.getTables();
    const cells: string[] = [];
    for (const { name } of tables) {
      const rows = await plain
        .selectFrom(name as never)
        .selectAll()
        .execute();
      for (const row of rows as Record<string, unknown>[]) {
        for (const [column, value] of Object.entries(row)) cells.push(`${name}.${column}: ${String(value)}`);
      }
    }
    return cells;
  });
}

async function collect(rows: AsyncIterable<ExportedRow>): Promise<Record<string, object[]>> {
  const collected: Record<string, object[]> = {};
  for await (const { table, row } of rows) collected[table] = [...(collected[table] ?? []), row];
  return collected;
}

const costs = (database: Database) =>
  database.run(async (executor) => {
    const { sum } = await executor
      .selectFrom("usageRollups")
      .select(({ fn }) => fn.sum<number | string>("costNanoDollars").as("sum"))
      .executeTakeFirstOrThrow();
    return Number(sum);
  });

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  test("exports what is stored of a user, without secrets and without other users", async () => {
    const service = await open(kind);
    const ottilie = await leaveTraces(service, "ottilie");
    const { email: other } = await leaveTraces(service, "wyn");
    const reference = { organizationId: service.organizationId, id: ottilie.user.id };
    const exported = await collect(await service.privacy.exportUser(AUTHOR, reference));
    expect(Object.keys(exported).toSorted()).toEqual([
      ...["apiKeys", "auditLogs", "budgets", "configurationVersions", "conversations", "externalIdentities", "files"],
      ...["groupMembers", "invites", "mailDeliveries"],
      ...["projectUsers", "requestHistory", "storedResponses", "usageDimensions", "usageLabels"],
      ...["userPasswords", "users"],
    ]);
    expect(exported.users).toMatchObject([{ id: ottilie.user.id, email: ottilie.email, name: "ottilie" }]);
    expect(exported.requestHistory).toHaveLength(2);
    expect(exported.usageDimensions).toMatchObject([{ costNanoDollars: 700 }, { costNanoDollars: 700 }]);
    const text = JSON.stringify(exported);
    for (const content of ["Question of ottilie", "Answer for ottilie"]) expect(text).toContain(content);
    const [file] = exported.files as [{ content: Buffer }];
    expect(file.content.toString()).toBe("Secrets of ottilie");
    expect(text).not.toContain(other);
    for (const secret of ["keyHash", "tokenHash", '"hash"']) expect(text).not.toContain(secret);
  });

  test("puts the pseudonym into texts of others that quote a user, and leaves those of other organizations", async () => {
    const service = await open(kind);
    const { database, accounts, privacy, organizationId, projectId } = service;
    const ottilie = await leaveTraces(service, "ottilie");
    const elsewhere = await accounts.organizations.create(AUTHOR, "Elsewhere");
    const note = `Ask ${ottilie.email}.`;
    const at = { createdAt: 1, updatedAt: 1 };
    await database.run(async (executor) => {
      await executor
        .insertInto("prompts")
        .values({ id: "prompt_1", projectId, name: "p", description: note, ...at })
        .execute();
      const version = { promptId: "prompt_1", version: 1, content: JSON.stringify({ text: note }), note };
      await executor
        .insertInto("promptVersions")
        .values({ ...version, createdBy: null, createdAt: 1 })
        .execute();
      const definition = JSON.stringify({ graders: [note] });
      const row = { id: "eval_1", projectId, name: note, definition, metadata: JSON.stringify({ owner: note }) };
      await executor
        .insertInto("evals")
        .values({ ...row, createdBy: null, createdAt: 1 })
        .execute();
    });
    for (const organization of [organizationId, elsewhere.organization.id]) {
      await accounts.groups.create(AUTHOR, organization, `Friends of ${ottilie.email}`);
    }
    const reference = { organizationId, id: ottilie.user.id };
    // The rest of what others wrote is theirs, whoever asks for the export.
    const exported = await collect(await privacy.exportUser(AUTHOR, reference));
    expect(exported.prompts).toEqual([{ id: "prompt_1", description: [ottilie.email] }]);
    expect(exported.promptVersions).toEqual([
      { promptId: "prompt_1", version: 1, content: [ottilie.email] },
      { promptId: "prompt_1", version: 1, note: [ottilie.email] },
    ]);
    expect(JSON.stringify(exported)).not.toContain("Ask ");
    const scope = { organizationId, kind: "project", projectId, userId: ottilie.user.id } as const;
    const { secret } = await accounts.apiKeys.create(AUTHOR, { scope, name: "A", expiresInSeconds: undefined });
    const { keyId, userId, access } = await accounts.authenticate(secret.reveal());
    const ofSelf = await collect(await privacy.exportUser({ ...AUTHOR, keyId, userId, access }, reference));
    expect(ofSelf.users).toHaveLength(1);
    expect([ofSelf.prompts, ofSelf.promptVersions]).toEqual([undefined, undefined]);
    const { rows } = await privacy.eraseUser(AUTHOR, reference);
    expect(rows).toMatchObject({ prompts: 1, promptVersions: 2, evals: 3 });
    const naming = (await allCells(database)).filter((cell) => cell.includes(ottilie.email));
    expect(naming.filter((cell) => !cell.startsWith("audit_logs"))).toEqual([
      expect.stringContaining("groups.name: Friends of"),
      expect.stringContaining("groups.name_key: friends of"),
    ]);
  });

  test("replaces parts of a name and address that can only mean the user, and no other words", async () => {
    const service = await open(kind);
    const { database, accounts, privacy, history, recorder, organizationId, projectId } = service;
    const invite = { organizationId, email: "ada.lovelace@example.com", role: "member", projects: [] } as const;
    const { token } = await accounts.invites.create(AUTHOR, { ...invite, expiresInSeconds: undefined });
    const accepted = { token: token.reveal(), email: invite.email, name: "Ada King Lovelace" };
    const user = await accounts.invites.accept(OPERATOR, accepted);
    const store = { projectId, description: null, embeddingModel: "minilm", dimensions: null };
    const metadata = JSON.stringify({ owner: "LOVELACE, Ada", topic: "Lovelace's engine" });
    await database.run(async (executor) => {
      const times = { createdAt: 1, lastActiveAt: 1, expiresAfterDays: null, expiresAt: null, deletedAt: null };
      const row = { ...store, ...times, metadata, version: 1, id: "vs_1", name: "Files of ada.lovelace (work)" };
      await executor.insertInto("vectorStores").values(row).execute();
    });
    const names = ["ada-lovelace", "Ada Lovelace", "ADA KING LOVELACE's", "Ada", "Adam Lovelace", "Books on Ada"];
    for (const name of names) await accounts.groups.create(AUTHOR, organizationId, name);
    await accounts.serviceAccounts.create(
      AUTHOR,
      { organizationId, id: projectId },
      { name: "adalovelace-ci", key: undefined },
    );
    const role = { name: "for Lovelace Ada", permissions: ["organization.read"] as const };
    await accounts.roles.create(AUTHOR, { organizationId, projectId: undefined }, role);
    for (const model of ["ada.lovelace@example.com", "parrot"]) {
      recordRequest(service, "key_of_another", "another", model);
    }
    await Promise.all([history.flush(), recorder.flush()]);
    const { pseudonym } = await privacy.eraseUser(AUTHOR, { organizationId, id: user.id });
    const cells = (await allCells(database)).filter((cell) => !cell.startsWith("audit_logs"));
    const naming = cells.filter((cell) => /lovelace|\bada\b/i.test(cell) && /: /.test(cell));
    expect(naming.map((cell) => cell.replaceAll(pseudonym, "…")).toSorted()).toEqual(
      [
        "groups.name: Ada",
        "groups.name: Adam Lovelace",
        "groups.name: Books on Ada",
        "groups.name_key: ada",
        "groups.name_key: adam lovelace",
        "groups.name_key: books on ada",
        'vector_stores.metadata: {"owner":"…","topic":"Lovelace\'s engine"}',
      ].toSorted(),
    );
    expect(cells).toContain(`vector_stores.name: Files of ${pseudonym} (work)`);
    expect(cells).toContain(`request_dimensions.model: ${pseudonym}`);
  });

  test("leaves formats, models and texts as they are when a name or an end user is made of their words", async () => {
    const service = await open(kind);
    const { database, accounts, privacy, history, recorder, organizationId, projectId } = service;
    const content = JSON.stringify({ model: "gpt-4o", messages: [{ type: "input_text", text: "You are helpful" }] });
    await database.run(async (executor) => {
      const prompt = { id: "prompt_1", projectId, name: "p", description: null, createdAt: 1, updatedAt: 1 };
      await executor.insertInto("prompts").values(prompt).execute();
      const version = { promptId: "prompt_1", version: 1, content, note: null, createdBy: null, createdAt: 1 };
      await executor.insertInto("promptVersions").values(version).execute();
    });
    recordRequest(service, "key_of_another", "another", "gpt-4o");
    await Promise.all([history.flush(), recorder.flush()]);
    for (const name of ["Role Member", "gpt 4o", "Input Text", '"role": "member"']) {
      const invite = { organizationId, email: `${randomUUID()}@example.com`, role: "member", projects: [] } as const;
      const { token } = await accounts.invites.create(AUTHOR, { ...invite, expiresInSeconds: undefined });
      const user = await accounts.invites.accept(OPERATOR, { token: token.reveal(), email: invite.email, name });
      await privacy.eraseUser(AUTHOR, { organizationId, id: user.id });
    }
    for (const endUser of ["You are helpful", "@", "You helpful"]) {
      const exported = await collect(await privacy.exportEndUser(AUTHOR, organizationId, endUser));
      expect(Object.keys(exported)).toEqual([]);
      await privacy.eraseEndUser(AUTHOR, organizationId, endUser);
    }
    const cells = await allCells(database);
    expect(cells).toContain(`prompt_versions.content: ${content}`);
    expect(cells).toContain("usage_dimensions.model: gpt-4o");
    const { entries } = await accounts.auditTrail.list(organizationId, {}, { limit: 100, order: "desc" });
    expect(entries.filter(({ details }) => details.role === "member")).toHaveLength(4);
  });

  test("leaves nothing of a user in any column of any table, and every cent of the books", async () => {
    const service = await open(kind);
    const { database, accounts, privacy, organizationId } = service;
    const ottilie = await leaveTraces(service, "ottilie");
    const wyn = await leaveTraces(service, "wyn");
    const namesOf = ({ user: { id, name }, email }: typeof ottilie) => [id, email, name, `192.0.2.${name.length}`];
    const naming = async (person: typeof ottilie) => {
      const cells = await allCells(database);
      return cells.filter((cell) => namesOf(person).some((name) => cell.includes(name)));
    };
    await service.recorder.flush();
    await service.history.flush();
    expect((await naming(ottilie)).length).toBeGreaterThan(20);
    const before = { costs: await costs(database), wyn: (await naming(wyn)).length };
    const reference = { organizationId, id: ottilie.user.id };
    const { pseudonym, rows } = await privacy.eraseUser(AUTHOR, reference);
    expect(await naming(ottilie)).toEqual([]);
    for (const table of ["files", "storedResponses", "conversations", "responseItems"] as const) {
      const left = await database.run((executor) => executor.selectFrom(table).selectAll().execute());
      expect([table, left.length]).toEqual([table, table === "responseItems" ? 4 : 2]);
    }
    expect(await readdir(join(service.folder, "files"))).toHaveLength(2);
    expect(await naming(wyn)).toHaveLength(before.wyn);
    expect(await costs(database)).toBe(before.costs);
    expect(rows).toMatchObject({
      budgets: 3,
      mailDeliveries: 2,
      users: 1,
      apiKeys: 2,
      usageDimensions: 1,
      usageLabels: 1,
      requestHistory: 2,
    });
    // The books still say what each key and the pseudonym cost.
    const dimensions = await database.run((executor) =>
      executor.selectFrom("usageDimensions").select("keyId").execute(),
    );
    expect(dimensions.map(({ keyId }) => keyId).toSorted()).toEqual(
      [ottilie.keyId, wyn.keyId, wyn.user.id, pseudonym].toSorted(),
    );
    const key = await database.run((executor) =>
      executor.selectFrom("apiKeys").selectAll().where("id", "=", ottilie.keyId).executeTakeFirstOrThrow(),
    );
    expect(key).toMatchObject({ name: "Erased", userId: pseudonym, revokedAt: expect.anything() });
    await expect(accounts.users.retrieve(reference)).rejects.toMatchObject({ kind: "not-found" });
    const log = await accounts.auditTrail.list(organizationId, { types: ["user.erased"] }, { limit: 5, order: "desc" });
    expect(log.entries).toMatchObject([{ resourceId: pseudonym }]);
  });

  test("repeats an erasure that was interrupted", async () => {
    const service = await open(kind);
    const ottilie = await leaveTraces(service, "ottilie");
    const { transactions } = service.accounts;
    const reference = { organizationId: service.organizationId, id: ottilie.user.id };
    const broken = new Privacy({
      transactions,
      tables: {
        ...PERSONAL_DATA,
        userSessions: { rows: [{ columns: [], erase: () => Promise.reject(new Error("the storage is away")) }] },
      },
      context: { database: service.database, files: service.files, content: undefined },
      logger: (await databases.create("sqlite")).logger,
      flush: async () => {},
      untilWritten: async () => {},
    });
    await expect(broken.eraseUser(AUTHOR, reference)).rejects.toThrow("the storage is away");
    await expect(service.accounts.users.retrieve(reference)).resolves.toMatchObject({ disabledAt: expect.anything() });
    await service.privacy.eraseUser(AUTHOR, reference);
    const cells = await allCells(service.database);
    expect(cells.filter((cell) => cell.includes(ottilie.user.id) || cell.includes(ottilie.email))).toEqual([]);
  });

  test("records what it has erased although its author has ended meanwhile, and begins nothing then", async () => {
    const service = await open(kind);
    const { accounts, database, privacy, organizationId } = service;
    const ottilie = await leaveTraces(service, "ottilie");
    recordRequest(service, ottilie.keyId, "guest");
    await service.recorder.flush();
    const scope = { organizationId, kind: "admin" } as const;
    const { key } = await accounts.apiKeys.create(OPERATOR, { scope, name: "A", expiresInSeconds: undefined });
    const author = { ...AUTHOR, keyId: key.id };
    service.meanwhile.push(() =>
      database.run((executor) =>
        executor.updateTable("apiKeys").set({ revokedAt: 1 }).where("id", "=", key.id).execute(),
      ),
    );
    const { pseudonym } = await privacy.eraseUser(author, { organizationId, id: ottilie.user.id });
    const log = await accounts.auditTrail.list(organizationId, { types: ["user.erased"] }, { limit: 5, order: "desc" });
    expect(log.entries).toMatchObject([{ resourceId: pseudonym, actorKeyId: key.id }]);
    const erasing = privacy.eraseEndUser(author, organizationId, "guest");
    await expect(erasing).rejects.toMatchObject({ kind: "unauthenticated" });
    const labels = await database.run((executor) => executor.selectFrom("usageLabels").select("value").execute());
    expect(labels).toContainEqual({ value: "guest" });
  });

  test("keeps the last owner", async () => {
    const service = await open(kind);
    const { user } = await leaveTraces(service, "ottilie", "owner");
    const reference = { organizationId: service.organizationId, id: user.id };
    await expect(service.privacy.eraseUser(AUTHOR, reference)).rejects.toMatchObject({ code: "last_owner" });
    await expect(service.accounts.users.retrieve(reference)).resolves.toMatchObject({ disabledAt: null });
  });

  test("erases an end user in one organization only, and counts later requests under the value again", async () => {
    const service = await open(kind);
    const { database, privacy, history, organizationId } = service;
    const ottilie = await leaveTraces(service, "ottilie");
    const foreign = await service.accounts.organizations.create(OPERATOR, "Another organization");
    const foreignId = foreign.organization.id;
    await service.recorder.flush();
    await history.flush();
    const labels = () =>
      database.run((executor) => executor.selectFrom("usageLabels").select(["value", "organizationId"]).execute());
    await privacy.eraseEndUser(AUTHOR, foreignId, ottilie.email);
    expect(await labels()).toEqual([{ value: ottilie.email, organizationId }]);
    const exported = await collect(await privacy.exportEndUser(AUTHOR, organizationId, ottilie.email));
    expect(Object.keys(exported)).toEqual(["usageLabels", "requestHistory", "budgets", "auditLogs"]);
    const { pseudonym, rows } = await privacy.eraseEndUser(AUTHOR, organizationId, ottilie.email);
    expect(rows).toMatchObject({ usageLabels: 1, requestHistory: 2, budgets: 1 });
    expect(await labels()).toEqual([{ value: pseudonym, organizationId }]);
    recordRequest(service, ottilie.keyId, ottilie.email);
    await service.recorder.flush();
    expect((await labels()).map(({ value }) => value).toSorted()).toEqual([pseudonym, ottilie.email].toSorted());
    // The user with the address is another person to the service.
    await expect(service.accounts.users.retrieve({ organizationId, id: ottilie.user.id })).resolves.toBeDefined();
  });

  test("erases events of webhooks that name the end user, in one organization only", async () => {
    const { database, privacy, organizationId } = await open(kind);
    const outbox = new WebhookOutbox([{ ...ENDPOINT, events: ["budget.reached", "api_key.created"] }]);
    const amount = { value: 1, currency: "usd" as const };
    const reached = (organization_id: string, id: string) => ({
      type: "budget.reached" as const,
      data: {
        ...{ budget_id: "budget_1", name: "day", organization_id, project_id: null, interval: "day", percent: 50 },
        ...{ subject: { type: "end_user", id }, limit: amount, spent: amount, starts_at: 1, resets_at: 2 },
        is_enforcing: true,
      },
    });
    const key = { id: "key_1", organization_id: organizationId, project_id: null, kind: "admin" as const };
    await database.run(async (executor) => {
      await outbox.add(executor, reached(organizationId, "ada"), Date.now());
      await outbox.add(executor, reached("org_other", "ada"), Date.now());
      const name = `"subject":{"type":"end_user","id":"ada"}`;
      await outbox.add(executor, { type: "api_key.created", data: { ...key, name } }, Date.now());
    });
    for (const value of ["object", "event", "day", "org_other", "budget_1"]) {
      expect((await privacy.eraseEndUser(AUTHOR, organizationId, value)).rows).toEqual({});
    }
    expect((await privacy.eraseEndUser(AUTHOR, organizationId, "ada")).rows).toEqual({ webhookDeliveries: 1 });
    const left = await database.run((executor) => executor.selectFrom("webhookDeliveries").select("payload").execute());
    const naming = (part: string) => left.filter(({ payload }) => payload.includes(part)).length;
    expect([naming('"ada"'), naming("org_other"), naming('"key_1"')]).toEqual([1, 1, 1]);
  });

  test("erases responses whose request named the end user, and those of nobody else", async () => {
    const service = await open(kind);
    const { privacy, organizationId, projectId, database } = service;
    const ids = await storeResponses(service, ["ada", "bob", undefined]);
    const exported = await Array.fromAsync(await privacy.exportEndUser(AUTHOR, organizationId, "ada"));
    expect(exported).toMatchObject([
      { table: "storedResponses", row: { id: ids[0], content: { safety_identifier: "ada" }, items: [{ text: "Hi" }] } },
    ]);
    const { rows } = await privacy.eraseEndUser(AUTHOR, organizationId, "ada");
    expect(rows).toEqual({ storedResponses: 1 });
    const stored = await database.run((executor) =>
      executor.selectFrom("storedResponses").select("id").where("projectId", "=", projectId).execute(),
    );
    expect(stored.map(({ id }) => id).sort()).toEqual([ids[1], ids[2]].sort());
  });

  test("deletes each kind of record after its days, and no others", async () => {
    const service = await open(kind);
    const { database, recorder } = service;
    await leaveTraces(service, "ottilie");
    await recorder.flush();
    const { logger } = await databases.create("sqlite");
    const remaining = async () =>
      Object.fromEntries(
        await database.run((executor) =>
          Promise.all(
            (["auditLogs", "invites", "usageLabels", "webhookDeliveries"] as const).map(async (table) => {
              const rows = await executor.selectFrom(table).select(sql`1`.as("one")).execute();
              return [table, rows.length] as const;
            }),
          ),
        ),
      );
    const before = await remaining();
    const remove = async (settings: RetentionSettings, now: number) => {
      using retention = personalRetention({ database, logger, settings });
      await retention.removeExpired(now);
    };
    const unset = { auditDays: undefined, keyDays: undefined, labelDays: undefined };
    const days = { ...unset, evalDays: 90, inviteDays: 90, webhookDays: 7 };
    await remove(days, Date.now() + 6 * DAY_MS);
    expect(await remaining()).toEqual(before);
    await remove(days, Date.now() + 8 * DAY_MS);
    expect(await remaining()).toEqual({ ...before, webhookDeliveries: 0 });
    await remove(days, Date.now() + 92 * DAY_MS);
    expect(await remaining()).toEqual({ ...before, webhookDeliveries: 0, invites: 0 });
    await remove({ ...days, auditDays: 10, labelDays: 10, keyDays: 10 }, Date.now() + 9 * DAY_MS);
    expect(await remaining()).toMatchObject({ auditLogs: before.auditLogs, usageLabels: 1 });
    await database.run((executor) =>
      executor.updateTable("apiKeys").set({ revokedAt: Date.now() }).where("name", "=", "Laptop of ottilie").execute(),
    );
    // The sums of hours have a setting of their own.
    await database.run((executor) =>
      executor.deleteFrom("usageLabelRollups").where("bucketSeconds", "=", 3600).execute(),
    );
    await remove({ ...days, auditDays: 10, labelDays: 10, keyDays: 10 }, Date.now() + 12 * DAY_MS);
    expect(await remaining()).toMatchObject({ auditLogs: 0, usageLabels: 0 });
    const names = await database.run((executor) => executor.selectFrom("apiKeys").select("name").execute());
    expect(names.map(({ name }) => name)).toContain("Ended");
    expect(names.map(({ name }) => name)).not.toContain("Laptop of ottilie");
  });
});

test.each(DATABASE_KINDS)("deletes evals, prompts and webhook endpoints of archived projects on %s", async (kind) => {
  const { database, accounts, organizationId, projectId } = await open(kind);
  const gone = await accounts.projects.create(AUTHOR, organizationId, "Gone");
  await database.run(async (executor) => {
    for (const project of [gone.id, projectId]) {
      const evaluation = { ...evalRow(), id: `eval_${project}`, projectId: project };
      await executor.insertInto("evals").values(evaluation).execute();
      const run = { ...evalRunRow(), id: `run_${project}`, evalId: evaluation.id, projectId: project };
      await executor.insertInto("evalRuns").values(run).execute();
      await executor
        .insertInto("evalItems")
        .values({ ...evalItemRow(), runId: run.id, id: `item_${project}` })
        .execute();
      const prompt = { projectId: project, name: "p", description: null, createdAt: 1, updatedAt: 1 };
      await executor
        .insertInto("prompts")
        .values({ ...prompt, id: `prompt_${project}` })
        .execute();
    }
  });
  await accounts.projects.archive(AUTHOR, { organizationId, id: gone.id });
  // Archived by the migration that archives projects of archived organizations, which removes nothing.
  const endpoint = { name: "e", url: "https://a.test", events: "[]", secret: Buffer.of(1), secretHint: "h" };
  const times = { formerSecret: null, formerSecretUntil: null, createdAt: 1, updatedAt: 1 };
  await database.run(async (executor) => {
    for (const project of [gone.id, projectId]) {
      await executor
        .insertInto("webhookEndpoints")
        .values({ ...endpoint, ...times, id: `whe_${project}`, projectId: project })
        .execute();
    }
  });
  const { logger } = await databases.create("sqlite");
  const settings = { auditDays: undefined, keyDays: undefined, labelDays: undefined };
  using retention = personalRetention({
    database,
    logger,
    settings: { ...settings, evalDays: 90, inviteDays: 90, webhookDays: 7 },
  });
  await retention.removeExpired(Date.now());
  for (const table of ["evals", "evalRuns", "evalItems", "prompts", "webhookEndpoints"] as const) {
    const rows = await database.run((executor) => executor.selectFrom(table).select("id").execute());
    expect([table, rows.map(({ id }) => id.replace(/^[a-z]+_/, ""))]).toEqual([table, [projectId]]);
  }
});

test("leaves nothing of a user in the file of SQLite and its log", async () => {
  const options = await databases.create("sqlite");
  const service = await open("sqlite", options);
  const ottilie = await leaveTraces(service, "ottilie");
  await service.recorder.flush();
  await service.history.flush();
  const stored = () => Promise.all([options.file, `${options.file}-wal`].map((path) => readFile(path, "latin1")));
  expect((await stored()).join("").includes(ottilie.email)).toBe(true);
  const reference = { organizationId: service.organizationId, id: ottilie.user.id };
  await service.privacy.eraseUser(AUTHOR, reference);
  expect((await stored()).join("").includes(ottilie.email)).toBe(false);
});
