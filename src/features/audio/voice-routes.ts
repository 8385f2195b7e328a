import type { FastifyPluginAsync } from "fastify";
import { operation } from "../../http/operation.ts";
import type { Inference } from "../../inference/inference.ts";
import { toSpeechModelList, toVoiceList, VoicesQuery } from "../../wire/openai/audio/speech-voices.ts";
import { parse } from "../../wire/openai/validate.ts";
import { SpeechModelList, VoiceList } from "../../wire/openapi/model-answers.ts";

/** GET /v1/audio/voices and GET /v1/audio/models */
export function audioVoices(inference: Inference): FastifyPluginAsync {
  return async (app) => {
    app.get(
      "/audio/voices",
      operation({
        summary: "Lists the voices of all models, or of `?model=`.",
        tag: "Audio",
        permission: "project",
        query: VoicesQuery,
        answer: VoiceList,
      }),
      async (request) => {
        const { model } = parse(VoicesQuery, request.query);
        request.record.model = model;
        return toVoiceList(await inference.models.listVoices(request.caller, model));
      },
    );

    app.get(
      "/audio/models",
      operation({
        summary: "Lists the speech models, in the form that speech clients read.",
        tag: "Audio",
        permission: "project",
        answer: SpeechModelList,
      }),
      async (request) => {
        const listed = inference.models.list(request.caller, {
          includesWildcards: false,
          onlyAccessGroups: false,
          task: "speech",
        });
        return toSpeechModelList(listed.map(({ id }) => id));
      },
    );
  };
}
