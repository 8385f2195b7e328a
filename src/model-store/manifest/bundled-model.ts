import type { Task } from "../../contracts/task.ts";
import type { PreferredMachine } from "./manifest-entry.ts";

/** A built-in model without files of its own. */
export interface BundledModel {
  /** Catalog ID. */
  id: string;
  task: Task;
  engine: "cascade" | "flite" | "sentence-embeddings";
  /** Model of the manifest whose files it runs. It is in the catalog once they are there, or the configuration names it. */
  requires?: string;
  license: string;
  description: string;
  /** Languages that it understands or speaks, for people. */
  languages: string;
  /** Length of an embedding model's vectors. */
  dimensions?: number;
  /** Machines on which this model stands for its task instead of the default one. */
  preferredOn?: PreferredMachine;
  /** Models that answer when this one fails. */
  fallbacks?: readonly string[];
  engineSettings: Readonly<Record<string, unknown>>;
}
