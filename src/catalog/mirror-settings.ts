/** `mirror` of a model. */

import { z } from "zod";
import { mapping } from "../kernel/settings/mapping.ts";

export const mirror = mapping(
  () => ({
    model: z.string().min(1).describe("ID of the chat model that gets the copies; it may be `hidden`."),
    percent: z.number().gt(0).max(100).default(100).describe("Share of the requests that are mirrored, at random."),
    max_concurrent: z
      .int()
      .min(1)
      .max(1000)
      .default(4)
      .describe("Maximum number of mirrored requests at a time, in each process; further ones are not mirrored."),
  }),
  "Second model that a share of the model's chats is also sent to, for a comparison. Its answers reach nobody, are in the request history as `mirror`, cost callers nothing and delay none.",
);

export type MirrorSettings = z.output<typeof mirror>;
