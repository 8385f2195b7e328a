import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { ApiError, listAll, request, urlOf } from "../../api/request.ts";
import { t } from "../../i18n/translate.ts";

export type Store = Answers["VectorStore"];
export type StoreFile = Answers["VectorStoreFile"];
export type SearchResults = Answers["VectorStoreSearchResults"];
export type Attributes = NonNullable<StoreFile["attributes"]>;

const PATH = "v1/vector_stores";
/** Chunks are made in the background. */
const REFRESH_BUSY_MS = 1_500;
const REFRESH_MS = 15_000;

const pathOf = (store: string, rest = "") => `${PATH}/${encodeURIComponent(store)}${rest}`;
const refreshOf = (status: string | undefined) => (status === "in_progress" ? REFRESH_BUSY_MS : REFRESH_MS);

export const storesQuery = queryOptions({
  queryKey: ["vector-stores"],
  queryFn: ({ signal }) => listAll<Store>(PATH, {}, signal),
  refetchInterval: ({ state }) =>
    refreshOf(state.data?.some(({ status }) => status === "in_progress") ? "in_progress" : undefined),
});

export const storeQuery = (id: string) =>
  queryOptions({
    queryKey: ["vector-stores", id],
    queryFn: ({ signal }) => request<Store>(pathOf(id), { signal }),
    refetchInterval: ({ state }) => refreshOf(state.data?.status),
  });

export const storeFilesQuery = (id: string) =>
  queryOptions({
    queryKey: ["vector-stores", id, "files"],
    queryFn: ({ signal }) => listAll<StoreFile>(pathOf(id, "/files"), {}, signal),
    refetchInterval: ({ state }) =>
      refreshOf(state.data?.some(({ status }) => status === "in_progress") ? "in_progress" : undefined),
  });

/** Fields of a store that its form sets. `days`: without use, after which it expires; undefined: never. */
export interface StoreFields {
  name: string;
  days: number | undefined;
  /** Embedding model of a new store; undefined: the service's. */
  embeddingModel?: string | undefined;
}

export function saveStore(id: string | undefined, { name, days, embeddingModel }: StoreFields): Promise<Store> {
  const expires = days === undefined ? null : { anchor: "last_active_at", days };
  const body = {
    name,
    ...((id !== undefined || expires !== null) && { expires_after: expires }),
    ...(embeddingModel !== undefined && { embedding_model: embeddingModel }),
  };
  return request<Store>(id === undefined ? PATH : pathOf(id), { method: "POST", body });
}

export function deleteStore(id: string): Promise<unknown> {
  return request(pathOf(id), { method: "DELETE" });
}

export function removeFile(store: string, file: string): Promise<unknown> {
  return request(pathOf(store, `/files/${encodeURIComponent(file)}`), { method: "DELETE" });
}

export function saveAttributes(store: string, file: string, attributes: Attributes): Promise<StoreFile> {
  return request(pathOf(store, `/files/${encodeURIComponent(file)}`), { method: "POST", body: { attributes } });
}

/** Chunks of a file, from one page: some 8,000. */
export function readChunks(store: string, file: string, signal: AbortSignal) {
  return request<Answers["VectorStoreFileContent"]>(pathOf(store, `/files/${encodeURIComponent(file)}/content`), {
    signal,
  });
}

export function searchStore(store: string, query: string, max: number): Promise<SearchResults> {
  return request(pathOf(store, "/search"), { method: "POST", body: { query, max_num_results: max } });
}

/** Uploads a file and adds it to the store. `onProgress`: share of the bytes that were sent. */
export async function addFile(store: string, file: File, onProgress: (share: number) => void): Promise<void> {
  const { id } = await upload(file, onProgress);
  await request(pathOf(store, "/files"), { method: "POST", body: { file_id: id } });
}

/** `fetch` does not say how much of a body was sent. */
function upload(file: File, onProgress: (share: number) => void): Promise<Answers["File"]> {
  const form = new FormData();
  form.set("purpose", "assistants");
  form.set("file", file, file.name);
  const { promise, resolve, reject } = Promise.withResolvers<Answers["File"]>();
  const sending = new XMLHttpRequest();
  sending.open("POST", urlOf("v1/files"));
  sending.responseType = "json";
  sending.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total);
  sending.onload = () => {
    const { status, response } = sending;
    if (status === 200) resolve(response);
    else reject(new ApiError(status, response?.error?.message ?? t("Status {{status}}", { status: String(status) })));
  };
  sending.onerror = () => reject(new ApiError(0, t("Parlance cannot be reached. Check that it is running.")));
  sending.send(form);
  return promise;
}
