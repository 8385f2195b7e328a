import type { z } from "zod";
import type { RolePermission } from "../../contracts/permissions.ts";

/** An endpoint: the route's definition, from which the reference, the OpenAPI document and checks of answers are made. */
export interface Operation {
  /** One sentence, in Markdown. */
  summary: string;
  tag: Tag;
  permission: Permission;
  /**
   * What a user needs, with a session or a key: any of these permissions, in the project of the path if it names one, or
   * of the key. `signed-in`: the answer has only what the user may see. `no-user`: only keys without a user or a list of
   * permissions may call it. Undefined: `project.inference` for operations of project keys. Keys without a user need none.
   */
  requires?: Requirement;
  /** What a user needs instead where `{user}` of the path is the same user, except with a restricted key. */
  requiresOfSelf?: Requirement;
  /**
   * What the operation gives: a credential, such as a key, session, link or invite, or access by a role, group or
   * membership. A test walks all of these: what the result may do is within what the caller may do.
   */
  grants?: "credential" | "access";
  /**
   * Whether a call counts as a request of the caller's limits. Default: those of project keys but GET and DELETE count
   * before their handlers run. `by-handler`: it runs a model, which counts, counts in a dialect with headers of its own, or
   * counts where guardrails apply. `never`: it ends what costs, or the console calls it as people write.
   */
  counts?: "by-handler" | "never";
  query?: z.ZodObject;
  /** JSON body; one of two where there is a form, too. */
  body?: z.ZodType;
  /** Fields of a multipart form, beside its files. */
  form?: z.ZodObject;
  /** Files of the form; only `file` unless set. */
  files?: z.ZodObject;
  /** True for a body that may be left out. */
  isBodyOptional?: boolean;
  /** JSON answer with status 200. */
  answer?: z.ZodType;
  /** True for an operation that answers, or may answer, with status 204 and no body. */
  hasEmptyAnswer?: boolean;
  /** Further content types of the answer with status 200. */
  content?: readonly ContentType[];
  /** Data of each server-sent event, or each line of NDJSON, of the content types that are streams. */
  events?: z.ZodType;
  /** JSON answers with other statuses that are no errors. */
  others?: Readonly<Record<number, z.ZodType>>;
  /** Whether `If-Match` may name the version that the operation changes. */
  readsIfMatch?: boolean;
  /** Name of the parameter that is the rest of the path (`*`). */
  wildcard?: string;
  /** Custom method of a resource, which ends the path: `generateContent` of `/models/{model}:generateContent`. */
  customMethod?: string;
}

export type Requirement = RolePermission | "signed-in" | "no-user" | readonly RolePermission[];

/** Operation of a route that the server has. */
export interface RegisteredOperation extends Operation {
  method: string;
  /** Path with its parameters in braces. */
  path: string;
}

export type ContentType =
  | "text/event-stream"
  | "application/x-ndjson"
  | "text/plain"
  | "text/html"
  | "text/csv"
  | "application/vnd.apache.parquet"
  | "application/zip"
  | "text/vtt"
  | "audio/mpeg"
  | "audio/ogg"
  | "audio/aac"
  | "audio/flac"
  | "audio/wav"
  | "audio/pcm"
  | "application/octet-stream";

/** Sections of the reference, in its order. */
export const TAGS = {
  Chat: "Chat in OpenAI's and Anthropic's formats, and text completions.",
  "Saved chats": "Chats of the console, which only the signed-in person who had them reads.",
  Responses: "OpenAI's Responses API and conversations.",
  MCP: "Tools of MCP servers, for MCP clients.",
  Realtime: "Sessions over a WebSocket.",
  Audio: "Speech and transcription.",
  Images: "Generation, edits and variations of images.",
  Text: "Embeddings, reranking and moderation.",
  Evals: "Evals of models and prompts: graders, runs and their results.",
  Prompts: "Stored prompts, their versions and labels.",
  "Vector stores": "Stores that searches and the tool `file_search` read, of uploaded files.",
  Webhooks: "Endpoints that get events of a project.",
  Batches: "Files, uploads, and batches of requests that run with low priority.",
  Ollama: "Ollama's API.",
  Gemini: "Google's Gemini API.",
  Cohere: "Cohere's API, version 2.",
  Models: "Models that a key may use.",
  Projects: "Projects, service accounts, keys and their limits.",
  People: "Users, invites, groups and roles.",
  SCIM: "Provisioning of users and groups by an identity provider.",
  Reports: "Usage, costs, requests and changes.",
  Organization: "Admin keys, models and limits of the organization.",
  Service: "Health, metrics and the console.",
} as const;

export type Tag = keyof typeof TAGS;

/** Who may call an operation, with the name for readers of the reference. */
export const PERMISSIONS = {
  project: "project",
  admin: "admin",
  /** A project key gets the part of the answer that belongs to its project. */
  "admin-or-project": "admin or project",
  /** Commands of the operator on the machine of the service; no key of an organization. */
  operator: "operator",
  /** An admin key gets more. */
  "optional-admin": "none, or admin",
  /** The key of the setting `operations.metrics_key`, if it is set. */
  metrics: "metrics",
  /** Pages of the service's own origin. */
  console: "console",
  public: "none",
} as const;

export type Permission = keyof typeof PERMISSIONS;
