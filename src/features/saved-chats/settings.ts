/** Section `saved_chats`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";
import { memory } from "../../kernel/settings/sizes.ts";

export const savedChatSettings = mapping(
  () => ({
    store: z
      .boolean()
      .default(true)
      .describe(
        "Whether the service stores the conversations of the console's chat, encrypted, for people who sign in. false: they stay in the browser.",
      ),
    keep_days: z.int().min(1).max(36_500).default(365).describe("Days to keep a conversation after its last change."),
    max_chats_per_person: z
      .int()
      .min(1)
      .max(10_000)
      .default(1_000)
      .describe("Maximum conversations that one person stores, in all projects together."),
    max_size_per_chat: memory
      .prefault("10MiB")
      .describe(
        "Maximum size of one conversation with its images and files, such as 10MiB; `server.max_body_bytes` bounds it, too. A larger one stays in the browser.",
      ),
    max_size_per_person: memory
      .prefault("200MiB")
      .describe("Maximum size of the conversations that one person stores, in all projects together."),
  }),
  "Conversations of the console's chat, which only the person who had them reads.",
);

export type SavedChatSettings = z.output<typeof savedChatSettings>;

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    savedChats: z.output<typeof savedChatSettings>;
  }
}
