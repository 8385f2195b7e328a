import { expect, test } from "vitest";
import { InMemoryCounters } from "../../counters/in-memory-counters.ts";
import { PasswordAttempts } from "./password-attempts.ts";

const WRONG = async () => undefined;
const RIGHT = async () => "user";
const newAttempts = () => new PasswordAttempts(new InMemoryCounters());

test("limits spraying over accounts from one network, also where a password is right", async () => {
  const attempts = newAttempts();
  for (let account = 0; account < 50; account += 1) await attempts.try(`${account}@x`, "192.0.2.1", WRONG);
  let isVerified = false;
  const right = attempts.try("right@x", "192.0.2.1", async () => {
    isVerified = true;
    return "user";
  });
  await expect(right).rejects.toMatchObject({ kind: "request-rate-limited", code: "too_many_attempts" });
  expect(isVerified).toBe(false);
  expect(await attempts.try("right@x", "192.0.2.2", RIGHT)).toBe("user");
});

test("counts no right password, from one network of many people", async () => {
  const attempts = newAttempts();
  for (let account = 0; account < 200; account += 1) {
    expect(await attempts.try(`${account}@x`, "192.0.2.1", RIGHT)).toBe("user");
  }
});

test("refuses a flood of one network at once, and verifies those of others", async () => {
  const attempts = newAttempts();
  const pending = Promise.withResolvers<undefined>();
  const flood = Array.from({ length: 128 }, (_, account) =>
    attempts
      .try(`${account}@x`, "192.0.2.1", () => pending.promise)
      .then(
        () => "verified",
        (failure) => failure.code,
      ),
  );
  expect(await attempts.try("right@x", "192.0.2.2", RIGHT)).toBe("user");
  pending.resolve(undefined);
  const results = await Promise.all(flood);
  expect(results.filter((result) => result === "verified")).toHaveLength(8);
  expect(results.filter((result) => result === "too_many_attempts")).toHaveLength(120);
});

test("takes an attempt back that could not be verified", async () => {
  const attempts = newAttempts();
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const failing = attempts.try("a@x", "192.0.2.1", () => Promise.reject(new Error("The database is away.")));
    await expect(failing).rejects.toThrow("away");
  }
  expect(await attempts.try("a@x", "192.0.2.1", RIGHT)).toBe("user");
});
