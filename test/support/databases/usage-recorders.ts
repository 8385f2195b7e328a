/** Recorders of usage, each with an empty database and journal folder. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import {
  type UsageRecord,
  UsageRecorder,
  type UsageRecorderOptions,
} from "../../../src/features/usage/usage-recorder.ts";
import type { Logger } from "../../../src/kernel/logger.ts";
import { type Database, openDatabase } from "../../../src/storage/database.ts";
import { type DATABASE_KINDS, useDatabases } from "./databases.ts";

export const NOON: number = Date.UTC(2026, 10, 21, 12);

interface OpenedUsage {
  database: Database;
  directory: string;
  logger: Logger;
  start(given?: Partial<UsageRecorderOptions>): UsageRecorder;
}

/** Closes what a test opened. Call it at the top of the file. */
export function useUsageRecorders() {
  const databases = useDatabases();
  let closing = new AsyncDisposableStack();
  afterEach(async () => {
    await closing.disposeAsync();
    closing = new AsyncDisposableStack();
  });

  const open = async (kind: (typeof DATABASE_KINDS)[number]): Promise<OpenedUsage> => {
    const options = await databases.create(kind);
    const database = openDatabase(options);
    closing.defer(() => database.close());
    const directory = mkdtempSync(join(tmpdir(), "parlance-usage-"));
    closing.defer(() => rmSync(directory, { recursive: true, force: true }));
    const start = (given: Partial<UsageRecorderOptions> = {}) => {
      const recorder = new UsageRecorder({ database, directory, logger: options.logger, ...given });
      closing.defer(() => recorder.close());
      return recorder;
    };
    return { database, directory, logger: options.logger, start };
  };
  return { databases, open };
}

export function usageRecord(change: Partial<UsageRecord> = {}): UsageRecord {
  return {
    at: NOON,
    organizationId: "org_a",
    projectId: "proj_a",
    keyId: "key_a",
    model: "parrot",
    deployment: "parrot",
    operation: "chat",
    promptTokens: 10,
    cachedTokens: 2,
    completionTokens: 5,
    reasoningTokens: 1,
    characters: 0,
    audioMilliseconds: 0,
    costNanoDollars: 700,
    ...change,
  };
}

/** Sums of minutes. */
export const minutes = async (database: Database) =>
  (await rollups(database)).filter(({ bucketSeconds }) => bucketSeconds === 60);
export const requestsIn = async (database: Database) =>
  (await minutes(database)).reduce((sum, { requests }) => sum + requests, 0);
export const rollups = (database: Database) =>
  database.run((executor) =>
    executor.selectFrom("usageRollups").selectAll().orderBy("bucketSeconds").orderBy("beginsAt").execute(),
  );
