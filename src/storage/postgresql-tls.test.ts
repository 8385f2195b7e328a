/** PostgreSQL over TLS with a certificate authority that the system does not know. */

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type PostgresServer, startPostgres } from "../../test/support/databases/postgres.ts";
import { freePort } from "../../test/support/databases/redis.ts";
import { makeCertificates } from "../../test/support/service/certificates.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { createLogger } from "../kernel/logger.ts";
import { Secret } from "../kernel/secret.ts";
import { type Database, openDatabase } from "./database.ts";

const cleanup = new AsyncDisposableStack();
let certificates: TemporaryDirectory;
let server: PostgresServer;
let port: number;
let name: string;

beforeAll(async () => {
  certificates = cleanup.use(await temporaryDirectory());
  await makeCertificates(certificates.path);
  // PostgreSQL runs as another user then, and refuses a key that is not its own.
  if (process.getuid?.() === 0) execFileSync("chown", ["-R", "nobody", certificates.path]);
  port = await freePort();
  const files = { ssl_cert_file: "server.pem", ssl_key_file: "server.key" };
  const settings = Object.entries(files).map(([each, file]) => `${each}=${join(certificates.path, file)}`);
  server = cleanup.use(await startPostgres({ port, settings: ["listen_addresses=127.0.0.1", "ssl=on", ...settings] }));
  name = new URL((await server.createDatabase()).reveal()).pathname;
});

afterAll(() => cleanup.disposeAsync());

function open(host: string, authority: string): Database {
  const query = new URLSearchParams({ sslmode: "verify-full", sslrootcert: join(certificates.path, authority) });
  const url = new Secret(`postgresql://parlance@${host}:${port}${name}?${query}`);
  const database = openDatabase({ url, file: "", logger: createLogger("silent") });
  cleanup.defer(() => database.close());
  return database;
}

test("sslmode=verify-full connects to a server of the given authority", async () => {
  const database = open("127.0.0.1", "ca.pem");
  await database.check();
  const { rows } = await database.run((executor) =>
    sql`select ssl, version from pg_stat_ssl where pid = pg_backend_pid()`.execute(executor),
  );
  expect(rows).toEqual([{ ssl: true, version: "TLSv1.3" }]);
});

test("sslmode=verify-full refuses another authority and another host name", async () => {
  const causeOf = (database: Database) => database.check().catch((error: Error) => String(error.cause));
  expect(await causeOf(open("127.0.0.1", "client.pem"))).toMatch(/unable to (get|verify)|self-signed/);
  expect(await causeOf(open("localhost", "ca.pem"))).toMatch(/Hostname\/IP does not match certificate's altnames/);
});
