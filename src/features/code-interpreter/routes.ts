import { readFile } from "node:fs/promises";
import type { FastifyPluginAsync } from "fastify";
import { takeMultipartOrJson } from "../../http/form-scopes.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { operation, rawOperation, routes, scope } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { receiveUpload, requireFile, type UploadOptions } from "../../http/upload.ts";
import type { Inference } from "../../inference/inference.ts";
import {
  ContainerAnswer,
  ContainerBody,
  ContainerFileAnswer,
  ContainerFileFiles,
  ContainerFileForm,
  ContainerFileListQuery,
  ContainerListQuery,
  DEFAULT_EXPIRY_MINUTES,
  pageOf,
  StoredContainerFile,
  toContainer,
  toContainerFile,
} from "../../wire/openai/containers.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import { parse } from "../../wire/openai/validate.ts";
import { deleted, listOfEntries } from "../../wire/openapi/list-answers.ts";
import type { FileStore } from "../files/index.ts";
import type { Containers } from "./containers.ts";
import { addStoredFile, type OpenContainer } from "./open-container.ts";

export interface ContainerParts {
  containers: Containers;
  openContainer: OpenContainer;
  files: Pick<FileStore, "find" | "read">;
  uploads: UploadOptions;
  maxFileMegabytes: number;
}

const OPERATION = { tag: "Responses", permission: "project" } as const;
const PATH = "/containers/:container";

/** /v1/containers */
export function containerRoutes(inference: Inference, parts: ContainerParts): FastifyPluginAsync {
  const { containers, openContainer, files, uploads, maxFileMegabytes } = parts;
  return routes(
    operation(
      "POST /containers",
      {
        ...OPERATION,
        summary: "Creates a container for code.",
        body: ContainerBody,
        answer: ContainerAnswer,
      },
      async ({ body, caller, request, reply }) => {
        const {
          name,
          expires_after: expiry,
          file_ids: fileIds = [],
          skills = [],
          memory_limit: memoryLimit = "1g",
        } = body;
        // The operator's setting bounds the memory of all containers.
        reportIgnoredFields(reply, memoryLimit === "1g" ? [] : ["memory_limit"]);
        const order = {
          projectId: projectOf(request),
          name,
          minutes: expiry?.minutes ?? DEFAULT_EXPIRY_MINUTES,
          fileIds,
          skills,
        };
        const onLeave = onDisconnect(reply);
        return toContainer(await openContainer(order, (tool, work) => inference.runTool(caller, tool, onLeave, work)));
      },
    ),
    operation(
      "GET /containers",
      {
        ...OPERATION,
        summary: "Lists the containers of the project.",
        query: ContainerListQuery,
        answer: listOfEntries(ContainerAnswer),
      },
      async ({ query: { name, ...page }, request }) => {
        const all = containers.list(projectOf(request));
        return toListBody(
          pageOf(name === undefined ? all : all.filter((each) => each.name === name), page),
          toContainer,
        );
      },
    ),
    operation(
      `GET ${PATH}`,
      { ...OPERATION, summary: "Retrieves a container.", answer: ContainerAnswer },
      async ({ params, request }) => toContainer(containers.find(projectOf(request), params.container)),
    ),
    operation(
      `DELETE ${PATH}`,
      { ...OPERATION, summary: "Deletes a container with its files.", answer: deleted("container.deleted") },
      async ({ params, request }) => {
        const id = params.container;
        containers.delete(projectOf(request), id);
        return { id, object: "container.deleted" as const, deleted: true };
      },
    ),
    scope(
      // The SDK sends JSON where no file is uploaded.
      takeMultipartOrJson,
      rawOperation(
        `POST ${PATH}/files`,
        {
          ...OPERATION,
          summary: "Adds a file to a container: an upload, or `file_id` of a file of the project.",
          form: ContainerFileForm,
          files: ContainerFileFiles,
          answer: ContainerFileAnswer,
        },
        async (request, reply) => {
          const container = containers.find(projectOf(request), request.params.container);
          const addStored = async (id: string) =>
            toContainerFile(await addStoredFile(containers, files, container, { id, maxFileMegabytes }));
          if (request.body !== undefined) return addStored(parse(StoredContainerFile, request.body).file_id);
          const upload = await receiveUpload(request, reply, uploads);
          const stored = upload.fields.find(([name]) => name === "file_id")?.[1];
          if (stored !== undefined) return addStored(stored);
          const { path, name } = requireFile(upload);
          return toContainerFile(await containers.addStored(container, name || "file", () => readFile(path)));
        },
      ),
    ),
    operation(
      `GET ${PATH}/files`,
      {
        ...OPERATION,
        summary: "Lists the files of a container.",
        query: ContainerFileListQuery,
        answer: listOfEntries(ContainerFileAnswer),
      },
      async ({ params, query, request }) => {
        const page = query;
        const { files: all } = containers.find(projectOf(request), params.container);
        return toListBody(pageOf([...all.values()], page), toContainerFile);
      },
    ),
    operation(
      `GET ${PATH}/files/:file`,
      { ...OPERATION, summary: "Retrieves a file of a container.", answer: ContainerFileAnswer },
      async ({ params, request }) => {
        const { container, file } = params;
        return toContainerFile(containers.findFile(projectOf(request), container, file));
      },
    ),
    operation(
      `GET ${PATH}/files/:file/content`,
      {
        ...OPERATION,
        summary: "Downloads a file of a container.",
        content: ["application/octet-stream"],
      },
      async ({ params, request, reply }) => {
        const { container, file } = params;
        const { content } = containers.findFile(projectOf(request), container, file);
        // Never shown by a browser: code wrote it.
        reply.header("content-disposition", "attachment").type("application/octet-stream");
        return reply.send(content);
      },
    ),
    operation(
      `DELETE ${PATH}/files/:file`,
      { ...OPERATION, summary: "Deletes a file of a container.", answer: deleted("container.file.deleted") },
      async ({ params, request }) => {
        const { container, file } = params;
        containers.deleteFile(projectOf(request), container, file);
        return { id: file, object: "container.file.deleted" as const, deleted: true };
      },
    ),
  );
}
