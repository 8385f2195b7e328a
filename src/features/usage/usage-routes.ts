import { Readable } from "node:stream";
import type { FastifyPluginAsync } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import {
  toCostsRequest,
  toExportRequest,
  toToolUsageRequest,
  toUsageRequest,
  UsageExportQuery,
  UsageQuery,
} from "../../wire/openai/organization/organization-usage.ts";
import { toCostsPage, toToolUsagePage, toUsagePage } from "../../wire/openai/organization/organization-usage-pages.ts";
import { toDays, toUsageTotals, UsageTotalsQuery } from "../../wire/openai/organization/organization-usage-totals.ts";
import { CostsPage, toolUsagePage, UsageTotals, usagePage } from "../../wire/openapi/usage-answers.ts";
import { exportColumns, exportRows, toCsv, toParquet } from "./usage-export.ts";
import type { UsageReports } from "./usage-report.ts";
import { visibilityOf } from "./visibility.ts";

const KINDS = {
  completions: { task: "chat", name: "chat completions" },
  embeddings: { task: "embedding", name: "embeddings" },
  moderations: { task: "moderation", name: "moderations" },
  audio_speeches: { task: "speech", name: "speech" },
  audio_transcriptions: { task: "transcription", name: "transcriptions" },
  images: { task: "image", name: "images" },
  vector_stores: { task: "storage", name: "vector stores, whose size is recorded each hour," },
} as const;

/** Tools as usage names them. */
const TOOL_KINDS = {
  code_interpreter_sessions: { tool: "code_interpreter/session", name: "containers of the code interpreter" },
  file_search_calls: { tool: "file_search", name: "searches in vector stores" },
  web_search_calls: { tool: "web_search", name: "searches of the web" },
} as const;

/** A project key sees its project, a user without `project.usage.read` their own usage. /v1/organization/usage/{completions,embeddings,moderations,audio_speeches,audio_transcriptions,images,vector_stores,…_sessions,…_calls} and /v1/organization/costs */
export function usage(reports: UsageReports): FastifyPluginAsync {
  return routes(
    ...(Object.keys(KINDS) as (keyof typeof KINDS)[]).map((kind) => {
      const { task, name } = KINDS[kind];
      return operation(
        `GET /usage/${kind}`,
        {
          summary: `Usage of ${name} by time bucket.`,
          tag: "Reports",
          permission: "admin-or-project",
          requires: "signed-in",
          query: UsageQuery,
          answer: usagePage(kind),
        },
        async ({ query, caller }) => {
          const order = { ...toUsageRequest(kind, query, Date.now()), visibility: visibilityOf(caller) };
          const { organizationId } = caller;
          return toUsagePage(kind, await reports.read({ organizationId, operation: task, ...order }));
        },
      );
    }),
    ...(Object.keys(TOOL_KINDS) as (keyof typeof TOOL_KINDS)[]).map((kind) => {
      const { tool, name } = TOOL_KINDS[kind];
      return operation(
        `GET /usage/${kind}`,
        {
          summary: `Number of ${name} by time bucket.`,
          tag: "Reports",
          permission: "admin-or-project",
          requires: "signed-in",
          query: UsageQuery,
          answer: toolUsagePage(kind),
        },
        async ({ query, caller }) => {
          const order = { ...toToolUsageRequest(query, Date.now()), visibility: visibilityOf(caller), models: [tool] };
          const { organizationId } = caller;
          return toToolUsagePage(kind, await reports.read({ organizationId, operation: "tool", ...order }));
        },
      );
    }),
    operation(
      "GET /usage",
      {
        summary:
          "Usage and costs of all operations together by project and model, at most 31 days. Not in OpenAI's API.",
        tag: "Reports",
        permission: "admin-or-project",
        requires: "signed-in",
        query: UsageTotalsQuery,
        answer: UsageTotals,
      },
      async ({ query, caller }) => {
        const days = toDays(query, Date.now());
        const visibility = visibilityOf(caller);
        const { organizationId } = caller;
        const { buckets } = await reports.read({ organizationId, operation: undefined, visibility, ...days });
        return toUsageTotals(buckets.flatMap(({ sums }) => sums));
      },
    ),
    operation(
      "GET /usage/export",
      {
        summary:
          "Exports usage and costs of all operations as CSV or Parquet, one row for each bucket and group. Not in OpenAI's API.",
        tag: "Reports",
        permission: "admin-or-project",
        requires: "signed-in",
        query: UsageExportQuery,
        content: ["text/csv", "application/vnd.apache.parquet"],
      },
      async ({ query, caller, reply }) => {
        const { organizationId } = caller;
        const visibility = visibilityOf(caller);
        const order = { organizationId, operation: undefined, visibility, ...toExportRequest(query, Date.now()) };
        const rows = await exportRows(reports, order);
        const columns = exportColumns(order);
        const isCsv = query.format === "csv";
        reply.header("content-disposition", `attachment; filename="usage.${query.format}"`);
        reply.type(isCsv ? "text/csv; charset=utf-8" : "application/vnd.apache.parquet");
        return reply.send(isCsv ? Readable.from(toCsv(rows, columns)) : await toParquet(rows, columns));
      },
    ),
    operation(
      "GET /costs",
      {
        summary: "Costs by day; by minute and hour and by `operation`, too, which are not in OpenAI's API.",
        tag: "Reports",
        permission: "admin-or-project",
        requires: "signed-in",
        query: UsageQuery,
        answer: CostsPage,
      },
      async ({ query, caller }) => {
        const order = { ...toCostsRequest(query, Date.now()), visibility: visibilityOf(caller) };
        const { organizationId } = caller;
        return toCostsPage(await reports.read({ organizationId, operation: undefined, ...order }));
      },
    ),
  );
}
