/** Section `cache`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";
import { memory } from "../../kernel/settings/sizes.ts";

export const cacheSettings = mapping(
  () => ({
    store: z
      .enum(["memory", "database", "redis"])
      .default("memory")
      .describe(
        "Where cached answers are. memory: in this process, unencrypted, until it ends. database: encrypted, in the database. redis: encrypted, in the server of REDIS_URL. Replicas share answers in the last two.",
      ),
    max_size: memory
      .prefault("256MiB")
      .describe("Maximum size of all cached answers, such as 1GiB. Beyond it, the oldest answers are removed."),
    max_answer_size: memory
      .prefault("4MiB")
      .describe("Maximum size of one cached answer, such as 4MiB. Larger answers are not cached."),
  }),
  "Store of the answers of models with `cache`.",
);

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    cache: z.output<typeof cacheSettings>;
  }
}
