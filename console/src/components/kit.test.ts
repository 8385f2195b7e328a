/** Pages build tables, dialogs and changes from the kit, so that all of them load, fail and look alike. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCES = join(import.meta.dirname, "..");

/** What the kit covers, with the files that may use it themselves, and why. */
const COVERED: readonly { what: string; from: string; kit: string; exceptions: Readonly<Record<string, string>> }[] = [
  {
    what: "Table",
    from: "@mantine/core",
    kit: "ResourceTable",
    exceptions: {
      "components/resource-table.tsx": "is the kit",
      "components/virtual-body.tsx": "is its body",
      "pages/embeddings/embeddings-page.tsx": "draws a matrix of similarities, not rows of a resource",
    },
  },
  {
    what: "Modal",
    from: "@mantine/core",
    kit: "Dialog or FormDialog",
    exceptions: {
      "components/dialog.tsx": "is the kit",
      "shell/command-palette.tsx": "has neither a title nor a margin",
    },
  },
  {
    what: "useMutation",
    from: "@tanstack/react-query",
    kit: "useSave or useAction",
    exceptions: {
      "components/use-save.ts": "is the kit",
      "components/use-action.ts": "is the kit",
      "pages/chat/conversations/conversation-list.tsx": "moves conversations, which tell of failures by themselves",
      "pages/chat/prompts-panel.tsx": "shows the failure beside the list",
      "pages/images/images-page.tsx": "shows images while they are made",
      "pages/speech/speech-page.tsx": "plays what it receives",
      "pages/embeddings/embeddings-page.tsx": "shows the failure above the matrix",
    },
  },
];

const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((path) =>
  /(?<!\.test)\.tsx?$/.test(path),
);

function imports(path: string, what: string, from: string): boolean {
  const source = readFileSync(join(SOURCES, path), "utf8");
  return [...source.matchAll(/^import ([^;]*?) from "([^"]+)";/gms)].some(
    ([, names = "", module]) => module === from && new RegExp(`\\b${what}\\b`).test(names),
  );
}

test.each(COVERED)("imports $what of $from in the kit and in named exceptions only", ({ what, from, exceptions }) => {
  const users = files.filter((path) => imports(path, what, from));
  expect(users.filter((path) => !(path in exceptions))).toEqual([]);
});
