import type { Metrics } from "../../observability/metrics.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Feature, FeatureParts, RouteParts } from "../feature.ts";
import type { OpenFiles } from "../files/feature.ts";
import type { WebhookOutbox } from "../webhooks/webhook-outbox.ts";
import { batchRetention } from "./batch-retention.ts";
import { Batches } from "./batches.ts";
import { LineRequests } from "./line-requests.ts";
import { openBatchQueue } from "./open-batch-queue.ts";
import { batches as routes } from "./routes.ts";

interface BatchParts
  extends FeatureParts,
    Pick<RouteParts, "inference">,
    Pick<OpenFiles, "blobs" | "files" | "directory"> {
  accounts: Accounts;
  metrics: Metrics;
  outbox: WebhookOutbox;
}

export interface BatchFeature extends Feature {
  batches: Batches;
}

/** Batches of requests. */
export function openBatches(parts: BatchParts): BatchFeature {
  const { config, database, logger, lifetime, inference, blobs, files, accounts, metrics, outbox, directory } = parts;
  const { maxLines, concurrentLines, concurrentBatches } = config.batches;
  const url = config.environment.DATABASE_URL;
  const lines = new LineRequests();
  const batches = new Batches({
    database,
    files,
    logger,
    queue: openBatchQueue({ url, database, logger, concurrency: concurrentBatches }),
    directory,
    maxLines,
    maxLineBytes: config.server.maxBodyBytes,
    concurrency: concurrentLines,
    callerOf: (keyId) => accounts.callerOfKey(keyId, "batch"),
    runLine: lines.run,
    onAnswered: (isError) => metrics.batchLine(isError),
    outbox,
  });
  lifetime.defer(() => batches.close());
  lifetime.use(batchRetention({ database, blobs, logger, days: config.files.keepDays }));
  return {
    batches,
    project: [routes(inference, batches)],
    addHooks: (app) => lines.addHooks(app),
    start: () => void batches.start(),
    drain: () => batches.drain(),
  };
}
