import { z } from "zod";

const MAX_PAIRS = 16;

/** Up to 16 texts by name, which clients attach to responses and conversations. */
export const Metadata = z
  .record(z.string().max(64), z.string().max(512))
  .refine((metadata) => Object.keys(metadata).length <= MAX_PAIRS, {
    error: `it may have at most ${MAX_PAIRS} pairs`,
  });
