import type { FastifyPluginAsync } from "fastify";
import { operation } from "../../http/operation.ts";
import { Fault } from "../../kernel/faults.ts";
import { RecordingBody, toProjectRecording } from "../../wire/openai/organization/organization-recording.ts";
import { parse } from "../../wire/openai/validate.ts";
import { ProjectRecording } from "../../wire/openapi/organization-answers.ts";
import { type Accounts, actorOf, projectOf } from "../accounts/index.ts";
import { ProjectRecordingService } from "./project-recording-service.ts";
import type { RecordedContents } from "./recorded-contents.ts";

interface OfProject {
  Params: { project: string };
}

const PATH = "/projects/:project/recording";

/** /v1/organization/projects/{project}/recording */
export function projectRecording(accounts: Accounts, contents: RecordedContents | undefined): FastifyPluginAsync {
  const recordings = new ProjectRecordingService(accounts.transactions);
  return async (app) => {
    app.get<OfProject>(
      PATH,
      operation({
        summary: "Retrieves what a project records of its prompts and answers. Not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: "project.read",
        answer: ProjectRecording,
      }),
      async (request) => toProjectRecording(await recordings.retrieve(projectOf(request))),
    );

    app.post<OfProject>(
      PATH,
      operation({
        summary:
          "Sets what a project records of its prompts and answers: nothing, those of failed requests, or all. Not in OpenAI's API.",
        tag: "Projects",
        permission: "admin",
        requires: "project.limits.write",
        body: RecordingBody,
        answer: ProjectRecording,
      }),
      async (request) => {
        const settings = parse(RecordingBody, request.body);
        if (contents === undefined && settings.record_content !== "off") throw noKey();
        await recordings.replace(actorOf(request), projectOf(request), settings);
        contents?.sizes.forget(request.params.project);
        return toProjectRecording(settings);
      },
    );
  };
}

function noKey(): Fault {
  const message =
    "Content is recorded encrypted, and this service has no encryption key: set PARLANCE_ENCRYPTION_KEY, then try again.";
  return new Fault("invalid-request", message, { param: "record_content", code: "storage_disabled" });
}
