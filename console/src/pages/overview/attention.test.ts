import { expect, test } from "vitest";
import { concernsOf } from "./attention.ts";
import type { Deployment, Overview } from "./overview-query.ts";

const HEALTHY: Deployment = {
  model: "chat",
  task: "chat",
  deployment: "local",
  engine: "llama-cpp",
  host: null,
  state: "up",
  reason: null,
  circuit: "closed",
  device: "cpu",
  memory_bytes: 1,
  vram_bytes: null,
  load_seconds: 1,
  loaded_at: null,
  restarted_at: null,
  slots: 4,
  slots_in_use: 4,
  waiting: 0,
  first_token_seconds: 0.2,
};
const minute = (requests: number, errors: number) => ({
  start_time: 0,
  requests,
  errors,
  input_tokens: 0,
  output_tokens: 0,
  retries: 0,
  first_token_ms: { p50: null, p95: null },
});

const NO_SPEND = { today_usd: 0, month_usd: 0, today_unpriced: false, month_unpriced: false };

function overviewWith(part: Partial<Overview>): Overview {
  const spend = { ...NO_SPEND, limits: [] };
  return {
    object: "organization.overview",
    minutes: [],
    first_token_ms: { p50: null, p95: null },
    output_tokens_per_second: 0,
    spend,
    deployments: [HEALTHY],
    pools: [],
    ...part,
  };
}
const titles = (part: Partial<Overview>) => concernsOf(overviewWith(part)).map(({ title }) => title);
const limit = (month_usd: number | null, enforced = true) => ({
  spend: {
    ...NO_SPEND,
    limits: [{ scope: "project" as const, scope_id: "p", threshold_usd: 10, month_usd, enforced }],
  },
});

test("raises pools without endpoints and those that cannot be looked up", () => {
  const pool = { model: "chat", deployment: "chat", source: "A vllm.test", endpoints: 2, reason: "ESERVFAIL" };
  const pools = (["up", "stale", "empty"] as const).map((state) => ({ ...pool, state, deployment: state }));
  expect(concernsOf(overviewWith({ pools })).map(({ severity, title, detail }) => [severity, title, detail])).toEqual([
    ["error", "empty has no endpoints", "ESERVFAIL."],
    ["warning", "The endpoints of stale may be out of date", "ESERVFAIL. The 2 found before are in use."],
  ]);
});

test("raises nothing while everything works", () => {
  expect(titles({ minutes: [minute(100, 5)], ...limit(7.9) })).toEqual([]);
});

test("raises deployments that failed, are paused or have a queue, the errors first", () => {
  const deployments = [
    { ...HEALTHY, deployment: "busy", waiting: 2 },
    { ...HEALTHY, deployment: "broken", state: "failed", reason: "The file is missing." },
    { ...HEALTHY, deployment: "upstream", circuit: "open" },
  ];
  expect(concernsOf(overviewWith({ deployments })).map(({ severity, title }) => [severity, title])).toEqual([
    ["error", "broken has failed"],
    ["error", "upstream is paused after repeated failures"],
    ["warning", "2 requests wait for busy"],
  ]);
});

test("raises a spend limit from 80 % of it, but not one whose spend is hidden", () => {
  expect(titles(limit(8))).toEqual(["The project has nearly reached its monthly spend limit"]);
  expect(concernsOf(overviewWith(limit(10)))).toMatchObject([{ severity: "error" }]);
  expect(concernsOf(overviewWith(limit(10, false)))).toMatchObject([{ severity: "warning" }]);
  expect(titles(limit(null))).toEqual([]);
});

test("raises many errors among enough requests of the last five minutes", () => {
  expect(titles({ minutes: [minute(9, 9)] })).toEqual([]);
  expect(titles({ minutes: [minute(20, 5)] })).toEqual(["25% of the requests of the last 5 minutes failed"]);
  expect(titles({ minutes: [minute(20, 20), ...Array.from({ length: 5 }, () => minute(0, 0))] })).toEqual([]);
});
