/** The environment variables that Parlance reads, each with its meaning; an empty one counts as unset. */

import { z } from "zod";
import { Secret } from "../secret.ts";
import { host, port } from "./addresses.ts";
import { LOG_LEVELS } from "./file-schema.ts";

const KEY_BOUND = "must be 32 to 512 printable ASCII characters without white space";

const key = z
  .string()
  .regex(/^[\x21-\x7e]{32,512}$/, { error: KEY_BOUND })
  .transform((value) => new Secret(value));

/** A Service named `parlance` makes Kubernetes set PARLANCE_PORT to `tcp://…` in every pod beside it. */
const SERVICE_LINK =
  "holds what Kubernetes sets for a Service named parlance: set enableServiceLinks: false on the pod";

const portText = z
  .string()
  .refine((value) => !value.startsWith("tcp://"), { error: SERVICE_LINK, abort: true })
  .transform((value) => (/^\d{1,5}$/.test(value) ? Number(value) : Number.NaN))
  .pipe(port);

const YES = ["1", "true", "yes", "on"];
const NO = ["0", "false", "no", "off"];

function flag(error: string) {
  return z
    .string()
    .refine((value) => [...YES, ...NO].includes(value.toLowerCase()), { error })
    .transform((value) => YES.includes(value.toLowerCase()));
}

function urlOf(protocols: readonly string[], needsHost: boolean) {
  return z.string().refine(
    (value) => {
      const url = URL.parse(value);
      return url !== null && protocols.includes(url.protocol) && (!needsHost || url.hostname !== "");
    },
    { error: `must be a URL that begins with ${protocols.map((each) => `${each}//`).join(" or ")}` },
  );
}

/** What the client would refuse, naming no setting. */
const redisUrl = urlOf(["redis:", "rediss:"], true).refine(
  (value) => {
    const url = URL.parse(value);
    return url === null || (/^\/?\d*$/.test(url.pathname) && [url.username, url.password].every(isEncoded));
  },
  { error: "may end in the number of a database, such as /1, and its user and password must be percent-encoded" },
);

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const secretText = (schema: z.ZodType<string, string>) => schema.transform((value) => new Secret(value));

const path = z.string().max(4096);

export const environmentSchema = z.object({
  PARLANCE_CONFIG: path
    .optional()
    .describe("The configuration file. Unset: parlance.yaml in the working directory, if it is there."),
  PARLANCE_HOST: host.optional().describe("Address to listen on; before server.host."),
  PARLANCE_PORT: portText.optional().describe("Port to listen on; before server.port."),
  PARLANCE_DATA_DIR: path
    .optional()
    .describe("Data directory; before data_directory. Relative to the working directory."),
  PARLANCE_MODELS_DIR: path
    .optional()
    .describe("Where model files are kept; before models_directory. Relative to the working directory."),
  PARLANCE_API_KEY: key
    .optional()
    .describe(
      "Fixes the first project key, 32 to 512 printable characters. Unset: one is made at first start and shown once.",
    ),
  PARLANCE_ADMIN_KEY: key.optional().describe("Fixes the first admin key, likewise. Not the same as PARLANCE_API_KEY."),
  PARLANCE_METRICS_KEY: key
    .optional()
    .describe(
      "Bearer key that /metrics needs on the service's own port, 32 to 512 printable characters. Unset: no key is needed.",
    ),
  PARLANCE_LOG_LEVEL: z.enum(LOG_LEVELS).optional().describe("Least grave log line that is written; before log_level."),
  PARLANCE_BUILTIN_MODELS: flag("must be true or false")
    .optional()
    .describe("Whether the models that Parlance brings are in the catalog (true or false); before builtin_models."),
  PARLANCE_TEST_ENGINES: flag("must be 1 or 0")
    .default(false)
    .describe("For tests of Parlance itself. 1: the engine for tests may crash its own process."),
  DATABASE_URL: secretText(urlOf(["postgres:", "postgresql:"], false))
    .optional()
    .describe("A PostgreSQL database, postgres://…. Unset: SQLite in the data directory."),
  REDIS_URL: secretText(redisUrl)
    .optional()
    .describe(
      "A Redis or Valkey, redis://…, in which replicas count limits together. Unset: PostgreSQL, or each for itself.",
    ),
  HF_ENDPOINT: urlOf(["https:", "http:"], true)
    .optional()
    .transform((value) => (value ?? "https://huggingface.co").replace(/\/+$/, ""))
    .describe("The Hugging Face hub, or a mirror of it. Unset: https://huggingface.co."),
  HF_TOKEN: secretText(z.string().regex(/^[\x21-\x7e]+$/, { error: "must be printable ASCII without white space" }))
    .optional()
    .describe("Sent to the hub, for models that ask for consent."),
  HF_HUB_OFFLINE: flag("must be 1 or 0").default(false).describe("1: the hub is never asked."),
});

export type Environment = z.output<typeof environmentSchema>;
