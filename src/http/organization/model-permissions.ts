import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from "fastify";
import type { Accounts } from "../../accounts/accounts.ts";
import { invalidRequest } from "../../faults.ts";
import {
  ModelPermissionsBody,
  toModelPermissions,
  toModelPermissionsDeleted,
} from "../../wire/openai/organization-model-permissions.ts";
import { parse } from "../../wire/openai/validate.ts";
import { actorOf } from "./actor.ts";

/** Whether an entry of a permission list (an id, a wildcard, `group:…`) names something that there is. */
export type IsKnownModel = (entry: string) => boolean;

interface OfProject {
  Params: { project?: string };
}

/** /v1/organization/projects/{project}/model_permissions and /v1/organization/model_permissions */
export function modelPermissions(accounts: Accounts, isKnown: IsKnownModel): FastifyPluginAsync {
  return async (app) => {
    serve(app, "/projects/:project/model_permissions", "project", accounts, isKnown);
    serve(app, "/model_permissions", "organization", accounts, isKnown);
  };
}

function serve(
  app: FastifyInstance,
  path: string,
  owner: "project" | "organization",
  accounts: Accounts,
  isKnown: IsKnownModel,
): void {
  app.get<OfProject>(path, async (request) => {
    return toModelPermissions(owner, await accounts.modelPermissions.retrieve(ownerOf(request)));
  });

  app.post<OfProject>(path, async (request) => {
    const { mode, model_ids } = parse(ModelPermissionsBody, request.body);
    refuseUnknown(model_ids, isKnown);
    const wanted = { mode, modelIds: model_ids };
    return toModelPermissions(
      owner,
      await accounts.modelPermissions.replace(actorOf(request), ownerOf(request), wanted),
    );
  });

  app.delete<OfProject>(path, async (request) => {
    return toModelPermissionsDeleted(owner, await accounts.modelPermissions.remove(actorOf(request), ownerOf(request)));
  });
}

function ownerOf(request: FastifyRequest<OfProject>) {
  return { organizationId: request.caller.organizationId, projectId: request.params.project };
}

/** A slip of the pen in a deny list would leave open what it was meant to close. */
function refuseUnknown(modelIds: readonly string[], isKnown: IsKnownModel): void {
  const index = modelIds.findIndex((entry) => !isKnown(entry));
  if (index === -1) return;
  const shown = JSON.stringify(modelIds[index]);
  const message = `Invalid value for 'model_ids[${index}]': ${shown} is no model, wildcard or access group (\`group:…\`) here.`;
  throw invalidRequest(message, `model_ids[${index}]`, "invalid_value");
}
