/** What other features may use. */

export type { BlobStore, ByteRange } from "./blob-store.ts";
export type { BodyContent, ContentReading } from "./content-resolver.ts";
export type { DocumentTexts } from "./document-texts.ts";
export { markStored } from "./file-queries.ts";
export type { FileRow } from "./file-rows.ts";
export type { FileStorage } from "./file-storage.ts";
export type { FileStore } from "./file-store.ts";
export { InputReader } from "./input-reader.ts";
export { mediaTypeOf } from "./media-type.ts";
export { readLines } from "./read-lines.ts";
export { MAX_BLANK_LINES, scanLines } from "./scan-lines.ts";
