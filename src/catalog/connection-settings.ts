/** Section `connections`. */

import { z } from "zod";
import { connectionFields } from "../engines/openai-compatible/settings.ts";

const name = z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/, {
  error: "must be 1 to 64 letters, digits, ., _ or -, and begin with a letter or digit",
});

/** One connection, as the file writes it. */
export const connection = z.strictObject(connectionFields);

export const connectionSettings = z
  .record(name, connection)
  .default({})
  .describe(
    "Connections to upstreams by name: address, key and time limits that deployments of the engine openai-compatible share. A deployment uses one with `connection: NAME` in place of these settings.",
  );

/** Settings that a deployment cannot override: the key of a connection goes to no other address. */
export const ADDRESS_SETTINGS = ["base_url", "endpoints", "api_key", "headers", "proxy", "tls"] as const;

declare module "../kernel/settings/settings.ts" {
  interface Settings {
    connections: z.output<typeof connectionSettings>;
  }
}
