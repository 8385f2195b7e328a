/** What other features may use. */

export { Recordings } from "./recordings.ts";
