import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../../..");

/** What `npm start` runs. */
export const SOURCE_EXECUTABLE = join(ROOT, "scripts/start.mjs");

/** What most tests run: the bundle of this run, where its setup has built one. */
export const EXECUTABLE = process.env.PARLANCE_TEST_EXECUTABLE ?? SOURCE_EXECUTABLE;
