import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { speaksAnthropic, speaksGemini } from "../../http/error-format.ts";
import { operation, rawOperation, routes } from "../../http/operation.ts";
import type { Inference } from "../../inference/inference.ts";
import {
  ModelListQuery as AnthropicModelListQuery,
  ModelInfo,
  ModelInfoList,
  toModelInfo,
  toModelInfos,
} from "../../wire/anthropic/models.ts";
import { toRateLimitHeaders as anthropicRateLimitHeaders } from "../../wire/anthropic/rate-limit-headers.ts";
import {
  GeminiModel,
  GeminiModelList,
  GeminiModelQuery,
  toGeminiModel,
  toGeminiModels,
} from "../../wire/gemini/models.ts";
import { Model, ModelList } from "../../wire/openai/model-answers.ts";
import { ModelListQuery, toModelEntry, toModelList } from "../../wire/openai/models.ts";
import { toRateLimitHeaders } from "../../wire/openai/rate-limit-headers.ts";
import { parse } from "../../wire/openai/validate.ts";
import { named } from "../../wire/openapi/named.ts";

/** Clients with the header `anthropic-version` get Anthropic's format, those with `x-goog-api-key` Gemini's. */
const AnyList = named("ModelListAnswer", z.union([ModelList, ModelInfoList, GeminiModelList]));
const AnyModel = named("ModelAnswer", z.union([Model, ModelInfo, GeminiModel]));

/** GET /v1/models and GET /v1/models/{id}; IDs contain `/`, so the ID is the rest of the path. */
export function models(inference: Inference): FastifyPluginAsync {
  const list = async (request: FastifyRequest, reply: FastifyReply) => {
    if (speaksAnthropic(request)) return listForAnthropic(request, reply);
    if (speaksGemini(request)) {
      await inference.admit(request.caller);
      const filter = { includesWildcards: false, onlyAccessGroups: false };
      return toGeminiModels(inference.models.list(request.caller, filter), parse(GeminiModelQuery, request.query));
    }
    const query = parse(ModelListQuery, request.query);
    reply.headers(toRateLimitHeaders(await inference.admit(request.caller)));
    const listed = inference.models.list(request.caller, {
      includesWildcards: query.return_wildcard_routes,
      onlyAccessGroups: query.only_model_access_groups,
      task: query.task,
    });
    return toModelList(listed, shownBy(query));
  };
  const listForAnthropic = async (request: FastifyRequest, reply: FastifyReply) => {
    const query = parse(AnthropicModelListQuery, request.query);
    reply.headers(anthropicRateLimitHeaders(await inference.admit(request.caller))).header("request-id", request.id);
    const filter = { includesWildcards: false, onlyAccessGroups: false, task: "chat" } as const;
    return toModelInfos(inference.models.list(request.caller, filter), query);
  };
  return routes(
    rawOperation(
      "GET /models",
      {
        summary:
          "Lists the models that the key may use; `?include_metadata=true` adds capabilities, prices and context windows.",
        tag: "Models",
        permission: "project",
        query: ModelListQuery,
        answer: AnyList,
      },
      list,
    ),
    operation(
      "GET /models/*",
      {
        summary: "Retrieves one model. Its ID may contain slashes.",
        tag: "Models",
        permission: "project",
        wildcard: "model",
        query: ModelListQuery,
        answer: AnyModel,
      },
      async ({ params, query, caller, request }) => {
        const model = inference.models.retrieve(caller, params["*"]);
        if (speaksGemini(request)) return toGeminiModel(model);
        return speaksAnthropic(request) ? toModelInfo(model) : toModelEntry(model, shownBy(query));
      },
    ),
  );
}

function shownBy(query: { include_model_access_groups: boolean; include_metadata: boolean }) {
  return { accessGroups: query.include_model_access_groups, metadata: query.include_metadata };
}
