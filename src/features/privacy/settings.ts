/** Section `retention`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";

const days = (max = 36_500) => z.int().min(1).max(max);

export const retentionSettings = mapping(
  () => ({
    audit_days: days().optional().describe("Days to keep the audit log. Default: indefinitely."),
    eval_days: days().default(90).describe("Days to keep a run of an eval after its end."),
    invite_days: days().default(90).describe("Days to keep an invite after it was accepted or expired."),
    key_days: days()
      .optional()
      .describe(
        "Days after which a key that was revoked or has expired loses its name, last address and client; sums of usage still name its ID. Default: never.",
      ),
    label_days: days()
      .optional()
      .describe(
        "Days to keep daily sums of usage by end user, tag and tool; those of hours are kept for `usage.record_days`. Default: indefinitely.",
      ),
    webhook_days: days(365)
      .default(7)
      .describe("Days to keep an event of webhooks that was not delivered, and the log of deliveries."),
  }),
  "How long to keep what no other section names: `usage`, `responses`, `saved_chats`, `files` (with batches) and `cache` have their own settings. Sessions and links are deleted when they expire.",
);

export type RetentionSettings = z.output<typeof retentionSettings>;

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    retention: z.output<typeof retentionSettings>;
  }
}
