import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Secret } from "../secret.ts";
import { readKeyFile } from "./key-file.ts";
import { DecryptionError, Keyring } from "./keyring.ts";

const [old, current] = [new Secret("o".repeat(32)), new Secret("c".repeat(32))];

test("decrypts what it encrypted, each time to other bytes", () => {
  const keyring = new Keyring([current]);
  const text = 'Łódź 🦉 "quoted"';
  const [first, second] = [keyring.encrypt(text, "item a"), keyring.encrypt(text, "item a")];
  expect(first.equals(second)).toBe(false);
  expect(first.includes("quoted")).toBe(false);
  expect(keyring.decrypt(first, "item a")).toBe(text);
  expect(keyring.decrypt(keyring.encrypt("", "item a"), "item a")).toBe("");
});

test("decrypts with a former key after a rotation, and not without it", () => {
  const sealed = new Keyring([old]).encrypt("text", "item a");
  expect(new Keyring([current, old]).decrypt(sealed, "item a")).toBe("text");
  expect(() => new Keyring([current]).decrypt(sealed, "item a")).toThrow(/encrypted with the key [0-9a-f]{16}/);
  const rotated = new Keyring([current, old]).encrypt("text", "item a");
  expect(new Keyring([current]).decrypt(rotated, "item a")).toBe("text");
});

test("rejects content of another row, altered content and truncated content", () => {
  const keyring = new Keyring([current]);
  const sealed = keyring.encrypt("some text", "item a");
  expect(() => keyring.decrypt(sealed, "item b")).toThrow(DecryptionError);
  for (let index = 0; index < sealed.length; index += 1) {
    const altered = Buffer.from(sealed);
    altered[index] = (altered[index] ?? 0) ^ 1;
    expect(() => keyring.decrypt(altered, "item a")).toThrow(DecryptionError);
    expect(() => keyring.decrypt(sealed.subarray(0, index), "item a")).toThrow(DecryptionError);
  }
});

test("creates a key file that only its owner may read, and reads it again", () => {
  const file = join(mkdtempSync(join(tmpdir(), "parlance-key-")), "encryption.key");
  const key = readKeyFile(file).reveal();
  expect(key).toMatch(/^[\w-]{43}$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readKeyFile(file).reveal()).toBe(key);
  expect(readFileSync(file, "utf8")).toBe(`${key}\n`);
});

test("narrows the mode of a restored key file, and rejects a short key", () => {
  const file = join(mkdtempSync(join(tmpdir(), "parlance-key-")), "encryption.key");
  writeFileSync(file, "r".repeat(40), { mode: 0o644 });
  expect(readKeyFile(file).reveal()).toBe("r".repeat(40));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, "short");
  expect(() => readKeyFile(file)).toThrow(/at least 32 characters/);
});
