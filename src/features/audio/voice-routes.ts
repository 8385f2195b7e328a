import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import type { Inference } from "../../inference/inference.ts";
import { SpeechModelList, VoiceList } from "../../wire/openai/audio/audio-answers.ts";
import { toSpeechModelList, toVoiceList, VoicesQuery } from "../../wire/openai/audio/speech-voices.ts";

/** GET /v1/audio/voices and GET /v1/audio/models */
export function audioVoices(inference: Inference): FastifyPluginAsync {
  return routes(
    operation(
      "GET /audio/voices",
      {
        summary: "Lists the voices of all models, or of `?model=`.",
        tag: "Audio",
        permission: "project",
        query: VoicesQuery,
        answer: VoiceList,
      },
      async ({ query: { model }, caller, request }) => {
        request.record.model = model;
        return toVoiceList(await inference.models.listVoices(caller, model));
      },
    ),
    operation(
      "GET /audio/models",
      {
        summary: "Lists the speech models, in the form that speech clients read.",
        tag: "Audio",
        permission: "project",
        answer: SpeechModelList,
      },
      async ({ caller }) => {
        const listed = inference.models.list(caller, {
          includesWildcards: false,
          onlyAccessGroups: false,
          task: "speech",
        });
        return toSpeechModelList(listed.map(({ id }) => id));
      },
    ),
  );
}
