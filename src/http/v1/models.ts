import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Inference } from "../../inference/inference.ts";
import { ModelListQuery, toModelEntry, toModelList } from "../../wire/openai/models.ts";
import { toRateLimitHeaders } from "../../wire/openai/rate-limit-headers.ts";
import { parse } from "../../wire/openai/validate.ts";

/** GET /v1/models and GET /v1/models/{id}; ids contain `/`, so the id is the rest of the path. */
export function models(inference: Inference): FastifyPluginAsync {
  return async (app) => {
    const list = async (request: FastifyRequest, reply: FastifyReply) => {
      const query = parse(ModelListQuery, request.query);
      reply.headers(toRateLimitHeaders(await inference.admit(request.caller)));
      const listed = await inference.listModels(request.caller, {
        includesWildcards: query.return_wildcard_routes,
        onlyAccessGroups: query.only_model_access_groups,
        task: query.task,
      });
      return toModelList(listed, shownBy(query));
    };
    app.get("/models", list);
    app.get("/models/", list);

    app.get<{ Params: { "*": string } }>("/models/*", async (request) => {
      const query = parse(ModelListQuery, request.query);
      return toModelEntry(await inference.retrieveModel(request.caller, request.params["*"]), shownBy(query));
    });
  };
}

function shownBy(query: { include_model_access_groups: boolean; include_metadata: boolean }) {
  return { accessGroups: query.include_model_access_groups, metadata: query.include_metadata };
}
