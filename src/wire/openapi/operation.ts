import type { z } from "zod";

/** What a route takes and answers. */
export interface Operation {
  query?: z.ZodObject;
  /** JSON body. */
  body?: z.ZodType;
  /** Fields of a multipart form, beside its `file`. */
  form?: z.ZodType;
  /** True for a body that may be left out. */
  isBodyOptional?: boolean;
  /** JSON answer with status 200. */
  answer?: z.ZodType;
  /** Further content types of the answer with status 200. */
  content?: readonly ContentType[];
  /** JSON answers with other statuses that are no errors. */
  others?: Readonly<Record<number, z.ZodType>>;
  errors: ErrorKind;
}

export type ContentType =
  | "text/event-stream"
  | "application/x-ndjson"
  | "text/plain"
  | "text/html"
  | "text/vtt"
  | "audio/mpeg"
  | "audio/ogg"
  | "audio/aac"
  | "audio/flac"
  | "audio/wav"
  | "audio/pcm"
  | "application/octet-stream";

/** Which errors a route can answer with: of every route, of the administration, of models, or none. */
export type ErrorKind = "public" | "administration" | "inference" | "messages" | "ollama" | "none";
