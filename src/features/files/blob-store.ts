/** Where the bytes of files are kept. */

/** Bytes `offset` to `offset + length` of a blob. */
export interface ByteRange {
  offset: number;
  length: number;
}

/** Keys are paths such as `files/file-1a2b`, of letters, digits, `-`, `_`, `.` and `/`. */
export interface BlobStore {
  /** Checks that blobs can be written. Throws a Fault otherwise. */
  check(): Promise<void>;
  /** Takes the bytes of the file at `path`, which it may move. Replaces a blob of the same key. */
  putFile(key: string, path: string): Promise<void>;
  /** Resolves with the bytes as a stream. Throws a Fault `not-found` when there is no such blob. */
  read(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array>>;
  /** Deletes the blobs whose keys begin with this folder, such as `batches/batch_1a2b/`, or the blob of this key. */
  delete(keyOrFolder: string): Promise<void>;
}
