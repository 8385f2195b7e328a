/**
 * Counters and histograms for what is measured at each request: prom-client's own sort and join a series' labels at
 * each count, which took 6 % of a passed-on answer's time. Its registry writes them out.
 */

import type { Metric, Registry } from "prom-client";

type Labels<Name extends string> = Record<Name, string | number>;

interface Described {
  name: string;
  help: string;
  type: "counter" | "histogram";
}

interface Sample {
  labels: Labels<string>;
  value: number;
  /** Undefined: the metric's own. */
  metricName?: string;
}

type Branch<Held> = Map<string | number, Branch<Held> | Held>;

/** What a metric holds for each combination of its labels' values, found by one after the other. */
class Series<Name extends string, Held> {
  readonly #names: readonly Name[];
  readonly #begin: () => Held;
  readonly #root: Branch<Held> = new Map();
  readonly #all: { labels: Labels<Name>; held: Held }[] = [];

  constructor(names: readonly Name[], begin: () => Held) {
    this.#names = names;
    this.#begin = begin;
  }

  at(labels: Labels<Name>): Held {
    let found: Branch<Held> | Held = this.#root;
    for (const name of this.#names) {
      const next: Branch<Held> | Held | undefined = (found as Branch<Held>).get(labels[name]);
      if (next === undefined) return this.#add({ ...labels });
      found = next;
    }
    return found as Held;
  }

  values(): readonly { labels: Labels<Name>; held: Held }[] {
    return this.#all;
  }

  #add(labels: Labels<Name>): Held {
    const held = this.#begin();
    this.#all.push({ labels, held });
    let branch = this.#root;
    for (const [index, name] of this.#names.entries()) {
      if (index === this.#names.length - 1) branch.set(labels[name], held);
      else {
        const next = (branch.get(labels[name]) as Branch<Held> | undefined) ?? new Map();
        branch.set(labels[name], next);
        branch = next;
      }
    }
    return held;
  }
}

function register(registry: Registry, described: Described, values: () => Sample[]): void {
  const metric = { ...described, get: async () => ({ ...described, aggregator: "sum", values: values() }) };
  // All that a registry asks of a metric.
  registry.registerMetric(metric as unknown as Metric);
}

export interface SeriesOptions<Name extends string> {
  name: string;
  help: string;
  labelNames: readonly Name[];
  registry: Registry;
}

export class CounterSeries<Name extends string> {
  readonly #series: Series<Name, { value: number }>;

  constructor({ name, help, labelNames, registry }: SeriesOptions<Name>) {
    this.#series = new Series(labelNames, () => ({ value: 0 }));
    register(registry, { name, help, type: "counter" }, () =>
      Array.from(this.#series.values(), ({ labels, held }) => ({ labels, value: held.value })),
    );
  }

  add(labels: Labels<Name>, amount = 1): void {
    this.#series.at(labels).value += amount;
  }
}

export class HistogramSeries<Name extends string> {
  readonly #bounds: readonly number[];
  readonly #series: Series<Name, { counts: number[]; sum: number }>;

  /** `bounds`: the upper ones of the buckets, ascending; a last one without bound comes after them. */
  constructor({ name, help, labelNames, registry }: SeriesOptions<Name>, bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#series = new Series(labelNames, () => ({ counts: new Array(bounds.length + 1).fill(0), sum: 0 }));
    register(registry, { name, help, type: "histogram" }, () => this.#values(name));
  }

  observe(labels: Labels<Name>, value: number): void {
    const held = this.#series.at(labels);
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] as number)) bucket += 1;
    held.counts[bucket] = (held.counts[bucket] ?? 0) + 1;
    held.sum += value;
  }

  #values(name: string): Sample[] {
    const values: Sample[] = [];
    for (const { labels, held } of this.#series.values()) {
      let count = 0;
      for (const [bucket, own] of held.counts.entries()) {
        count += own;
        const le = this.#bounds[bucket] ?? "+Inf";
        values.push({ labels: { ...labels, le }, value: count, metricName: `${name}_bucket` });
      }
      values.push({ labels, value: held.sum, metricName: `${name}_sum` });
      values.push({ labels, value: count, metricName: `${name}_count` });
    }
    return values;
  }
}
