import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import {
  PromptCreateBody,
  PromptLabelBody,
  PromptListQuery,
  PromptUpdateBody,
  PromptUsage,
  PromptVersionBody,
  StoredPrompt,
  StoredPromptList,
  StoredPromptVersion,
  StoredPromptVersionList,
  toPrompt,
  toPromptUsage,
  toPromptVersion,
} from "../../wire/openai/prompts/prompts.ts";
import { deleted } from "../../wire/openapi/list-answers.ts";
import { projectAuthorOf } from "../accounts/index.ts";
import type { Prompts } from "./prompts.ts";

interface OfPrompt {
  Params: { prompt: string };
}

const WRITE = { tag: "Prompts", permission: "project", requires: "project.prompts.write" } as const;
const READ = { tag: "Prompts", permission: "project" } as const;

/** /v1/prompts. `flush` writes usage that is still in memory. */
export function storedPrompts(prompts: Prompts, flush: () => Promise<unknown>): FastifyPluginAsync {
  return routes(
    operation(
      "GET /prompts",
      {
        ...READ,
        summary: "Lists the stored prompts of the project. Not in OpenAI's API, like the other operations on them.",
        query: PromptListQuery,
        answer: StoredPromptList,
      },
      async ({ query: { after, limit, order }, request }) => {
        return toListBody(await prompts.list({ projectId: projectOf(request), after, limit, order }), toPrompt);
      },
    ),
    operation(
      "POST /prompts",
      {
        ...WRITE,
        summary: "Creates a stored prompt with its first version, for `prompt` of responses and chat completions.",
        body: PromptCreateBody,
        answer: StoredPrompt,
      },
      async ({ body: { name, description, ...first }, request }) => {
        const projectId = projectOf(request);
        return toPrompt(await prompts.create(projectAuthorOf(request), { projectId, name, description, ...first }));
      },
    ),
    operation(
      "GET /prompts/:prompt",
      { ...READ, summary: "Retrieves a stored prompt by its ID or name.", answer: StoredPrompt },
      async ({ request }) => toPrompt(await prompts.find(resourceOf(request))),
    ),
    operation(
      "POST /prompts/:prompt",
      {
        ...WRITE,
        summary: "Changes the name or description of a stored prompt.",
        body: PromptUpdateBody,
        answer: StoredPrompt,
      },
      async ({ body, request }) => {
        const change = body;
        return toPrompt(await prompts.update(projectAuthorOf(request), resourceOf(request), change));
      },
    ),
    operation(
      "DELETE /prompts/:prompt",
      {
        ...WRITE,
        summary: "Deletes a stored prompt with all versions. Requests that name it fail.",
        answer: deleted("prompt"),
      },
      async ({ request }) => {
        const { id } = await prompts.delete(projectAuthorOf(request), resourceOf(request));
        return { id, object: "prompt" as const, deleted: true };
      },
    ),
    operation(
      "GET /prompts/:prompt/versions",
      { ...READ, summary: "Lists the versions, newest first.", answer: StoredPromptVersionList },
      async ({ request }) => ({
        object: "list" as const,
        data: (await prompts.versions(resourceOf(request))).map(toPromptVersion),
      }),
    ),
    operation(
      "POST /prompts/:prompt/versions",
      {
        ...WRITE,
        summary: "Adds a version, which never changes, and moves labels to it.",
        body: PromptVersionBody,
        answer: StoredPromptVersion,
      },
      async ({ body, request }) => {
        const version = body;
        return toPromptVersion(await prompts.addVersion(projectAuthorOf(request), resourceOf(request), version));
      },
    ),
    operation(
      "GET /prompts/:prompt/versions/:version",
      { ...READ, summary: "Retrieves a version by its number or label.", answer: StoredPromptVersion },
      async ({ params, request }) => {
        const { prompt: id, version } = params;
        return toPromptVersion(await prompts.resolve(projectOf(request), { id, version }));
      },
    ),
    operation(
      "POST /prompts/:prompt/labels/:label",
      {
        ...WRITE,
        summary: "Moves a label to a version, at once for every replica; to an earlier one to roll back.",
        body: PromptLabelBody,
        answer: StoredPrompt,
      },
      async ({ params, body: { version }, request }) => {
        const { label } = params;
        return toPrompt(await prompts.setLabel(projectAuthorOf(request), resourceOf(request), label, version));
      },
    ),
    operation(
      "DELETE /prompts/:prompt/labels/:label",
      { ...WRITE, summary: "Removes a label from a stored prompt.", answer: StoredPrompt },
      async ({ params, request }) =>
        toPrompt(await prompts.removeLabel(projectAuthorOf(request), resourceOf(request), params.label)),
    ),
    operation(
      "GET /prompts/:prompt/usage",
      {
        ...READ,
        summary: "Requests, tokens and cost of each version that was used.",
        answer: PromptUsage,
      },
      async ({ request }) => {
        await flush();
        const { id, usage } = await prompts.usage(resourceOf(request));
        return toPromptUsage(id, usage);
      },
    ),
  );
}

function resourceOf(request: FastifyRequest<OfPrompt>) {
  return { projectId: projectOf(request), id: request.params.prompt };
}
