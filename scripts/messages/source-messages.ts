/** Every text that the console translates, and what is wrong with how it is written. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findMessages } from "./find-messages.ts";
import { findUntranslated } from "./find-untranslated.ts";
import { parseSource } from "./syntax-tree.ts";

const CONSOLE = join(import.meta.dirname, "../../console/src");
const FILES = globSync("**/*.{ts,tsx}", {
  cwd: CONSOLE,
  exclude: ["**/*.test.ts", "**/*.d.ts", "i18n/**", "api/answers.ts"],
}).sort();

export interface SourceMessages {
  /** Key → English of exactly one, or undefined for a text without plural forms. */
  messages: ReadonlyMap<string, string | undefined>;
  problems: readonly string[];
}

export function readSourceMessages(): SourceMessages {
  const messages = new Map<string, string | undefined>();
  const problems: string[] = [];
  for (const file of FILES) {
    const source = readFileSync(join(CONSOLE, file), "utf8");
    const report = (at: number, problem: string) =>
      problems.push(`console/src/${file}:${source.slice(0, at).split("\n").length} ${problem}`);
    const { messages: texts, problems: mistakes } = findMessages(parseSource(file, source).program);
    for (const { at, problem } of mistakes) report(at, problem);
    for (const { key, one, at } of texts) {
      if (messages.has(key) && messages.get(key) !== one) report(at, `"${key}" has other plural forms elsewhere`);
      messages.set(key, one);
    }
    for (const { text, node } of findUntranslated(file, source)) {
      report(node.start, `"${text.trim().replace(/\s+/gu, " ")}" is not translated`);
    }
  }
  return { messages, problems };
}
