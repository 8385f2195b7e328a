import type { BlobStore } from "./blob-store.ts";
import type { ContentResolver } from "./content-resolver.ts";
import type { DocumentTexts } from "./document-texts.ts";
import type { FileStore } from "./file-store.ts";

/** Uploaded files, as other features use them. */
export interface FileStorage {
  blobs: BlobStore;
  files: FileStore;
  /** Reads what requests refer to. */
  resolver: ContentResolver;
  /** Reads the text of documents. */
  documents: DocumentTexts;
  /** Folder for uploads and temporary files. */
  directory: string;
}
