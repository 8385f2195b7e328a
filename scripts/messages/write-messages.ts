/** `npm run messages`: adds new texts to the catalogs, empty until translated, and removes those that are not used. */

import { LANGUAGES, SOURCE_LANGUAGE } from "../../console/src/i18n/language.ts";
import { readCatalog, updateCatalog, writeCatalog } from "./catalogs.ts";
import { readSourceMessages } from "./source-messages.ts";

const { messages } = readSourceMessages();
for (const { id } of LANGUAGES) {
  if (id === SOURCE_LANGUAGE) continue;
  const catalog = updateCatalog(id, readCatalog(id), messages);
  writeCatalog(id, catalog);
  const missing = Object.values(catalog).filter((text) => text === "").length;
  console.log(`${id}: ${Object.keys(catalog).length} texts, ${missing} without a translation`);
}
