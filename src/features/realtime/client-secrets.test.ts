import { afterEach, describe, expect, test, vi } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
import { openDatabase } from "../../storage/database.ts";
import { Accounts } from "../accounts/accounts.ts";
import { OPERATOR } from "../accounts/audit/audit.ts";
import { ClientSecrets } from "./client-secrets.ts";

const databases = useDatabases();
let closing = new AsyncDisposableStack();
afterEach(async () => {
  vi.useRealTimers();
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

const SESSION = '{"type":"realtime","instructions":"Whisper."}';

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  async function open() {
    const options = await databases.create(kind);
    const database = openDatabase(options);
    closing.defer(() => database.close());
    const accounts = new Accounts({
      database,
      extensions: accountExtensions(),
      logger: options.logger,
      lastUsedEverySeconds: 3_600,
    });
    closing.defer(() => accounts.close());
    const secrets = new ClientSecrets(database, accounts);
    const { apiKey } = await accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined });
    const caller = await accounts.authenticate(apiKey?.reveal());
    const { secret, expiresAt } = await secrets.create({ caller, headers: {} }, SESSION, 60);
    return { database, accounts, secrets, caller, secret: secret.reveal(), expiresAt };
  }

  test("stands for its key until it expires, and an open session for as long as the key works", async () => {
    const { accounts, secrets, caller, secret, expiresAt } = await open();
    expect(secret).toMatch(/^ek_[0-9a-f]{48}$/);
    expect(expiresAt - Date.now()).toBeGreaterThan(55_000);
    const opened = await secrets.open(secret);
    expect(opened).toMatchObject({ caller, session: SESSION });
    await expect(accounts.authenticate(secret)).rejects.toMatchObject({ code: "invalid_api_key" });
    vi.useFakeTimers({ toFake: ["Date"], now: expiresAt });
    await expect(secrets.open(secret)).rejects.toMatchObject({ code: "client_secret_expired" });
    expect(await opened.authenticate()).toEqual(caller);
  });

  test("stops working with its key", async () => {
    const { accounts, secrets } = await open();
    const scope = await accounts.defaultScope("project");
    const { secret: key } = await accounts.apiKeys.create(OPERATOR, {
      scope,
      name: "Another",
      expiresInSeconds: undefined,
    });
    const caller = await accounts.authenticate(key.reveal());
    const { secret } = await secrets.create({ caller, headers: {} }, SESSION, 60);
    const opened = await secrets.open(secret.reveal());
    await opened.checkStanding();
    await accounts.apiKeys.revoke(OPERATOR, scope, caller.keyId);
    await expect(opened.checkStanding()).rejects.toMatchObject({ code: "invalid_api_key" });
    await expect(opened.authenticate()).rejects.toMatchObject({ code: "invalid_api_key" });
    await expect(secrets.open(secret.reveal())).rejects.toMatchObject({ code: "invalid_api_key" });
  });

  test("ends with the token with which it was created", async () => {
    const { accounts, secrets, caller } = await open();
    const endsAt = Date.now() + 20_000;
    accounts.trustTokens({ findKeyHash: async () => undefined, endOf: () => endsAt });
    const headers = { authorization: "Bearer token" };
    const { secret, expiresAt } = await secrets.create({ caller, headers }, SESSION, 60);
    expect(expiresAt).toBe(endsAt);
    const opened = await secrets.open(secret.reveal());
    vi.useFakeTimers({ toFake: ["Date"], now: endsAt });
    for (const check of [opened.authenticate, opened.checkStanding]) {
      await expect(check()).rejects.toMatchObject({ kind: "unauthenticated", code: "token_expired" });
    }
  });

  test("is stored as a hash, and its session encrypted", async () => {
    const { database, secret, secrets } = await open();
    const rows = await database.run((executor) => executor.selectFrom("clientSecrets").selectAll().execute());
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(secret);
    expect(Buffer.from(rows[0]?.session ?? "", "base64").toString("latin1")).not.toContain("Whisper");
    const unknown = `ek_${"0".repeat(48)}`;
    await expect(secrets.open(unknown)).rejects.toMatchObject({ code: "invalid_api_key" });
    await expect(secrets.open("ek_short")).rejects.toMatchObject({ code: "invalid_api_key" });
  });
});
