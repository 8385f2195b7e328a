import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation } from "../../http/operation.ts";
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
import { parse } from "../../wire/openai/validate.ts";
import { deleted } from "../../wire/openapi/organization-answers.ts";
import { projectAuthorOf } from "../accounts/index.ts";
import type { Prompts } from "./prompts.ts";

interface OfPrompt {
  Params: { prompt: string };
}

interface OfVersion {
  Params: { prompt: string; version: string };
}

interface OfLabel {
  Params: { prompt: string; label: string };
}

const WRITE = { tag: "Prompts", permission: "project", requires: "project.prompts.write" } as const;
const READ = { tag: "Prompts", permission: "project" } as const;

/** /v1/prompts. `flush` writes usage that is still in memory. */
export function storedPrompts(prompts: Prompts, flush: () => Promise<void>): FastifyPluginAsync {
  return async (app) => {
    app.get(
      "/prompts",
      operation({
        ...READ,
        summary: "Lists the stored prompts of the project. Not in OpenAI's API, like the other operations on them.",
        query: PromptListQuery,
        answer: StoredPromptList,
      }),
      async (request) => {
        const { after, limit, order } = parse(PromptListQuery, request.query);
        return toListBody(await prompts.list({ projectId: projectOf(request), after, limit, order }), toPrompt);
      },
    );

    app.post(
      "/prompts",
      operation({
        ...WRITE,
        summary: "Creates a stored prompt with its first version, for `prompt` of responses and chat completions.",
        body: PromptCreateBody,
        answer: StoredPrompt,
      }),
      async (request) => {
        const { name, description, ...first } = parse(PromptCreateBody, request.body);
        const projectId = projectOf(request);
        return toPrompt(await prompts.create(projectAuthorOf(request), { projectId, name, description, ...first }));
      },
    );

    app.get<OfPrompt>(
      "/prompts/:prompt",
      operation({ ...READ, summary: "Retrieves a stored prompt by its ID or name.", answer: StoredPrompt }),
      async (request) => toPrompt(await prompts.find(resourceOf(request))),
    );

    app.post<OfPrompt>(
      "/prompts/:prompt",
      operation({
        ...WRITE,
        summary: "Changes the name or description of a stored prompt.",
        body: PromptUpdateBody,
        answer: StoredPrompt,
      }),
      async (request) => {
        const change = parse(PromptUpdateBody, request.body);
        return toPrompt(await prompts.update(projectAuthorOf(request), resourceOf(request), change));
      },
    );

    app.delete<OfPrompt>(
      "/prompts/:prompt",
      operation({
        ...WRITE,
        summary: "Deletes a stored prompt with all versions. Requests that name it fail.",
        answer: deleted("prompt"),
      }),
      async (request) => {
        const { id } = await prompts.delete(projectAuthorOf(request), resourceOf(request));
        return { id, object: "prompt" as const, deleted: true };
      },
    );

    app.get<OfPrompt>(
      "/prompts/:prompt/versions",
      operation({ ...READ, summary: "Lists the versions, newest first.", answer: StoredPromptVersionList }),
      async (request) => ({
        object: "list" as const,
        data: (await prompts.versions(resourceOf(request))).map(toPromptVersion),
      }),
    );

    app.post<OfPrompt>(
      "/prompts/:prompt/versions",
      operation({
        ...WRITE,
        summary: "Adds a version, which never changes, and moves labels to it.",
        body: PromptVersionBody,
        answer: StoredPromptVersion,
      }),
      async (request) => {
        const version = parse(PromptVersionBody, request.body);
        return toPromptVersion(await prompts.addVersion(projectAuthorOf(request), resourceOf(request), version));
      },
    );

    app.get<OfVersion>(
      "/prompts/:prompt/versions/:version",
      operation({ ...READ, summary: "Retrieves a version by its number or label.", answer: StoredPromptVersion }),
      async (request) => {
        const { prompt: id, version } = request.params;
        return toPromptVersion(await prompts.resolve(projectOf(request), { id, version }));
      },
    );

    app.post<OfLabel>(
      "/prompts/:prompt/labels/:label",
      operation({
        ...WRITE,
        summary: "Moves a label to a version, at once for every replica; to an earlier one to roll back.",
        body: PromptLabelBody,
        answer: StoredPrompt,
      }),
      async (request) => {
        const { version } = parse(PromptLabelBody, request.body);
        const { label } = request.params;
        return toPrompt(await prompts.setLabel(projectAuthorOf(request), resourceOf(request), label, version));
      },
    );

    app.delete<OfLabel>(
      "/prompts/:prompt/labels/:label",
      operation({ ...WRITE, summary: "Removes a label from a stored prompt.", answer: StoredPrompt }),
      async (request) =>
        toPrompt(await prompts.removeLabel(projectAuthorOf(request), resourceOf(request), request.params.label)),
    );

    app.get<OfPrompt>(
      "/prompts/:prompt/usage",
      operation({
        ...READ,
        summary: "Requests, tokens and cost of each version that was used.",
        answer: PromptUsage,
      }),
      async (request) => {
        await flush();
        const { id, usage } = await prompts.usage(resourceOf(request));
        return toPromptUsage(id, usage);
      },
    );
  };
}

function resourceOf(request: FastifyRequest<OfPrompt>) {
  return { projectId: projectOf(request), id: request.params.prompt };
}
