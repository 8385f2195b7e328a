/** What other features may use. */

export { readLines } from "./read-lines.ts";
