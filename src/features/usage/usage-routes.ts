import type { FastifyPluginAsync } from "fastify";
import {
  CostsQuery,
  toCostsPage,
  toCostsRequest,
  toUsagePage,
  toUsageRequest,
  UsageQuery,
} from "../../wire/openai/organization/organization-usage.ts";
import { parse } from "../../wire/openai/validate.ts";
import { ownProject } from "../accounts/projects/own-project.ts";
import type { UsageReports } from "./usage-report.ts";

const OPERATIONS = {
  completions: "chat",
  embeddings: "embedding",
  moderations: "moderation",
  audio_speeches: "speech",
  audio_transcriptions: "transcription",
} as const;

const PROJECT_KEYS = { config: { allowsProjectKeys: true } };

/** A project key sees its own project. /v1/organization/usage/{completions,embeddings,moderations,audio_speeches,audio_transcriptions} and /v1/organization/costs */
export function usage(reports: UsageReports): FastifyPluginAsync {
  return async (app) => {
    for (const kind of Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[]) {
      app.get(`/usage/${kind}`, PROJECT_KEYS, async (request) => {
        const asked = toUsageRequest(parse(UsageQuery, request.query), Date.now());
        const order = { ...asked, projectIds: ownProject(request, asked.projectIds) };
        const { organizationId } = request.caller;
        return toUsagePage(kind, await reports.read({ organizationId, operation: OPERATIONS[kind], ...order }));
      });
    }

    app.get("/costs", PROJECT_KEYS, async (request) => {
      const asked = toCostsRequest(parse(CostsQuery, request.query), Date.now());
      const order = { ...asked, projectIds: ownProject(request, asked.projectIds) };
      const { organizationId } = request.caller;
      return toCostsPage(await reports.read({ organizationId, operation: undefined, ...order }));
    });
  };
}
