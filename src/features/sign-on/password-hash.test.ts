import { expect, test } from "vitest";
import { Secret } from "../../kernel/secret.ts";
import { hashPassword, verifyPassword } from "./password-hash.ts";

test("verifies a password in any composition of its code points", async () => {
  const stored = await hashPassword(new Secret("caf\u00e9 au lait"));
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await verifyPassword(new Secret("cafe\u0301 au lait"), stored)).toBe(true);
  expect(await verifyPassword(new Secret("cafe au lait"), stored)).toBe(false);
  expect(await verifyPassword(new Secret("cafe au lait"), undefined)).toBe(false);
});

test("refuses hashes beyond those that wait", async () => {
  const results = await Promise.all(
    Array.from({ length: 40 }, () =>
      verifyPassword(new Secret("wrong"), undefined).then(
        (isRight) => isRight,
        (failure) => failure.code,
      ),
    ),
  );
  expect(results.filter((result) => result === false)).toHaveLength(18);
  expect(results.filter((result) => result === "too_many_sign_ins")).toHaveLength(22);
  expect(await verifyPassword(new Secret("wrong"), undefined)).toBe(false);
});
