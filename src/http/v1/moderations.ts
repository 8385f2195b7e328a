import type { FastifyPluginAsync } from "fastify";
import type { Inference } from "../../inference/inference.ts";
import { readModeration, toModeration } from "../../wire/openai/moderations.ts";
import { toRateLimitHeaders } from "../../wire/openai/rate-limit-headers.ts";
import { whenClientLeaves } from "../client-leaves.ts";

/** POST /v1/moderations */
export function moderations(inference: Inference, mostInputs: number): FastifyPluginAsync {
  return async (app) => {
    app.post("/moderations", async (request, reply) => {
      const question = readModeration(request.body, mostInputs);
      request.record.model = question.model;
      const asked = { ...question, callerHeaders: request.headers };
      const answer = await inference.moderate(request.caller, asked, whenClientLeaves(reply));
      request.record.settlement = answer.settlement;
      reply.header("x-parlance-deployment", answer.deployment).headers(toRateLimitHeaders(answer.standing));
      const [verdicts = []] = await Array.fromAsync(answer.events);
      return toModeration(answer.model, verdicts);
    });
  };
}
