import { expect, test } from "vitest";
import { expectWithin } from "../../../test/support/timing.ts";
import { parseEngineLoad } from "./engine-load.ts";

/** From the gauges that vLLM 0.33 declares (vllm/v1/metrics/loggers.py), of two data-parallel engines. */
const VLLM = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="Qwen/Qwen3-8B"} 12.0
vllm:num_requests_running{engine="1",model_name="Qwen/Qwen3-8B"} 9.0
# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="Qwen/Qwen3-8B"} 2.0
vllm:num_requests_waiting{engine="1",model_name="Qwen/Qwen3-8B"} 0.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="Qwen/Qwen3-8B",reason="capacity"} 2.0
vllm:kv_cache_usage_perc{engine="0",model_name="Qwen/Qwen3-8B"} 0.25
vllm:kv_cache_usage_perc{engine="1",model_name="Qwen/Qwen3-8B"} 0.7512
vllm:prefix_cache_queries_total{engine="0",model_name="Qwen/Qwen3-8B"} 1e+06
`;

/** As llama-server 0.5.0 with --metrics answered. */
const LLAMA_SERVER = `# HELP llamacpp:requests_processing Number of requests processing
# TYPE llamacpp:requests_processing gauge
llamacpp:requests_processing 2
# HELP llamacpp:requests_deferred Number of requests deferred
# TYPE llamacpp:requests_deferred gauge
llamacpp:requests_deferred 1
`;

test("sums vLLM's engines and takes their highest cache usage", () => {
  expect(parseEngineLoad(VLLM)).toEqual({ running: 21, waiting: 2, cacheUsage: 0.7512 });
});

test("reads the cache usage by the name that vLLM's first engine gave it", () => {
  const text = "vllm:num_requests_running 1.0\nvllm:gpu_cache_usage_perc 0.5\n";
  expect(parseEngineLoad(text)).toEqual({ running: 1, waiting: 0, cacheUsage: 0.5 });
});

test("reads llama-server's metrics", () => {
  expect(parseEngineLoad(LLAMA_SERVER)).toEqual({ running: 2, waiting: 1, cacheUsage: undefined });
});

test("counts llama-server's busy slots", () => {
  const slots = [true, false, true].map((is_processing, id) => ({
    id,
    n_ctx: 2048,
    speculative: false,
    is_processing,
  }));
  expect(parseEngineLoad(JSON.stringify(slots))).toEqual({ running: 2, waiting: 0, cacheUsage: undefined });
});

test("reads SGLang's metrics", () => {
  const text = `sglang:num_running_reqs{model_name="m"} 3.0\nsglang:num_queue_reqs{model_name="m"} 4.0\nsglang:token_usage{model_name="m"} 0.28\n`;
  expect(parseEngineLoad(text)).toEqual({ running: 3, waiting: 4, cacheUsage: 0.28 });
});

test.each([
  ["another program's metrics", "process_cpu_seconds_total 12.5\n"],
  ["an HTML page", "<!doctype html><title>404</title>"],
  ["nothing", ""],
  [
    "values that are no counts",
    "vllm:num_requests_running NaN\nvllm:num_requests_running -1\nvllm:num_requests_running +Inf\n",
  ],
  ["a list of something else", '[{"id":1}]'],
  ["no slots", "[]"],
  ["broken JSON", "[{"],
  ["a name within a line", "# vllm:num_requests_running 3\n"],
])("refuses %s", (_what, text) => {
  expect(parseEngineLoad(text)).toBeUndefined();
});

test("reads a hostile line of a mebibyte in linear time", () => {
  const text = `vllm:num_requests_running${"{".repeat(2 ** 20)}\n${"vllm:num_requests_running".repeat(40_000)}\n`;
  const before = performance.now();
  expect(parseEngineLoad(text)).toBeUndefined();
  expectWithin(before, 1000);
});
