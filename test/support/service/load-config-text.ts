import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Config } from "../../../src/config/config.ts";
import { type ConfigSources, loadConfig } from "../../../src/config/load-config.ts";
import { Fault } from "../../../src/kernel/faults.ts";
import { Secret } from "../../../src/kernel/secret.ts";

/** Engine settings in different schema styles. */
const deploymentSchemas = {
  "openai-compatible": z.strictObject({
    base_url: z.url({ error: "must be a URL" }),
    api_key: z
      .string()
      .transform((value) => new Secret(value))
      .optional(),
    headers: z
      .record(
        z.string(),
        z.string().transform((value) => new Secret(value)),
      )
      .optional(),
    model: z.string().optional(),
  }),
  // Not strict: unknown keys must be rejected nevertheless.
  "llama-cpp": z.union([z.object({ model: z.string() }), z.object({ file: z.string() })]),
  either: z.strictObject({ gpu: z.union([z.enum(["auto", "cuda"]), z.literal(false)]) }),
  // Its message quotes the value.
  talkative: z.object({ text: z.string().refine(() => false, { error: ({ input }) => `is wrong: ${input}` }) }),
};

interface Loaded {
  /** The working directory, removed afterwards. */
  directory: string;
  config: Config;
}

type Environment = ConfigSources["environment"];

/** Loads `yaml` as the parlance.yaml of an empty working directory; undefined: without the file. */
export async function loadConfigText(yaml: string | undefined, environment: Environment = {}): Promise<Loaded> {
  const directory = await mkdtemp(join(tmpdir(), "parlance-config-"));
  try {
    if (yaml !== undefined) await writeFile(join(directory, "parlance.yaml"), yaml);
    const builtinModels = [
      { id: "small-chat", task: "chat" },
      { id: "small-voice", task: "speech" },
    ] as const;
    const config = await loadConfig({
      environment,
      workingDirectory: directory,
      deploymentSchemas,
      builtinModels,
      manifestIds: ["small-chat", "small-voice", "x"],
      engines: {
        "openai-compatible": { tasks: ["chat", "moderation", "speech"], takesWildcards: true, pullsModels: false },
        "llama-cpp": { tasks: ["chat"], takesWildcards: false, pullsModels: true },
      },
    });
    return { directory, config };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Message of the error that `loadConfig` throws. */
export async function faultOfConfigText(yaml: string | undefined, environment: Environment = {}): Promise<string> {
  try {
    await loadConfigText(yaml, environment);
  } catch (failure) {
    if (failure instanceof Fault) return failure.message;
    throw failure;
  }
  throw new Error("The configuration was accepted");
}
