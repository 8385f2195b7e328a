import { createRequire } from "node:module";

interface Package {
  version: string;
}

/** One level up both from `src/` and from `dist/`. */
const { version } = createRequire(import.meta.url)("../../package.json") as Package;

export const VERSION: string = version;
/** As the specification labels the service. */
export const STAGE = "Beta";
