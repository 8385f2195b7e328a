/** Format of the recordings in `recordings/`: requests that a client sent, without its texts and keys. */

/** Value of a header that names the client's key or the service's address; the replay fills it in. */
export const PLACEHOLDERS = { key: "{key}", host: "{host}" } as const;

/** Part of a multipart form; a file is recorded by its size only. */
export type RecordedPart =
  | { name: string; value: string }
  | { name: string; filename: string; type: string; bytes: number };

export interface RecordedRequest {
  method: string;
  /** Path with query. */
  path: string;
  /** Names and values in the order and case that the client sent. */
  headers: [name: string, value: string][];
  /** JSON body with the client's fields in their order. */
  json?: unknown;
  form?: RecordedPart[];
}

export interface Recording {
  client: string;
  version: string;
  requests: RecordedRequest[];
}
