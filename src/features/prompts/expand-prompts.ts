/** Completes requests that name a stored prompt, before their routes read the body. */

import type { FastifyInstance, FastifyReply } from "fastify";
import { z } from "zod";
import { holderOf } from "../../http/body-memory.ts";
import { applyToChat, applyToResponse } from "../../wire/openai/prompts/apply-prompt.ts";
import { PromptReference } from "../../wire/openai/prompts/prompt-content.ts";
import { charactersOf, type RenderedMessage, renderPrompt } from "../../wire/openai/prompts/render-prompt.ts";
import { parse } from "../../wire/openai/validate.ts";
import type { Callers } from "../accounts/index.ts";
import { toUsageLabel } from "./prompt-queries.ts";
import type { Prompts } from "./prompts.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Form of bodies in which the route takes `prompt`. */
    takesPrompt?: "responses" | "chat";
  }
  interface FastifyRequest {
    /** Messages of the stored prompt that the request names; undefined without one. */
    promptMessages?: readonly RenderedMessage[];
  }
}

export function expandPrompts(app: FastifyInstance, prompts: Prompts, callers: Pick<Callers, "withLabels">): void {
  app.addHook("preHandler", (request, reply, done) => {
    const { takesPrompt } = request.routeOptions.config;
    const { prompt } = (takesPrompt === undefined ? {} : (request.body ?? {})) as { prompt?: unknown };
    // Requests without a prompt cost no turn of the event loop.
    if (takesPrompt === undefined || prompt == null) return done();
    expand(reply, prompts, callers, takesPrompt, prompt).then(() => done(), done);
  });
}

async function expand(
  reply: FastifyReply,
  prompts: Prompts,
  callers: Pick<Callers, "withLabels">,
  form: "responses" | "chat",
  prompt: unknown,
): Promise<void> {
  const { request } = reply;
  const { prompt: reference } = parse(z.object({ prompt: PromptReference }), { prompt });
  const { promptId, version, content, characters } = await prompts.resolve(request.caller.projectId ?? "", reference);
  const messages = renderPrompt(content, reference.variables);
  holderOf(reply)(characters + charactersOf(messages));
  const body = request.body as Record<string, unknown>;
  if (form === "chat") request.body = applyToChat(body, content, messages);
  else {
    // The answer shows the version that was used.
    request.body = {
      ...applyToResponse(body, content),
      prompt: { ...reference, id: promptId, version: String(version) },
    };
    request.promptMessages = messages;
  }
  const labels = { ...request.caller.labels, prompt: toUsageLabel(promptId, version) };
  request.caller = callers.withLabels(request.caller, labels);
}
