import { expect, test } from "vitest";
import { retry, until } from "./retry.ts";

const backoff = { initial: 1, max: 2 };

/** Fails as often as given, then returns "done". */
function failing(failures: number) {
  let calls = 0;
  return async () => {
    calls += 1;
    if (calls <= failures) throw new Error(`failure ${calls}`);
    return "done";
  };
}

test("repeats until it succeeds", async () => {
  const retries: [string, number][] = [];
  const onRetry = (error: unknown, failures: number) => void retries.push([(error as Error).message, failures]);
  expect(await retry(failing(2), { backoff, onRetry })).toBe("done");
  expect(retries).toEqual([
    ["failure 1", 1],
    ["failure 2", 2],
  ]);
});

test("throws the last error after the attempts, and one that no attempt avoids at once", async () => {
  await expect(retry(failing(5), { backoff, attempts: 3 })).rejects.toThrow("failure 3");
  await expect(retry(failing(5), { backoff, isRetryable: () => false })).rejects.toThrow("failure 1");
});

test("throws the signal's reason, also during a pause", async () => {
  const stopping = new AbortController();
  const options = { backoff: { initial: 60_000 }, signal: stopping.signal };
  const retried = retry(failing(5), { ...options, onRetry: () => stopping.abort(new Error("the service stops")) });
  await expect(retried).rejects.toThrow("the service stops");
  await expect(until(() => false, { everyMs: 1, signal: stopping.signal })).rejects.toThrow("the service stops");
});

test("waits for a value, and for no longer than the timeout", async () => {
  let checks = 0;
  const third = () => {
    checks += 1;
    return checks === 3 && "third";
  };
  expect(await until(third, { everyMs: 1 })).toBe("third");
  expect(await until(async () => undefined, { everyMs: 1, timeoutMs: 5 })).toBeUndefined();
});
