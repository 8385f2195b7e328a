/** `npm run notice`: writes NOTICE. */

import { readFileSync, writeFileSync } from "node:fs";
import { renderNotice } from "./notice.ts";

writeFileSync("NOTICE", renderNotice(JSON.parse(readFileSync("package-lock.json", "utf8"))));
