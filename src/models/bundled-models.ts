/** Models that are installed with Parlance: nothing has to be fetched for them, so that they are there whatever fails. */

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
    description: "Four voices of an older kind that work everywhere; speaks when the default voice cannot",
    // The default model's own voice by its name, so that a request for that one can be answered too.
    engineSettings: { voices: { heart: "slt" } },
  },
];
