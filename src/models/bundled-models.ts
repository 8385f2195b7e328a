/** Models that are part of the installation and need no download. */

import type { Task } from "../engines/task.ts";

export interface BundledModel {
  /** Catalog id. */
  id: string;
  task: Task;
  engine: "flite";
  licence: string;
  description: string;
  engineSettings: Readonly<Record<string, unknown>>;
}

export const BUNDLED_MODELS: readonly BundledModel[] = [
  {
    id: "flite",
    task: "speech",
    engine: "flite",
    licence: "BSD-like (Carnegie Mellon University)",
    description: "Four simple voices that work everywhere; the fallback of the default voice",
    // Alias of the default model's voice, to answer requests for it as a fallback.
    engineSettings: { voices: { heart: "slt" } },
  },
];
