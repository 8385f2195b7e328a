import { expect, test } from "vitest";
import { marksOf } from "./overview-marks.ts";
import type { Overview } from "./overview-query.ts";

const START = 1_800_000_000;
const minutes = Array.from({ length: 60 }, (_each, index) => ({
  ...{ start_time: START + 60 * index, requests: 0, errors: 0, input_tokens: 0, output_tokens: 0 },
  retries: index === 7 ? 2 : 0,
  first_token_ms: { p50: null, p95: null },
})) as Overview["minutes"];

function loaded(deployment: string, times: { loaded_at?: number; restarted_at?: number }) {
  return { deployment, load_seconds: 2, loaded_at: null, restarted_at: null, ...times } as unknown as NonNullable<
    Overview["deployments"]
  >[number];
}
const textsOf = (deployments: Overview["deployments"]) =>
  marksOf({ minutes, deployments }).map(({ index, text }) => [index, text]);

test("marks loads, restarts and retries at their minutes", () => {
  const deployments = [loaded("qwen", { loaded_at: START + 65 }), loaded("gemma", { restarted_at: START + 3599 })];
  expect(textsOf(deployments)).toEqual([
    [1, "Loaded qwen (2.00 s)"],
    [59, "Restarted gemma"],
    [7, "2 retries"],
  ]);
});

test("leaves out what happened before the first minute, and counts many loads of one", () => {
  const before = loaded("old", { loaded_at: START - 1 });
  const many = Array.from({ length: 5 }, (_each, index) => loaded(`m${index}`, { loaded_at: START }));
  expect(textsOf([before, ...many])).toEqual([
    [0, "Loaded m0 (2.00 s), m1 (2.00 s), m2 (2.00 s), 2 more"],
    [7, "2 retries"],
  ]);
  expect(textsOf(null)).toEqual([[7, "2 retries"]]);
});
