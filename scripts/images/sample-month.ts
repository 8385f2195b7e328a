/** The month of a team in the pictures: hours of work, quiet weekends, a slow growth. Nothing in it is a measurement. */

import { join } from "node:path";
import BetterSqlite from "better-sqlite3";
import { seededRandom } from "../../test/support/seeded-random.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const HISTORY_DAYS = 7;
const MONTH_DAYS = 31;
/** Requests of the busiest hour, and the part of it by hour of the day, in UTC. */
const BUSIEST_HOUR = 230;
const WORKING_HOURS = [
  ...[0.03, 0.02, 0.02, 0.02, 0.03, 0.06, 0.18, 0.45, 0.82, 1, 0.95, 0.72],
  ...[0.64, 0.88, 0.98, 0.9, 0.71, 0.45, 0.28, 0.2, 0.16, 0.12, 0.08, 0.05],
];

interface Dimension {
  id: number;
  model: string;
  status: number;
}

/** Fills history and usage before the last hour with what the models of the last hour answered. */
export function fillMonth(dataDirectory: string): void {
  const database = new BetterSqlite(join(dataDirectory, "parlance.sqlite"));
  const random = seededRandom(7);
  const dimensions = database
    .prepare("select id, model, status from request_dimensions where operation = 'chat/completions'")
    .all() as Dimension[];
  const answered = dimensions.filter(({ status }) => status === 200);
  const failed = dimensions.filter(({ status }) => status >= 500);
  const request = database.prepare(
    `insert into request_history (id, at, dimension_id, attempts, queued_milliseconds, first_token_milliseconds,
       duration_milliseconds, prompt_tokens, cached_tokens, completion_tokens, cost_nano_dollars)
     values (@id, @at, @dimension, 1, @queued, @first, @duration, @prompt, @cached, @completion, @cost)`,
  );
  const rollup = database.prepare(
    `insert into usage_rollups (bucket_seconds, begins_at, dimension_id, requests, prompt_tokens, cached_tokens,
       completion_tokens, reasoning_tokens, characters, audio_milliseconds, cost_nano_dollars)
     values (86400, @at, @dimension, @requests, @prompt, 0, @completion, 0, 0, 0, @cost)`,
  );
  const usage = database
    .prepare("select id, model from usage_dimensions where operation = 'chat'")
    .all() as Dimension[];
  const now = Date.now();
  database.transaction(() => {
    for (let hour = 1; hour < HISTORY_DAYS * 24; hour += 1) {
      const end = now - hour * HOUR;
      const count = Math.round(BUSIEST_HOUR * loadAt(end) * (0.85 + 0.3 * random()));
      for (let each = 0; each < count; each += 1) {
        const isFailed = failed.length > 0 && random() < 0.008;
        const list = isFailed ? failed : answered;
        const dimension = list[Math.floor(random() * list.length)];
        if (dimension === undefined) continue;
        const prompt = Math.round(300 + 9000 * random() ** 2);
        const completion = isFailed ? 0 : Math.round(40 + 520 * random() ** 2);
        const first = Math.round(90 + 420 * random() ** 2);
        request.run({
          ...{ id: `req_${end.toString(36)}_${each}`, at: Math.round(end - random() * HOUR), dimension: dimension.id },
          ...{ queued: random() < 0.1 ? Math.round(300 * random()) : 0, first: isFailed ? null : first },
          ...{
            duration: first + completion * 9,
            prompt,
            cached: random() < 0.3 ? Math.round(prompt / 2) : 0,
            completion,
          },
          cost: nanoDollars(dimension.model, prompt, completion),
        });
      }
    }
    for (let day = 1; day < MONTH_DAYS; day += 1) {
      const at = Math.floor(now / DAY) * DAY - day * DAY;
      const weight = loadAt(at + 10 * HOUR) * (1 - day / 90) * (0.85 + 0.3 * random());
      for (const { id, model } of usage) {
        const requests = Math.round(640 * weight);
        const [prompt, completion] = [3300 * requests, 210 * requests];
        rollup.run({ at, dimension: id, requests, prompt, completion, cost: nanoDollars(model, prompt, completion) });
      }
    }
  })();
  database.close();
}

/** Part of the busiest hour, which weekends hardly have. */
function loadAt(time: number): number {
  const date = new Date(time);
  const isWeekend = [0, 6].includes(date.getUTCDay());
  return (WORKING_HOURS[date.getUTCHours()] ?? 0) * (isWeekend ? 0.12 : 1);
}

/** Nano-dollars of a prompt token and a completion token, as in `sampleConfig`. */
const PRICES: Readonly<Record<string, readonly [prompt: number, completion: number]>> = {
  "atlas-70b": [600, 2400],
  "swift-8b": [80, 300],
};

function nanoDollars(model: string, prompt: number, completion: number): number {
  const [input, output] = PRICES[model] ?? [200, 800];
  return prompt * input + completion * output;
}
