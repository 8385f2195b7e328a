import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import {
  StoreFileBody,
  StoreFileChanges,
  StoreFileContent,
  StoreFileListQuery,
  toStoreFile,
  VectorStoreFile,
} from "../../wire/openai/vector-stores.ts";
import { deleted, listOfEntries } from "../../wire/openapi/list-answers.ts";
import { chunkSizesOf } from "./chunk-sizes.ts";
import { ContentQuery, contentPage } from "./content-page.ts";
import type { VectorStoreParts } from "./vector-store-parts.ts";
import { storeOf } from "./vector-store-routes.ts";

interface OfFile {
  Params: { store: string; file: string };
}

/** /v1/vector_stores/{store}/files */
export function storeFiles({ stores, files }: VectorStoreParts): FastifyPluginAsync {
  const find = async (request: FastifyRequest<OfFile>) => {
    const store = await stores.find(storeOf(request));
    return { store, file: await files.find(store, request.params.file) };
  };
  return routes(
    operation(
      "POST /vector_stores/:store/files",
      {
        summary: "Adds a file to a vector store; it is read and embedded in the background.",
        tag: "Vector stores",
        permission: "project",
        body: StoreFileBody,
        answer: VectorStoreFile,
      },
      async ({ body, caller, request }) => {
        const store = await stores.findActive(storeOf(request));
        const addition = {
          fileId: body.file_id,
          attributes: body.attributes,
          chunking: chunkSizesOf(body.chunking_strategy),
        };
        const [file] = await files.add(store, caller.keyId, [addition]);
        if (file === undefined) throw new Error("no file was added");
        await stores.markActive(store);
        return toStoreFile(file);
      },
    ),
    operation(
      "GET /vector_stores/:store/files",
      {
        summary: "Lists the files of a vector store, or those of `?filter=`.",
        tag: "Vector stores",
        permission: "project",
        query: StoreFileListQuery,
        answer: listOfEntries(VectorStoreFile),
      },
      async ({ query: { filter: status, after, before, limit, order }, request }) => {
        const { id: vectorStoreId } = await stores.find(storeOf(request));
        return toListBody(await files.list({ vectorStoreId, status, after, before, limit, order }), toStoreFile);
      },
    ),
    operation(
      "GET /vector_stores/:store/files/:file",
      {
        summary: "Retrieves a file of a vector store, and why it failed.",
        tag: "Vector stores",
        permission: "project",
        answer: VectorStoreFile,
      },
      async ({ request }) => toStoreFile((await find(request)).file),
    ),
    operation(
      "POST /vector_stores/:store/files/:file",
      {
        summary: "Replaces the attributes of a file in a vector store.",
        tag: "Vector stores",
        permission: "project",
        body: StoreFileChanges,
        answer: VectorStoreFile,
      },
      async ({ params, body: { attributes }, request }) => {
        const store = await stores.find(storeOf(request));
        return toStoreFile(await files.setAttributes(store, params.file, attributes));
      },
    ),
    operation(
      "DELETE /vector_stores/:store/files/:file",
      {
        summary: "Removes a file from a vector store; the file itself stays.",
        tag: "Vector stores",
        permission: "project",
        answer: deleted("vector_store.file.deleted"),
      },
      async ({ params, request }) => {
        const store = await stores.find(storeOf(request));
        await files.remove(store, params.file);
        return { id: params.file, object: "vector_store.file.deleted" as const, deleted: true };
      },
    ),
    operation(
      "GET /vector_stores/:store/files/:file/content",
      {
        summary: "Retrieves the text of a file in a vector store, chunk by chunk.",
        tag: "Vector stores",
        permission: "project",
        query: ContentQuery,
        answer: StoreFileContent,
      },
      async ({ query, request }) => {
        const { file } = await find(request);
        return contentPage(files, file, query.page);
      },
    ),
  );
}
