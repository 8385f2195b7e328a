import type { FastifyPluginAsync } from "fastify";
import type { Inference } from "../../inference/inference.ts";
import { readModeration, toModeration } from "../../wire/openai/moderations.ts";
import { onDisconnect } from "../on-disconnect.ts";
import { sendAnswer } from "../send-answer.ts";

/** POST /v1/moderations */
export function moderations(inference: Inference, mostInputs: number): FastifyPluginAsync {
  return async (app) => {
    app.post("/moderations", async (request, reply) => {
      const question = readModeration(request.body, mostInputs);
      request.record.model = question.model;
      const asked = { ...question, callerHeaders: request.headers };
      const answer = await inference.moderate(request.caller, asked, onDisconnect(reply));
      const verdicts = Array.fromAsync(answer.events);
      return sendAnswer(reply, answer, { body: verdicts.then(([first = []]) => toModeration(answer.model, first)) });
    });
  };
}
