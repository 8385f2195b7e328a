import type { FastifyPluginAsync } from "fastify";
import type { Inference } from "../../inference/inference.ts";
import { toModelEntry, toModelList } from "../../wire/openai/models.ts";

/** GET /v1/models and GET /v1/models/{id}; ids contain `/`, so the id is the rest of the path. */
export function models(inference: Inference): FastifyPluginAsync {
  return async (app) => {
    app.get("/models", async (request) => toModelList(await inference.listModels(request.caller)));

    app.get<{ Params: { "*": string } }>("/models/*", async (request) => {
      const id = request.params["*"];
      return toModelEntry({ ...(await inference.findModel(request.caller, id)), id });
    });
  };
}
