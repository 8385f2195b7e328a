/**
 * How the cost grows with keys, projects, models, upstreams and usage: `node bench/growth.ts DIMENSION…`, with
 * `--postgres` on PostgreSQL. Prints one row for each size.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashApiKey } from "../src/features/accounts/keys/api-key.ts";
import { startPostgres } from "../test/support/databases/postgres.ts";
import { addKeys, addProjects, addUsage, type Filling, openPostgres, openSqlite, YEAR_HOURS } from "./growth/fill.ts";
import { measureRow, type Row, report, stallDuring } from "./growth/measure.ts";
import { measureReplicas } from "./growth/replicas.ts";
import { type Started, start } from "./growth/service.ts";
import { forked } from "./routing/contenders.ts";
import type { Load } from "./routing/load.ts";
import { millisecondsOf } from "./timing.ts";

interface Dimension {
  sizes: readonly number[];
  config?: (size: number, upstream: string) => string;
  fill?: (filling: Filling, size: number) => Promise<unknown>;
  load?: (size: number) => Partial<Load>;
  more?: (service: Started) => Promise<Record<string, number>>;
}

const secretOf = (index: number) => `sk-bench-${index.toString().padStart(40, "0")}`;
const deployment = (upstream: string) => `{ engine: openai-compatible, base_url: "${upstream}/v1", model: mock }`;
const model = (id: string, deployments: string[]) =>
  `  - { id: ${id}, task: chat, strategy: weighted, deployments: [${deployments.join(", ")}] }\n`;
const oneModel = (_size: number, upstream: string) =>
  `builtin_models: false\nmodels:\n${model("bench", [deployment(upstream)])}`;
const repeat = <Item>(count: number, item: (index: number) => Item) =>
  Array.from({ length: count }, (_none, index) => item(index));

const dimensions: Readonly<Record<string, Dimension>> = {
  keys: {
    sizes: [10, 100_000],
    fill: (filling, size) => addKeys(filling, size, (index) => hashApiKey(secretOf(index))),
    // Each request has another key.
    load: (size) => ({
      headersOf: () => ({ authorization: `Bearer ${secretOf(Math.floor(Math.random() * size))}` }),
    }),
  },
  projects: { sizes: [10, 10_000], fill: addProjects },
  models: {
    sizes: [10, 5000],
    config: (size, upstream) =>
      oneModel(size, upstream) + repeat(size - 1, (index) => model(`model-${index}`, [deployment(upstream)])).join(""),
  },
  upstreams: {
    sizes: [1, 100, 1000],
    // A model may have a hundred deployments.
    config: (size, upstream) =>
      `builtin_models: false\nmodels:\n${repeat(Math.ceil(size / 100), (group) =>
        model(
          group === 0 ? "bench" : `model-${group}`,
          repeat(Math.min(size, 100), (index) => deployment(`${upstream}/${group}/${index}`)),
        ),
      ).join("")}`,
  },
  usage: {
    sizes: [0, YEAR_HOURS],
    fill: (filling, hours) => (hours === 0 ? Promise.resolve() : addUsage(filling, 100, hours)),
    more: async (service) => {
      let year = 0;
      const stall = await stallDuring(service, async () => {
        year = await millisecondsOf(() => report(service, 365));
      });
      return { year, stall };
    },
  },
};

const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const usesPostgres = process.argv.includes("--postgres");
const upstream = await forked("mock", "upstream.ts");
await using postgres = usesPostgres || wanted.includes("replicas") ? await startPostgres() : undefined;
try {
  for (const name of wanted) {
    const dimension = dimensions[name];
    if (name === "replicas" && postgres !== undefined) await measureReplicas(postgres, upstream.origin);
    else if (dimension !== undefined) for (const size of dimension.sizes) print(name, size, await run(dimension, size));
    else throw new Error(`${name}: known are replicas, ${Object.keys(dimensions).join(", ")}`);
  }
} finally {
  await upstream.stop();
}

async function run(
  { config = oneModel, fill, load, more }: Dimension,
  size: number,
): Promise<Row & Record<string, number>> {
  const directory = mkdtempSync(join(tmpdir(), "parlance-growth-"));
  const url = (await postgres?.createDatabase())?.reveal();
  const environment: Record<string, string> = url === undefined ? {} : { DATABASE_URL: url };
  try {
    // Creates the tables, and fills Node's compile cache.
    await (await start(directory, oneModel(1, upstream.origin), environment)).stop();
    const filling = url === undefined ? openSqlite(directory) : await openPostgres(url);
    await fill?.(filling, size);
    if (url !== undefined) await filling.run("analyze");
    await filling.close();
    const service = await start(directory, config(size, upstream.origin), environment);
    try {
      return { ...(await measureRow(service, load?.(size))), ...(await more?.(service)) };
    } finally {
      await service.stop();
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function print(name: string, size: number, row: Readonly<Record<string, number>>): void {
  const cells = Object.entries(row).map(
    ([column, value]) => `${column} ${value < 100 ? value.toFixed(1) : Math.round(value)}`,
  );
  console.log(`${name}${usesPostgres ? " (PostgreSQL)" : ""} ${size}: ${cells.join(", ")}`);
}
