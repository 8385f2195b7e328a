/** Limits a catalog that is imported as `locales/ID.json?sign-in` to the texts of the page for signing in. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const SOURCES = [
  "api/request.ts",
  "shell/language-select.tsx",
  "shell/sign-in-forms.tsx",
  "shell/sign-in-page.tsx",
  "shell/spinner.tsx",
];

export function signInTexts(): Plugin {
  return {
    name: "sign-in-texts",
    enforce: "pre",
    load(id) {
      const [catalog = "", query] = id.split("?");
      if (query !== "sign-in") return;
      const files = [catalog, ...SOURCES.map((path) => join(import.meta.dirname, "src", path))];
      for (const file of files) this.addWatchFile(file);
      const [translations = "", ...sources] = files.map((file) => readFileSync(file, "utf8"));
      const texts = Object.entries(JSON.parse(translations) as Record<string, string>).filter(([text]) =>
        sources.some((source) => source.includes(JSON.stringify(text))),
      );
      return { code: `export default ${JSON.stringify(Object.fromEntries(texts))}`, moduleType: "js" };
    },
  };
}
