/** Part of `npm run check`: the texts of the console and their translations. */

import { LANGUAGES, SOURCE_LANGUAGE } from "../../console/src/i18n/language.ts";
import { checkCatalog, readCatalog } from "./catalogs.ts";
import { readSourceMessages } from "./source-messages.ts";

const { messages, problems } = readSourceMessages();
const all = [
  ...problems,
  ...LANGUAGES.filter(({ id }) => id !== SOURCE_LANGUAGE).flatMap(({ id, isComplete }) =>
    checkCatalog(id, readCatalog(id), messages, isComplete),
  ),
];
for (const problem of all) console.error(problem);
if (all.length > 0) {
  console.error(`${all.length} problems of texts. See "Texts of the console" in CONTRIBUTING.md; \`npm run messages\``);
  process.exitCode = 1;
}
