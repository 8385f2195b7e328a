/** Finds the entries of the API that are invalid, so that the others stay in force. */

import type { ConfigErrors, Path } from "./config-errors.ts";
import type { LayerEntry } from "./layer.ts";

interface Attempt {
  errors: ConfigErrors;
  paths: ReadonlyMap<LayerEntry, Path>;
}

export interface BuiltWithout<Built> {
  /** Built with all entries but those of `problems`; with errors only if it has some without any entry. */
  built: Built;
  problems: ReadonlyMap<LayerEntry, string>;
}

/** `build` builds with some of the entries. */
export function buildWithout<Built extends Attempt>(
  entries: readonly LayerEntry[],
  build: (entries: readonly LayerEntry[]) => Built,
): BuiltWithout<Built> {
  const problems = new Map(entries.flatMap((entry) => (entry.problem === undefined ? [] : [[entry, entry.problem]])));
  const without = () => entries.filter((entry) => !problems.has(entry));
  let built = build(without());
  // An entry that is left out can invalidate those that refer to it.
  while (!built.errors.isEmpty) {
    const before = problems.size;
    for (const [entry, path] of built.paths) {
      const messages = built.errors.below(path);
      if (messages.length > 0) problems.set(entry, messages.join("; "));
    }
    if (problems.size === before) break;
    built = build(without());
  }
  if (built.errors.isEmpty) return { built, problems };
  // The remaining errors are at the file's own models, as when one of them has the ID of an entry as an alias.
  const alone = build([]);
  if (!alone.errors.isEmpty) return { built: alone, problems };
  let accepted: readonly LayerEntry[] = [];
  let waiting = without();
  built = alone;
  for (let progress = true; progress && waiting.length > 0; ) {
    const refused: LayerEntry[] = [];
    const admit = (some: readonly LayerEntry[]) => {
      const attempt = build([...accepted, ...some]);
      if (attempt.errors.isEmpty) {
        accepted = [...accepted, ...some];
        built = attempt;
      } else if (some.length === 1) {
        refused.push(...some);
        for (const entry of some) problems.set(entry, attempt.errors.below([]).join("; "));
      } else {
        admit(some.slice(0, some.length >> 1));
        admit(some.slice(some.length >> 1));
      }
    };
    admit(waiting);
    progress = refused.length < waiting.length;
    waiting = refused;
  }
  for (const entry of accepted) problems.delete(entry);
  return { built, problems };
}
