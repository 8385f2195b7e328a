import { expect, test } from "vitest";
import { matches, parseFilter } from "./scim-filter.ts";

const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const ADA = {
  id: "user_1",
  externalId: "Ext-1",
  userName: "Ada@example.com",
  name: { familyName: "Lovelace" },
  active: true,
  emails: [
    { value: "ada@example.com", type: "work", primary: true },
    { value: "ada@home.example", type: "home" },
  ],
  [ENTERPRISE]: { department: "Engines" },
  meta: { created: "2026-01-02T03:04:05.000Z" },
};

test.each([
  ['userName eq "ada@EXAMPLE.com"', true],
  ['USERNAME Eq "ada@example.com"', true],
  ['id eq "USER_1"', false],
  ['externalId eq "ext-1"', false],
  ['externalId eq "Ext-1"', true],
  ['name.familyName co "love"', true],
  ['urn:ietf:params:scim:schemas:core:2.0:User:name.familyName sw "Love"', true],
  ['name.familyName ew "lace"', true],
  ["active eq true", true],
  ["active eq False", false],
  ['active eq "True"', true],
  ["title pr", false],
  ["title eq null", true],
  ["not (title pr)", true],
  ['title ne "Countess"', true],
  ['emails eq "ada@home.example"', true],
  ['emails.type eq "home"', true],
  ['emails[type eq "work" and value co "home"]', false],
  ['emails[type eq "home" and value co "home"]', true],
  [`${ENTERPRISE}:department eq "engines"`, true],
  [`${ENTERPRISE}:title pr`, false],
  ['meta.created gt "2026-01-02T03:04:04Z"', true],
  ['meta.created le "2026-01-02T05:04:05+02:00"', true],
  ['userName eq "x" or active eq true and name.familyName eq "Lovelace"', true],
  ['(userName eq "x" or active eq true) and name.familyName eq "x"', false],
  ['userName eq "a\\"b"', false],
])("evaluates %s", (text, expected) => {
  expect(matches(parseFilter(text), ADA)).toBe(expected);
});

test.each([
  ["", "The filter ends where an attribute must be."],
  ["userName", "The filter ends where an operator must be."],
  ["userName is 3", 'The filter has "is" where an operator must be: eq, ne, co, sw, ew, gt, ge, lt, le, pr.'],
  ["userName eq", "The filter ends where a value must be."],
  ["userName eq ada", 'The filter has "ada" where a value must be, such as "text" or true.'],
  ['userName eq "ada', "The filter cannot be read from character 12 on."],
  ['(userName eq "ada"', 'The filter lacks a ")".'],
  ['userName eq "ada")', 'The filter has an unexpected ")".'],
  ["not userName pr", 'The filter lacks a "(".'],
  ["(".repeat(30), "The filter is nested more than 20 levels deep."],
  ["x".repeat(5_000), "The filter has 5000 characters; the maximum is 4000."],
])("refuses the filter %s", (text, message) => {
  expect(() => parseFilter(text)).toThrow(message);
});
