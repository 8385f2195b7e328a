import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import {
  FileBatchBody,
  StoreFileListQuery,
  toFileBatch,
  toStoreFile,
  VectorStoreFile,
  VectorStoreFileBatch,
} from "../../wire/openai/vector-stores.ts";
import { listOfEntries } from "../../wire/openapi/list-answers.ts";
import { chunkSizesOf } from "./chunk-sizes.ts";
import type { VectorStoreParts } from "./vector-store-parts.ts";
import { storeOf } from "./vector-store-routes.ts";
import type { VectorStoreBatchRow } from "./vector-store-rows.ts";

/** /v1/vector_stores/{store}/file_batches */
export function fileBatches({ stores, files }: VectorStoreParts): FastifyPluginAsync {
  const show = async (batch: VectorStoreBatchRow) => toFileBatch(batch, await files.countBatch(batch));
  return routes(
    operation(
      "POST /vector_stores/:store/file_batches",
      {
        summary: "Adds up to 2,000 files to a vector store.",
        tag: "Vector stores",
        permission: "project",
        body: FileBatchBody,
        answer: VectorStoreFileBatch,
      },
      async ({ body, caller, request }) => {
        const store = await stores.findActive(storeOf(request));
        const { attributes, chunking_strategy, file_ids: ids = [], files: listed } = body;
        const entries = listed ?? ids.map((file_id) => ({ file_id, attributes, chunking_strategy }));
        const additions = entries.map((entry) => ({
          fileId: entry.file_id,
          attributes: entry.attributes ?? attributes,
          chunking: chunkSizesOf(entry.chunking_strategy ?? chunking_strategy),
        }));
        const batch = await files.addBatch(store, caller.keyId, additions);
        await stores.markActive(store);
        return show(batch);
      },
    ),
    operation(
      "GET /vector_stores/:store/file_batches/:batch",
      {
        summary: "Retrieves the progress of a batch of files.",
        tag: "Vector stores",
        permission: "project",
        answer: VectorStoreFileBatch,
      },
      async ({ params, request }) => {
        const store = await stores.find(storeOf(request));
        return show(await files.findBatch(store, params.batch));
      },
    ),
    operation(
      "POST /vector_stores/:store/file_batches/:batch/cancel",
      {
        summary: "Cancels the files of a batch that are not added yet.",
        tag: "Vector stores",
        permission: "project",
        counts: "never",
        answer: VectorStoreFileBatch,
      },
      async ({ params, request }) => {
        const store = await stores.find(storeOf(request));
        return show(await files.cancelBatch(store, params.batch));
      },
    ),
    operation(
      "GET /vector_stores/:store/file_batches/:batch/files",
      {
        summary: "Lists the files of a batch, or those of `?filter=`.",
        tag: "Vector stores",
        permission: "project",
        query: StoreFileListQuery,
        answer: listOfEntries(VectorStoreFile),
      },
      async ({ params, query: { filter: status, after, before, limit, order }, request }) => {
        const store = await stores.find(storeOf(request));
        const { id: batchId } = await files.findBatch(store, params.batch);
        const page = { vectorStoreId: store.id, batchId, status, after, before, limit, order };
        return toListBody(await files.list(page), toStoreFile);
      },
    ),
  );
}
