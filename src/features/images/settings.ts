/** Section `images`. */

import { z } from "zod";
import { mapping } from "../../kernel/settings/mapping.ts";

export const imageSettings = mapping(
  () => ({
    max_images: z.int().min(1).max(100).default(10).describe("Maximum images of one request."),
    max_pixels: z
      .int()
      .min(4096)
      .max(268_435_456)
      .default(16_777_216)
      .describe("Maximum width × height of one image. The default is 4096 × 4096."),
    max_input_images: z.int().min(1).max(100).default(16).describe("Maximum images that one request edits."),
  }),
  "Generated images.",
);

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    images: z.output<typeof imageSettings>;
  }
}
