/** Two replicas with PostgreSQL, behind PgBouncer where it is installed, that share a folder or a store of files. */

import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { HAS_PGBOUNCER, startPgBouncer, WITHOUT_PGBOUNCER } from "../support/databases/pgbouncer.ts";
import { sharedPostgres, startPostgres } from "../support/databases/postgres.ts";
import { HAS_S3, type S3Server, startS3, WITHOUT_S3 } from "../support/databases/s3.ts";
import { chatLine, createBatch, readLines, untilEnded } from "../support/service/batches.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const LINES = 300;
let closing = new AsyncDisposableStack();

afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

async function startReplicas(url: string, s3?: S3Server): Promise<[ServiceProcess, ServiceProcess]> {
  const folder = await mkdtemp(join(tmpdir(), "parlance-batch-files-"));
  closing.defer(() => rm(folder, { recursive: true, force: true }));
  const files =
    s3 === undefined
      ? `{ directory: ${folder} }`
      : `{ s3: { endpoint: "${s3.endpoint}", bucket: ${s3.bucket}, prefix: parlance/ } }`;
  const config = `
builtin_models: false
files: ${files}
models:
  - id: slow
    task: chat
    deployments: [{ engine: scripted, slots: 4, replies: [{ delay_ms_before_first: 100 }] }]
`;
  const replicas: ServiceProcess[] = [];
  for (let count = 0; count < 2; count += 1) {
    const service = await startServiceProcess({ config, environment: { DATABASE_URL: url, ...s3?.environment } });
    closing.defer(async () => void (await service.stop()));
    replicas.push(service);
  }
  return replicas as [ServiceProcess, ServiceProcess];
}

const runsBatch = (service: ServiceProcess) => service.log().some(({ msg }) => msg === "batch runs");

async function killRunningReplica(url: string, signal: NodeJS.Signals, s3?: S3Server) {
  const replicas = await startReplicas(url, s3);
  const lines = Array.from({ length: LINES }, (_, index) => chatLine(`${index}`, `Line ${index}`, "slow"));
  const created = await createBatch(replicas[0].client(), lines);
  await eventually(async () => {
    const { request_counts: counts } = await replicas[0].client().batches.retrieve(created.id);
    expect(counts?.completed).toBeGreaterThan(20);
  });
  const running = replicas.filter(runsBatch);
  expect(running).toHaveLength(1);
  const other = replicas.find((replica) => !runsBatch(replica)) as ServiceProcess;
  running[0]?.process.kill(signal);
  const killedAt = performance.now();
  await eventually(async () => expect(runsBatch(other)).toBe(true), 60);
  const seconds = (performance.now() - killedAt) / 1000;
  console.log(`the other replica took the batch over ${seconds.toFixed(1)} s after ${signal}`);
  const client = other.client();
  const batch = await untilEnded(client, created, 60);
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: LINES, completed: LINES, failed: 0 } });
  const answers = await readLines(client, batch.output_file_id);
  expect(answers.map(({ custom_id }) => Number(custom_id)).sort((a, b) => a - b)).toEqual(
    lines.map((_, index) => index),
  );
  return seconds;
}

test("answers each line once when the replica that runs the batch is killed", async () => {
  const url = await (await sharedPostgres()).createDatabase();
  expect(await killRunningReplica(url.reveal(), "SIGKILL")).toBeLessThan(30);
});

test("hands a batch over when its replica stops", async () => {
  const url = await (await sharedPostgres()).createDatabase();
  await killRunningReplica(url.reveal(), "SIGTERM");
});

test("answers each line once when the database is away in the middle of a batch", async () => {
  await using postgres = await startPostgres();
  const url = await postgres.createDatabase();
  const [one] = await startReplicas(url.reveal());
  const client = one.client();
  const lines = Array.from({ length: LINES }, (_, index) => chatLine(`${index}`, `Line ${index}`, "slow"));
  const created = await createBatch(client, lines);
  await eventually(async () => {
    expect((await client.batches.retrieve(created.id)).request_counts?.completed).toBeGreaterThan(20);
  });
  await postgres.stop();
  await pause(4_000);
  await postgres.start();
  await eventually(async () => expect((await client.batches.retrieve(created.id)).id).toBe(created.id), 60);
  const batch = await untilEnded(client, created, 90);
  expect(batch).toMatchObject({ status: "completed", request_counts: { total: LINES, completed: LINES, failed: 0 } });
  const answers = await readLines(client, batch.output_file_id);
  expect(answers.map(({ custom_id }) => Number(custom_id)).sort((a, b) => a - b)).toEqual(
    lines.map((_, index) => index),
  );
});

test.skipIf(!HAS_S3)(`hands a batch over whose files are in S3${WITHOUT_S3}`, async () => {
  const url = await (await sharedPostgres()).createDatabase();
  await using s3 = await startS3();
  await killRunningReplica(url.reveal(), "SIGTERM", s3);
  // The parts of the batch are gone.
  expect(readdirSync(join(s3.folder, "parlance"))).toEqual(["files"]);
});

test.skipIf(!HAS_PGBOUNCER)(`hands a batch over behind PgBouncer${WITHOUT_PGBOUNCER}`, async () => {
  const postgres = await sharedPostgres();
  const database = new URL((await postgres.createDatabase()).reveal()).pathname.slice(1);
  await using bouncer = await startPgBouncer(postgres.host);
  await killRunningReplica(bouncer.urlOf(database), "SIGKILL");
});
