/**
 * Own CPU time of the service's thread between two turns of its event loop, while a history of a million requests in a
 * month and a year of usage are read from SQLite: `node bench/request-history.ts [ROWS [DAYS]]`.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SQLite from "better-sqlite3";
import { longestTurnDuring } from "../test/support/service/longest-turn.ts";
import { startService } from "../test/support/service/service.ts";
import { addRequests, addUsage, openSqlite, YEAR_HOURS } from "./growth/fill.ts";

const DAY_SECONDS = 86_400;
const RUNS = 3;

const rows = Number(process.argv[2] ?? 1_000_000);
const days = Number(process.argv[3] ?? 30);
const directory = mkdtempSync(join(tmpdir(), "parlance-history-"));
const variables = { PARLANCE_DATA_DIR: directory, PARLANCE_LOG_LEVEL: "error" };
const config = `builtin_models: false\nusage: { request_days: 31 }\n`;
try {
  await (await startService({ config, environment: variables })).stop();
  const filling = openSqlite(directory);
  await addRequests(filling, rows, days);
  await addUsage(filling, 100, YEAR_HOURS);
  await filling.close();
  const database = new SQLite(join(directory, "parlance.sqlite"));
  const oldest = database.prepare("select id from request_history order by at limit 1").pluck().get();
  database.close();
  const service = await startService({ config, environment: variables });
  const now = Math.floor(Date.now() / 1000);
  const since = (days: number) => now - days * DAY_SECONDS;
  const paths = {
    "histogram, 24 h": `requests/histogram?start_time=${since(1)}&end_time=${now}&buckets=48`,
    "histogram, 6 days": `requests/histogram?start_time=${since(6)}&end_time=${now}&buckets=72`,
    "histogram, 30 days": `requests/histogram?start_time=${since(30)}&end_time=${now}&buckets=60`,
    "histogram, 6 days, filtered": `requests/histogram?start_time=${since(6)}&end_time=${now}&buckets=72&end_users=nobody`,
    "oldest request by ID": `requests/${oldest}`,
    "missing request by ID": "requests/req_missing",
    overview: "overview",
    "newest 100": "requests?limit=100",
    "rare model": "requests?limit=100&models=missing",
    "rare end user": "requests?limit=100&end_users=nobody",
    "sorted by cost, 24 h": `requests?sort_by=cost_usd&limit=100&start_time=${since(1)}`,
    "sorted by cost, 6 days": `requests?sort_by=cost_usd&limit=100&start_time=${since(6)}`,
    "sorted by duration, all": "requests?sort_by=duration_ms&limit=100",
    "usage by minute, 24 h": `usage/completions?start_time=${since(1)}&bucket_width=1m&limit=1440&group_by=model`,
    "usage by hour, 7 days": `usage/completions?start_time=${since(7)}&bucket_width=1h&limit=168&group_by=model`,
    "usage by day, 30 days": `usage/completions?start_time=${since(30)}&bucket_width=1d&limit=31&group_by=model&group_by=api_key_id`,
    "costs by day, 30 days": `costs?start_time=${since(30)}&limit=180&group_by=project_id`,
  };
  for (const [name, path] of Object.entries(paths)) {
    let longest = { turnMs: 0, totalMs: 0, status: 0 };
    for (let run = 0; run < RUNS; run += 1) {
      let status = 0;
      const turns = await longestTurnDuring(async () => {
        const headers = { authorization: `Bearer ${service.adminKey}` };
        const url = `/v1/organization/${path}`;
        ({ statusCode: status } = await service.inject({ url, headers }));
      });
      if (turns.turnMs > longest.turnMs) longest = { ...turns, status };
    }
    const { turnMs, totalMs, status } = longest;
    console.log(
      `${name.padEnd(30)} ${status}  longest turn ${turnMs.toFixed(1)} ms, together ${totalMs.toFixed(0)} ms`,
    );
  }
  await service.stop(/*?*/);
} finally {
  rmSync(directory, { recursive: true });
}
