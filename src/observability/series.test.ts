import { Counter, Histogram, Registry } from "prom-client";
import { expect, test } from "vitest";
import { CounterSeries, HistogramSeries } from "./series.ts";

const BOUNDS = [0.005, 0.1, 1, 10];
const SEEN = [
  { model: "a", deployment: "x", seconds: 0.005 },
  { model: "a", deployment: "x", seconds: 0.006 },
  { model: "a", deployment: 'y"\\\n', seconds: 11 },
  { model: "b", deployment: "x", seconds: 0 },
  { model: "a", deployment: "x", seconds: 10 },
];

test("are written as prom-client writes its own", async () => {
  const labelNames = ["model", "deployment"] as const;
  const named = { name: "seconds", help: "How long.", labelNames };
  const counted = { name: "times_total", help: "How often.", labelNames };
  const [registry, theirs] = [new Registry(), new Registry()];
  const histogram = new HistogramSeries({ ...named, registry }, BOUNDS);
  const counter = new CounterSeries({ ...counted, registry });
  const theirHistogram = new Histogram({ ...named, buckets: BOUNDS, registers: [theirs] });
  const theirCounter = new Counter({ ...counted, registers: [theirs] });
  for (const { seconds, ...labels } of SEEN) {
    histogram.observe(labels, seconds);
    theirHistogram.observe(labels, seconds);
    counter.add(labels);
    counter.add(labels, 2.5);
    theirCounter.inc(labels, 3.5);
  }
  const lines = async (each: Registry) => (await each.metrics()).split("\n").map(sortLabels).sort();
  expect(await lines(registry)).toEqual(await lines(theirs));
  expect(registry.getMetricsAsArray()).toHaveLength(2);
});

/** Their order means nothing. */
function sortLabels(line: string): string {
  return line.replace(/\{(.*)\}/, (_all, labels: string) => `{${labels.split(",").sort().join()}}`);
}

test("keeps series apart whose labels' values only look alike together", async () => {
  const registry = new Registry();
  const counter = new CounterSeries({ name: "n", help: "n", labelNames: ["a", "b"], registry });
  counter.add({ a: "x", b: "yz" });
  counter.add({ a: "xy", b: "z" });
  counter.add({ a: "x", b: "z" });
  counter.add({ a: "x", b: "yz" });
  const text = await registry.metrics();
  for (const line of ['n{a="x",b="yz"} 2', 'n{a="xy",b="z"} 1', 'n{a="x",b="z"} 1']) expect(text).toContain(line);
});
