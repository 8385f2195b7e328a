/** Every kind of engine: its settings schema at once, its code only when a deployment uses it. */

import type { ZodType } from "zod";
import type { Engine } from "./engine.ts";

interface RegisteredEngine {
  /** Checks and completes what a deployment in the configuration says besides `engine`. */
  settings: ZodType;
  load: () => Promise<Engine<never>>;
}

export const ENGINES = {} as const satisfies Record<string, RegisteredEngine>;
