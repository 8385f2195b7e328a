/** Answers about the state, downloads and library of local models. */

import { z } from "zod";
import { TASKS } from "../../contracts/task.ts";
import { lazy } from "../../kernel/lazy.ts";
import { named } from "./named.ts";
import { ErrorAnswer } from "./service-answers.ts";

export const ModelStatus = named(
  "ModelStatus",
  lazy.object(() => ({
    object: z.literal("organization.model"),
    id: z.string(),
    deployments: z.array(
      z.object({
        name: z.string(),
        state: z.string(),
        memory_bytes: z.number().nullable(),
        load_seconds: z.number().nullable(),
      }),
    ),
  })),
);

/** Event of a pull whose progress the client follows. */
export const ModelPullEvent = named(
  "ModelPullEvent",
  z.union([
    lazy.object(() => ({
      object: z.literal("organization.model.pull"),
      id: z.string(),
      file: z.string(),
      phase: z.string(),
      source: z.string().nullable(),
      received_bytes: z.number().describe("Of the file."),
      total_bytes: z.number().nullable().describe("Of the file."),
      completed_bytes: z.number().describe("Of all files of the model."),
      model_bytes: z.number().nullable().describe("Of all files of the model."),
    })),
    ErrorAnswer,
  ]),
);

export const ModelPull = named(
  "ModelPull",
  lazy.object(() => ({
    object: z.literal("organization.model.pull"),
    id: z.string(),
    state: z.enum(["running", "done", "failed", "cancelled"]),
    file: z.string().nullable(),
    received_bytes: z.number().describe("Of all files of the model."),
    total_bytes: z.number().nullable(),
    error_message: z.string().nullable(),
  })),
);

export const ModelLibrary = named(
  "ModelLibrary",
  lazy.object(() => ({
    object: z.literal("list"),
    machine: z.object({ cores: z.int(), model_memory_bytes: z.number(), free_bytes: z.number() }),
    data: z.array(
      z.object({
        object: z.literal("organization.library_model"),
        id: z.string(),
        task: z.enum(TASKS),
        description: z.string(),
        license: z.string(),
        languages: z.string().nullable().describe("For people, such as 119 languages."),
        download_bytes: z.number().nullable(),
        memory_bytes: z.number().nullable(),
        tokens_per_second: z.number().nullable().describe("Of one request on this machine's processor."),
        is_measured: z.boolean().describe("False: the speed is estimated from the size."),
        fits: z.boolean(),
        is_pulled: z.boolean(),
        pull: ModelPull.nullable().describe("The last pull in the background."),
      }),
    ),
  })),
);
