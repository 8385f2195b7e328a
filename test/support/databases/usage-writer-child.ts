/** Records usage as fast as it is journaled, until it is killed. Arguments: database URL or "", database file, journal directory. */

import { UsageRecorder } from "../../../src/features/usage/usage-recorder.ts";
import { createLogger } from "../../../src/kernel/logger.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { openDatabase } from "../../../src/storage/database.ts";

const [url = "", file = "", directory = ""] = process.argv.slice(2);
const logger = createLogger("error");
const database = openDatabase({ url: url === "" ? undefined : new Secret(url), file, logger });
const recorder = new UsageRecorder({ database, directory, logger });

/** Below what the recorder holds, between two of its writes to the journal. */
const RECORDS_AT_ONCE = 1_000;
const PAUSE_MS = 20;

let count = 0;
setInterval(() => {
  for (let index = 0; index < RECORDS_AT_ONCE; index += 1) {
    count += 1;
    recorder.record({
      at: Date.now(),
      ...{ organizationId: "org_a", projectId: `proj_${count % 5}`, keyId: `key_${count % 11}` },
      ...{ model: `model_${count % 3}`, deployment: "one", operation: "chat" },
      ...{ serviceTier: count % 17 === 0 ? "flex" : null, isBatch: Number(count % 19 === 0) },
      ...{ promptTokens: count % 1000, cachedTokens: count % 10, completionTokens: count % 100, reasoningTokens: 1 },
      ...{ characters: 0, audioMilliseconds: 0, cacheWriteTokens: count % 7 },
      costNanoDollars: count % 13 === 0 ? null : count % 1_000_003,
      labels:
        count % 10 === 0
          ? [
              { kind: "end_user", value: `user_${count % 50}` },
              { kind: "tag", value: "t" },
            ]
          : undefined,
    });
  }
}, PAUSE_MS);
