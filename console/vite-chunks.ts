/**
 * Puts the page for signing in and the console into one file each. By itself, the bundler makes a file of every module
 * that some pages share, because it does not see that each page follows the console: the first load of the chat is
 * then 70 files, which compress worse by a tenth.
 */

import { join } from "node:path";
import type { Rolldown } from "vite";

/** Makes the console an entry of its own, whose modules the bundler can tell from those of its pages. */
export const INPUT = {
  index: join(import.meta.dirname, "index.html"),
  app: join(import.meta.dirname, "src/app.tsx"),
};

export function codeSplitting(): Rolldown.CodeSplittingOptions {
  let signIn: ReadonlySet<string> | undefined;
  return {
    groups: [
      {
        name(id, context) {
          signIn ??= staticImports(INPUT.index, context);
          return signIn.has(id) ? "index" : null;
        },
        debugName: "sign-in",
        priority: 1,
      },
      { name: "app", tags: ["$initial"] },
    ],
  };
}

function staticImports(entry: string, context: Rolldown.ChunkingContext): ReadonlySet<string> {
  const modules = new Set([entry]);
  // A set also walks what is added meanwhile.
  for (const id of modules) for (const imported of context.getModuleInfo(id)?.importedIds ?? []) modules.add(imported);
  return modules;
}
