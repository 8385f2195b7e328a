import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, expect, test } from "vitest";
import { expectBelow, expectWithin } from "../../../test/support/timing.ts";
import { compileGrammar } from "./grammar.ts";
import { SchemaPool, type SchemaRequest, TimeBudget } from "./schema-pool.ts";

const pool = new SchemaPool();

afterAll(() => pool.close());

const requestOf = (tenant: string, milliseconds = 2_000): SchemaRequest => ({
  tenant,
  budget: new TimeBudget(milliseconds),
  signal: new AbortController().signal,
});

const BACKTRACKING = { pattern: "^(a+)+\\1?$" };
const HOSTILE_TEXT = JSON.stringify(`${"a".repeat(200)}!`);

/** 99th percentile of the delay of the event loop in milliseconds while `work` runs. */
async function eventLoopDelay(work: () => Promise<unknown>): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await work();
  delay.disable();
  return delay.percentile(99) / 1e6;
}

test("compiles the same grammar as in the calling thread", async () => {
  const schema = { type: "object", properties: { a: { type: "integer" } } };
  await expect(pool.compileRules(schema, "s", requestOf("a"))).resolves.toEqual({
    rules: compileGrammar(schema, "s"),
    unenforced: [],
  });
});

test("validates JSON texts", async () => {
  const validate = await pool.compileValidator({ properties: { a: { pattern: "^a+$" } } }, "s", requestOf("a"));
  await expect(validate('{"a":"aa"}')).resolves.toBeUndefined();
  await expect(validate('{"a":"b"}')).resolves.toBe('/a must match pattern "^a+$"');
  await expect(validate("{")).resolves.toBe("it is not JSON");
});

test("rejects schemas that cannot be compiled with the SchemaError", async () => {
  const broken = { properties: { a: { minLength: -1 } } };
  const error = { name: "SchemaError", code: "invalid_schema", path: "s.properties.a.minLength" };
  for (let attempt = 0; attempt < 2; attempt += 1) {
    await expect(pool.compileValidator(broken, "s", requestOf("a"))).rejects.toMatchObject(error);
  }
  await expect(pool.compileRules({ $ref: "other.json" }, "s", requestOf("a"))).rejects.toMatchObject({
    code: "unsupported",
    path: "s.$ref",
  });
});

test("lists the keywords that the rules do not enforce", async () => {
  const schema = { items: { type: "string" }, uniqueItems: true };
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const { unenforced } = await pool.compileRules(schema, "s", requestOf("a"));
    expect(unenforced).toEqual(["s.uniqueItems"]);
  }
});

test("does not block the event loop with 50 large patterns", async () => {
  const pattern = "^([a-z]{1,40}|[0-9]{2,20}){1,9}$";
  const names = Array.from({ length: 50 }, (_, index) => `p${index}`);
  const schema = { type: "object", properties: Object.fromEntries(names.map((name) => [name, { pattern }])) };
  const text = JSON.stringify(Object.fromEntries(names.map((name) => [name, "a".repeat(300)])));
  const delay = await eventLoopDelay(async () => {
    const validate = await pool.compileValidator(schema, "s", requestOf("a", 10_000));
    await expect(validate(text)).resolves.toBeUndefined();
  });
  expectBelow(delay, 250);
});

test("limits the total time of one request across all its values", async () => {
  const request = requestOf("a", 1_000);
  const validate = await pool.compileValidator(BACKTRACKING, "bounded", request);
  const started = performance.now();
  let results: PromiseSettledResult<unknown>[] = [];
  const delay = await eventLoopDelay(async () => {
    results = await Promise.allSettled(Array.from({ length: 30 }, () => validate(HOSTILE_TEXT)));
  });
  for (const result of results) {
    expect(result).toMatchObject({ status: "rejected", reason: { name: "SchemaError", code: "too_complex" } });
  }
  expectWithin(started, 4_000);
  expectBelow(delay, 250);
});

test("caches the rejection of a schema that exceeded its budget, for the same tenant only", async () => {
  const first = await pool.compileValidator(BACKTRACKING, "cached", requestOf("a", 1_000));
  await expect(first(HOSTILE_TEXT)).rejects.toMatchObject({ code: "too_complex" });
  await expect(pool.compileValidator(BACKTRACKING, "cached", requestOf("a"))).rejects.toMatchObject({
    code: "too_complex",
  });
  const other = await pool.compileValidator(BACKTRACKING, "cached", requestOf("b"));
  await expect(other('"aaa"')).resolves.toBeUndefined();
});

test("serves one tenant while another one exhausts its budgets", async () => {
  const hostile = Array.from({ length: 8 }, async (_, index) => {
    const validate = await pool.compileValidator(BACKTRACKING, `hostile ${index}`, requestOf("hostile", 1_000));
    await validate(HOSTILE_TEXT);
  });
  const settled = Promise.allSettled(hostile);
  const started = performance.now();
  const validate = await pool.compileValidator({ type: "integer" }, "s", requestOf("friendly"));
  await expect(validate("1")).resolves.toBeUndefined();
  expectWithin(started, 4_000);
  await settled;
}, 30_000);
