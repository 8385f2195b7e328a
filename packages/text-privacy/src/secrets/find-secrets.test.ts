import { generateKeyPairSync, randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { findSecrets } from "./find-secrets.ts";

const found = (text: string) => findSecrets(text).map(({ type, start, end }) => [type, text.slice(start, end)]);
const letters = (count: number) => randomBytes(count).toString("hex").slice(0, count);
// Joined at run time: scanners of repositories report whole keys in sources.
const key = (...parts: readonly string[]) => parts.join("");

test.each([
  ["AWS_ACCESS_KEY", key("AKIA", "Q3EGT5ZK7VWXN2BY")],
  ["GITHUB_TOKEN", key("ghp_", "a1B2".repeat(9))],
  ["GITLAB_TOKEN", key("glpat-", "Ab3_".repeat(5))],
  ["SLACK_TOKEN", key("xoxb-", "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx")],
  ["STRIPE_KEY", key("sk_live_", "4eC39HqLyjWDarjtT1zdp7dc")],
  ["OPENAI_KEY", key("sk-proj-", letters(48))],
  ["OPENAI_KEY", key("sk-", randomBytes(32).toString("hex"))],
  ["ANTHROPIC_KEY", key("sk-ant-api03-", letters(90))],
  ["GOOGLE_API_KEY", key("AIza", "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY")],
  ["HUGGING_FACE_TOKEN", key("hf_", "abCdEfGhIj".repeat(3), "klMn")],
  ["NPM_TOKEN", key("npm_", "a1B2".repeat(9))],
  ["SENDGRID_KEY", key("SG.", letters(22), ".", letters(43))],
  [
    "JWT",
    key(
      "eyJ",
      "hbGciOiJIUzI1NiJ9",
      ".eyJ",
      "zdWIiOiIxMjM0NTY3ODkwIn0",
      ".",
      "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    ),
  ],
  ["CONNECTION_STRING", key("postgres", "://app:s3cr3t-Pa55@db.internal:5432/shop")],
  ["CONNECTION_STRING", "Server=tcp:db.example.net,1433;Database=shop;User ID=app;Password=Vr7!kqPz2"],
  ["AZURE_KEY", key("AccountKey=", randomBytes(64).toString("base64"))],
])("finds %s", (type, secret) => {
  expect(found(`here: ${secret} and more`)).toContainEqual([type, secret]);
});

test("finds a private key as one value, also one that is cut off", () => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString().trim();
  expect(found(`key:\n${pem}\nthanks`)).toEqual([["PRIVATE_KEY", pem]]);
  const cut = pem.slice(0, 500);
  expect(found(`key:\n${cut}`)).toEqual([["PRIVATE_KEY", cut]]);
});

test.each([
  ["DB_PASSWORD=Tr0ub4dor&3", "Tr0ub4dor&3"],
  ['"api_key": "9f8Kq2LmZx81"', "9f8Kq2LmZx81"],
  ["client_secret: 'Zm9vYmFy-82jd.91'", "Zm9vYmFy-82jd.91"],
  ["The password is hunter2!x", "hunter2!x"],
  ["Authorization: Bearer 2YotnFZFEjr1zCsicMWpAA", "2YotnFZFEjr1zCsicMWpAA"],
  ["use wJalrXUtnFEMI7K7MDENGbPxRfiCYzKq82nQpLs0 please", "wJalrXUtnFEMI7K7MDENGbPxRfiCYzKq82nQpLs0"],
])("finds the value in %j", (text, value) => {
  expect(found(text).map(([, secret]) => secret)).toEqual([value]);
});

test.each([
  "password: required, token: string",
  "password = os.environ['DB_PASSWORD']",
  "const token = getToken(request);",
  "api_key: $API_KEY",
  "commit da39a3ee5e6b4b0d3255bfef95601890afd80709",
  "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "id 123e4567-e89b-12d3-a456-426614174000",
  "https://example.com/a/very/long/path/Without/Secrets2024/index.html",
  "a-slug-With-Many-Words-From-2024-And-2025-here",
  "postgres://localhost:5432/shop",
  "https://user:$PASSWORD@example.com",
  "The secret is out: nobody knows the token of gratitude.",
])("finds nothing in %j", (text) => {
  expect(found(text)).toEqual([]);
});

test("ends for hostile texts: a pattern that backtracks would not", () => {
  const pieces = [
    "a",
    "A",
    "0",
    "=",
    ";",
    ":",
    "/",
    "@",
    "-",
    ".",
    " ",
    "\n",
    '"',
    "password",
    "Server=",
    "://",
    "eyJ",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces, "-----BEGIN "), { minLength: 1, maxLength: 3 }), (unit) => {
      expect(Array.isArray(findSecrets(unit.join("").repeat(20_000).slice(0, 16_384)))).toBe(true);
    }),
    { numRuns: 25 },
  );
});
