import type { FastifyPluginAsync } from "fastify";
import type { UsageReports } from "../../usage/usage-report.ts";
import {
  CostsQuery,
  toCostsPage,
  toCostsRequest,
  toUsagePage,
  toUsageRequest,
  UsageQuery,
} from "../../wire/openai/organization-usage.ts";
import { parse } from "../../wire/openai/validate.ts";

const OPERATIONS = {
  completions: "chat",
  embeddings: "embedding",
  moderations: "moderation",
  audio_speeches: "speech",
  audio_transcriptions: "transcription",
} as const;

/** /v1/organization/usage/{completions,embeddings,moderations,audio_speeches,audio_transcriptions} and /v1/organization/costs */
export function usage(reports: UsageReports): FastifyPluginAsync {
  return async (app) => {
    for (const kind of Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[]) {
      app.get(`/usage/${kind}`, async (request) => {
        const order = toUsageRequest(parse(UsageQuery, request.query), Date.now());
        const { organizationId } = request.caller;
        return toUsagePage(kind, await reports.read({ organizationId, operation: OPERATIONS[kind], ...order }));
      });
    }

    app.get("/costs", async (request) => {
      const order = toCostsRequest(parse(CostsQuery, request.query), Date.now());
      const { organizationId } = request.caller;
      return toCostsPage(await reports.read({ organizationId, operation: undefined, ...order }));
    });
  };
}
