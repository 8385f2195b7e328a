/** Scopes of routes whose bodies are forms. */

import type { FastifyInstance } from "fastify";
import { Fault } from "../kernel/faults.ts";
import { acceptJson } from "./json-body.ts";

/** Leaves multipart/form-data bodies to `receiveUpload` and refuses other types in this scope. */
export function takeMultipart(scope: FastifyInstance): void {
  takeForms(scope, "multipart/form-data");
}

/** Like `takeMultipart`, in a scope that parses JSON, too. A request without either has no `body`, as one with a form. */
export function takeMultipartOrJson(scope: FastifyInstance): void {
  takeForms(scope, "multipart/form-data or application/json");
  acceptJson(scope);
}

function takeForms(scope: FastifyInstance, accepted: string): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser("multipart/form-data", (_request, _payload, done) => done(null));
  scope.addContentTypeParser("*", (request, _payload, done) => {
    const contentType = JSON.stringify(request.headers["content-type"] ?? "");
    done(new Fault("unsupported-media-type", `The request body must be ${accepted}; not ${contentType}.`));
  });
}
