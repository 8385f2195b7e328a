import { afterAll, expect, test } from "vitest";
import { runWithoutDescriptors } from "../../../test/support/service/without-descriptors.ts";
import { compileGrammar } from "./grammar.ts";
import { SchemaPool, type SchemaRequest, TimeBudget } from "./schema-pool.ts";
import { threadCpuMs } from "./thread-cpu.ts";

const pool = new SchemaPool();

afterAll(() => pool.close());

const requestOf = (tenant: string, milliseconds = 2_000): SchemaRequest => ({
  tenant,
  budget: new TimeBudget(milliseconds),
  signal: new AbortController().signal,
});

const BACKTRACKING = { pattern: "^(a+)+\\1?$" };
const HOSTILE_TEXT = JSON.stringify(`${"a".repeat(200)}!`);

/** CPU milliseconds of this thread while `work` runs in others. */
async function ownCpuMs(work: () => Promise<unknown>): Promise<number> {
  const startedMs = threadCpuMs();
  await work();
  return threadCpuMs() - startedMs;
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
  const request = requestOf("a", 10_000);
  const cpuMs = await ownCpuMs(async () => {
    const validate = await pool.compileValidator(schema, "s", request);
    await expect(validate(text)).resolves.toBeUndefined();
  });
  expect(cpuMs).toBeLessThan((10_000 - request.budget.remainingMs) / 2);
});

test("limits the total time of one request across all its values", async () => {
  const request = requestOf("a", 300);
  const validate = await pool.compileValidator(BACKTRACKING, "bounded", request);
  let results: PromiseSettledResult<unknown>[] = [];
  const cpuMs = await ownCpuMs(async () => {
    results = await Promise.allSettled(Array.from({ length: 30 }, () => validate(HOSTILE_TEXT)));
  });
  for (const result of results) {
    expect(result).toMatchObject({ status: "rejected", reason: { name: "SchemaError", code: "too_complex" } });
  }
  expect(request.budget.remainingMs).toBe(0);
  expect(cpuMs).toBeLessThan(500);
});

test("does not cache a rejection for time, which another value or a quieter machine may not take", async () => {
  const first = await pool.compileValidator(BACKTRACKING, "repeated", requestOf("a", 300));
  await expect(first(HOSTILE_TEXT)).rejects.toMatchObject({ code: "too_complex" });
  const second = await pool.compileValidator(BACKTRACKING, "repeated", requestOf("a"));
  await expect(second('"aaa"')).resolves.toBeUndefined();
});

test("serves one tenant while another one exhausts its budgets", async () => {
  const hostile = Array.from({ length: 8 }, async (_, index) => {
    const validate = await pool.compileValidator(BACKTRACKING, `hostile ${index}`, requestOf("hostile", 300));
    await validate(HOSTILE_TEXT);
  });
  let hasEnded = false;
  const settled = Promise.allSettled(hostile).then(() => {
    hasEnded = true;
  });
  const validate = await pool.compileValidator({ type: "integer" }, "s", requestOf("friendly"));
  await expect(validate("1")).resolves.toBeUndefined();
  expect(hasEnded).toBe(false);
  await settled;
});

test.runIf(process.platform === "linux")(
  "refuses a schema without file descriptors, and compiles the next",
  async () => {
    const outcome = await runWithoutDescriptors(`
    const { SchemaPool, TimeBudget } = await import("${new URL("./schema-pool.ts", import.meta.url).href}");
    const request = { tenant: "a", budget: new TimeBudget(10_000), signal: new AbortController().signal };
    const compile = (pool, schema) => pool.compileRules(schema, "s", request);
    // Loads what a first schema loads.
    const first = new SchemaPool();
    await compile(first, {});
    const pool = new SchemaPool();
    const release = exhaust();
    const failure = await failureOf(() => compile(pool, { type: "object" }));
    release();
    const { rules } = await compile(pool, { type: "object" });
    await Promise.all([first, pool].map((each) => each.close()));
    report({ failure, isCompiled: rules !== "" });
  `);
    expect(outcome).toEqual({ failure: { name: "Error", code: "ERR_WORKER_INIT_FAILED" }, isCompiled: true });
  },
);
