/** How long records of persons are kept that have no retention of their own. */

import { DAY_MS, DAY_SECONDS } from "../../kernel/durations.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database, Executor } from "../../storage/database.ts";
import { removeWebhookDeliveriesBefore, removeWebhookLogBefore } from "../webhooks/index.ts";
import type { RetentionSettings } from "./settings.ts";

export interface PersonalRetentionOptions {
  database: Database;
  logger: Logger;
  settings: RetentionSettings;
}

const AT_ONCE = 500;
/** Stands for the name of a key that ended long ago. */
const FORGOTTEN = "Ended";

/** Deletes what is older than the settings allow, and sessions and links that have expired. */
export function personalRetention({ database, logger, settings }: PersonalRetentionOptions): Retention {
  const { auditDays, evalDays, inviteDays, keyDays, labelDays, webhookDays } = settings;
  const step = (days: number | undefined, remove: (executor: Executor, before: number) => Promise<number>) =>
    days === undefined ? [] : [(now: number) => database.run((executor) => remove(executor, now - days * DAY_MS))];
  return new Retention({
    subject: "records of persons",
    logger,
    steps: [
      ...step(auditDays, removeAuditLogsBefore),
      ...step(evalDays, removeEvalRunsBefore),
      ...step(0, removeRunsOfArchivedProjects),
      ...step(0, removeSettingsOfArchivedProjects),
      ...step(inviteDays, removeInvitesBefore),
      ...step(keyDays, forgetKeysBefore),
      ...step(labelDays, removeLabelDaysBefore),
      ...step(labelDays, removeUnusedLabels),
      ...step(webhookDays, removeWebhookDeliveriesBefore),
      ...step(webhookDays, removeWebhookLogBefore),
      ...step(0, removeExpired),
    ],
  });
}

async function removeAuditLogsBefore(executor: Executor, time: number): Promise<number> {
  const oldest = executor.selectFrom("auditLogs").select("id").where("effectiveAt", "<", time).limit(AT_ONCE);
  const removed = await executor.deleteFrom("auditLogs").where("id", "in", oldest).executeTakeFirst();
  return Number(removed.numDeletedRows);
}

async function removeEvalRunsBefore(executor: Executor, time: number): Promise<number> {
  const ended = executor.selectFrom("evalRuns").select("id").where("endedAt", "<", time).limit(AT_ONCE);
  const removed = await executor.deleteFrom("evalRuns").where("id", "in", ended).executeTakeFirst();
  return Number(removed.numDeletedRows);
}

/** A run may have 10,000 items, which go with it. */
async function removeRunsOfArchivedProjects(executor: Executor): Promise<number> {
  const archived = executor.selectFrom("projects").select("id").where("archivedAt", "is not", null);
  const first = executor.selectFrom("evalRuns").select("id").where("projectId", "in", archived).limit(1);
  const removed = await executor.deleteFrom("evalRuns").where("id", "in", first).executeTakeFirst();
  return Number(removed.numDeletedRows);
}

async function removeSettingsOfArchivedProjects(executor: Executor): Promise<number> {
  const archived = executor.selectFrom("projects").select("id").where("archivedAt", "is not", null);
  let count = 0;
  for (const table of ["evals", "prompts", "webhookEndpoints"] as const) {
    const some = executor.selectFrom(table).select("id").where("projectId", "in", archived).limit(AT_ONCE);
    const removed = await executor.deleteFrom(table).where("id", "in", some).executeTakeFirst();
    count += Number(removed.numDeletedRows);
  }
  return count;
}

async function removeInvitesBefore(executor: Executor, time: number): Promise<number> {
  const removed = await executor
    .deleteFrom("invites")
    .where((where) => where.or([where("acceptedAt", "<", time), where("expiresAt", "<", time)]))
    .executeTakeFirst();
  return Number(removed.numDeletedRows);
}

async function forgetKeysBefore(executor: Executor, time: number): Promise<number> {
  const ended = executor
    .selectFrom("apiKeys")
    .select("id")
    .where((where) => where.or([where("revokedAt", "<", time), where("expiresAt", "<", time)]))
    .where("name", "<>", FORGOTTEN)
    .limit(AT_ONCE);
  const forgotten = await executor
    .updateTable("apiKeys")
    .set({ name: FORGOTTEN, lastUsedAddress: null, lastUsedClient: null })
    .where("id", "in", ended)
    .executeTakeFirst();
  return Number(forgotten.numUpdatedRows);
}

/** Removes the sums of the oldest days, at most those of one day at a time. */
async function removeLabelDaysBefore(executor: Executor, time: number): Promise<number> {
  const ofDays = executor.selectFrom("usageLabelRollups").where("bucketSeconds", "=", DAY_SECONDS);
  const { first } = await ofDays
    .select(({ fn }) => fn.min("beginsAt").as("first"))
    .where("beginsAt", "<", time)
    .executeTakeFirstOrThrow();
  if (first === null) return 0;
  const removed = await executor
    .deleteFrom("usageLabelRollups")
    .where("bucketSeconds", "=", DAY_SECONDS)
    .where("beginsAt", "<=", first)
    .executeTakeFirst();
  return Number(removed.numDeletedRows);
}

/** Removes labels without any sum. A process writes a label together with its first sum. */
async function removeUnusedLabels(executor: Executor): Promise<number> {
  const used = executor.selectFrom("usageLabelRollups").select("labelId");
  const unused = executor.selectFrom("usageLabels").select("id").where("id", "not in", used).limit(AT_ONCE);
  const removed = await executor.deleteFrom("usageLabels").where("id", "in", unused).executeTakeFirst();
  return Number(removed.numDeletedRows);
}

/** Removes sessions, links and secrets that have expired. */
async function removeExpired(executor: Executor, now: number): Promise<number> {
  for (const table of [
    "userSessions",
    "passwordLinks",
    "consoleGrants",
    "clientSecrets",
    "idempotentRequests",
  ] as const) {
    await executor.deleteFrom(table).where("expiresAt", "<", now).execute();
  }
  return 0;
}
