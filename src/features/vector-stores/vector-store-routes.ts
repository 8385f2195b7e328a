import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { operation, routes } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import type { Inference } from "../../inference/inference.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import { SearchBody, SearchResults, toSearchResults } from "../../wire/openai/vector-store-search.ts";
import {
  toVectorStore,
  VectorStore,
  VectorStoreBody,
  VectorStoreChanges,
  VectorStoreListQuery,
} from "../../wire/openai/vector-stores.ts";
import { deleted, listOfEntries } from "../../wire/openapi/list-answers.ts";
import { chunkSizesOf } from "./chunk-sizes.ts";
import type { VectorStoreParts } from "./vector-store-parts.ts";
import type { VectorStoreRow } from "./vector-store-rows.ts";

export interface OfStore {
  Params: { store: string };
}

/** /v1/vector_stores */
export function vectorStores(inference: Inference, parts: VectorStoreParts): FastifyPluginAsync {
  const { stores, files, search } = parts;
  const show = async (store: VectorStoreRow) => {
    const complete = await stores.withTotals(store);
    return toVectorStore(complete, complete.totals);
  };
  return routes(
    operation(
      "POST /vector_stores",
      {
        summary: "Creates a vector store, with files if any are named.",
        tag: "Vector stores",
        permission: "project",
        body: VectorStoreBody,
        answer: VectorStore,
      },
      async ({ body, request, reply }) => {
        const { caller } = request;
        const embeddingModel = embeddingModelFor(inference, caller, body.embedding_model ?? parts.embeddingModel);
        const projectId = projectOf(request);
        await files.checkFiles(projectId, body.file_ids ?? []);
        const store = await stores.create({
          projectId,
          name: body.name,
          description: body.description,
          metadata: body.metadata,
          expiresAfterDays: body.expires_after?.days,
          embeddingModel,
        });
        const chunking = chunkSizesOf(body.chunking_strategy);
        const additions = (body.file_ids ?? []).map((fileId) => ({ fileId, attributes: undefined, chunking }));
        if (additions.length > 0) await files.add(store, caller.keyId, additions);
        // It is a setting of these files, not of the store.
        else if (body.chunking_strategy !== undefined) reportIgnoredFields(reply, ["chunking_strategy"]);
        return show(store);
      },
    ),
    operation(
      "GET /vector_stores",
      {
        summary: "Lists the vector stores of the project, newest first.",
        tag: "Vector stores",
        permission: "project",
        query: VectorStoreListQuery,
        answer: listOfEntries(VectorStore),
      },
      async ({ query: { after, before, limit, order }, request }) => {
        const page = await stores.list({ projectId: projectOf(request), after, before, limit, order });
        return toListBody(page, (store) => toVectorStore(store, store.totals));
      },
    ),
    operation(
      "GET /vector_stores/:store",
      {
        summary: "Retrieves a vector store and the progress of its files.",
        tag: "Vector stores",
        permission: "project",
        answer: VectorStore,
      },
      async ({ request }) => show(await stores.find(storeOf(request))),
    ),
    operation(
      "POST /vector_stores/:store",
      {
        summary: "Changes the name, expiry or metadata of a vector store.",
        tag: "Vector stores",
        permission: "project",
        body: VectorStoreChanges,
        answer: VectorStore,
      },
      async ({ body: { name, metadata, expires_after: expiry }, request }) => {
        const expiresAfterDays = expiry === undefined || expiry === null ? expiry : expiry.days;
        return show(await stores.update(storeOf(request), { name, metadata, expiresAfterDays }));
      },
    ),
    operation(
      "DELETE /vector_stores/:store",
      {
        summary: "Deletes a vector store; its files stay in the Files API.",
        tag: "Vector stores",
        permission: "project",
        answer: deleted("vector_store.deleted"),
      },
      async ({ request }) => {
        const { id, projectId } = storeOf(request);
        await stores.delete({ id, projectId });
        return { id, object: "vector_store.deleted" as const, deleted: true };
      },
    ),
    operation(
      "POST /vector_stores/:store/search",
      {
        summary: "Finds the chunks of a vector store that fit a query, by meaning and by words.",
        tag: "Vector stores",
        permission: "project",
        counts: "by-handler",
        body: SearchBody,
        answer: SearchResults,
      },
      async ({ body, caller, request, reply }) => {
        const store = await stores.findActive(storeOf(request));
        request.record.model = store.embeddingModel;
        const query = {
          queries: [body.query].flat(),
          rewritesQuery: body.rewrite_query,
          max: body.max_num_results,
          filter: body.filters,
          ranking: body.ranking_options,
        };
        const { queries, results } = await search.searchAtPrice(caller, [store], query, onDisconnect(reply));
        return toSearchResults(queries, results);
      },
    ),
  );
}

export function storeOf(request: FastifyRequest<OfStore>) {
  return { projectId: projectOf(request), id: request.params.store };
}

/** Returns the catalog ID of the model for new stores. Throws a Fault when the caller has none. */
function embeddingModelFor(
  { models }: Pick<Inference, "models">,
  caller: FastifyRequest["caller"],
  requested: string | undefined,
): string {
  if (requested !== undefined) return models.findForTask(caller, requested, "embedding").model.id;
  return models.first(caller, "embedding");
}
