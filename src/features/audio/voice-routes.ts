import type { FastifyPluginAsync } from "fastify";
import type { Inference } from "../../inference/inference.ts";
import { toSpeechModelList, toVoiceList, VoicesQuery } from "../../wire/openai/audio/speech-voices.ts";
import { parse } from "../../wire/openai/validate.ts";

/** GET /v1/audio/voices and GET /v1/audio/models */
export function audioVoices(inference: Inference): FastifyPluginAsync {
  return async (app) => {
    app.get("/audio/voices", async (request) => {
      const { model } = parse(VoicesQuery, request.query);
      request.record.model = model;
      return toVoiceList(await inference.models.listVoices(request.caller, model));
    });

    app.get("/audio/models", async (request) => {
      const listed = inference.models.list(request.caller, {
        includesWildcards: false,
        onlyAccessGroups: false,
        task: "speech",
      });
      return toSpeechModelList(listed.map(({ id }) => id));
    });
  };
}
