/** Calls Parlance's HTTP API with the session's cookie. */

import { t } from "../i18n/translate.ts";

export class ApiError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly param: string | null;

  constructor(status: number, message: string, code: string | null = null, param: string | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

export type Query = Record<string, string | number | boolean | undefined | readonly string[]>;

interface RequestOptions {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  query?: Query;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  signal?: AbortSignal;
}

/** Absolute URL of a path, relative to the console's own: a proxy may serve both below a path. */
export function urlOf(path: string, query: Query = {}): string {
  const url = new URL(path, document.baseURI.split("#", 1)[0]);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === "") continue;
    for (const each of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(each));
  }
  return url.href;
}

/** Resolves with the response. Throws an ApiError for a status other than 2xx, or when the service cannot be reached. */
export async function send(path: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", query, body, headers, signal } = options;
  const isForm = body instanceof FormData;
  let response: Response;
  try {
    response = await fetch(urlOf(path, query), {
      method,
      signal: signal ?? null,
      headers: { ...(body !== undefined && !isForm && { "content-type": "application/json" }), ...headers },
      body: body === undefined ? null : isForm ? body : JSON.stringify(body),
    });
  } catch (failure) {
    if (signal?.aborted) throw failure;
    throw new ApiError(0, t("Parlance cannot be reached. Check that it is running."));
  }
  if (response.ok) return response;
  const { error } = (await response.json().catch(() => ({}))) as {
    error?: { message?: string; code?: string | null; param?: string | null };
  };
  throw new ApiError(
    response.status,
    error?.message ?? t("Status {{status}}", { status: response.status }),
    error?.code,
    error?.param,
  );
}

export async function request<Body>(path: string, options?: RequestOptions): Promise<Body> {
  return (await send(path, options)).json() as Promise<Body>;
}

export interface Page<Entry> {
  data: Entry[];
  has_more: boolean;
  last_id?: string | null;
  /** Cursor of lists that have no `last_id`. */
  next?: string | null;
}

/** Reads every page of a list. */
export async function listAll<Entry>(
  path: string,
  query: Query = {},
  signal?: AbortSignal,
  headers?: RequestOptions["headers"],
): Promise<Entry[]> {
  const entries: Entry[] = [];
  let after: string | undefined;
  do {
    const page: Page<Entry> = await request(path, {
      query: { limit: 100, ...query, after },
      ...(signal && { signal }),
      ...(headers && { headers }),
    });
    entries.push(...page.data);
    after = page.has_more ? (page.last_id ?? page.next ?? undefined) : undefined;
  } while (after !== undefined);
  return entries;
}

/** Resolves with null for a resource that does not exist. Browsers log a 404 as an error, hence the preference. */
export async function retrieveOrNull<Body>(path: string, signal: AbortSignal): Promise<Body | null> {
  const response = await send(path, { signal, headers: { prefer: "absent=no-content" } });
  return response.status === 204 ? null : response.json();
}
