/** What other features may use. */

export type { RecordedContents } from "./recorded-contents.ts";
export { hasMetadata, type StoredCompletions } from "./stored-completions.ts";
