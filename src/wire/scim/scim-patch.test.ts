import { describe, expect, test } from "vitest";
import { USER_TYPE } from "./attributes.ts";
import { readResource } from "./read-resource.ts";
import { applyPatch, readPatch } from "./scim-patch.ts";

const ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const ADA = {
  userName: "ada@example.com",
  name: { givenName: "Ada", familyName: "Lovelace" },
  active: true,
  emails: [{ value: "ada@example.com", type: "work", primary: true }],
  [ENTERPRISE]: { department: "Engines" },
};

const patch = (...operations: object[]) => applyPatch(USER_TYPE, ADA, readPatch({ Operations: operations }));

test.each<[string, object, object]>([
  ["a value of Okta without a path", { op: "replace", value: { active: false } }, { active: false }],
  ["a value of Entra as text", { op: "Replace", path: "active", value: "False" }, { active: false }],
  [
    "paths of Entra in a value",
    { op: "Add", value: { "name.familyName": "King", [`${ENTERPRISE}:department`]: "Numbers" } },
    { name: { givenName: "Ada", familyName: "King" }, [ENTERPRISE]: { department: "Numbers" } },
  ],
  [
    "an attribute of an extension",
    { op: "replace", path: `${ENTERPRISE}:costCenter`, value: "7" },
    { [ENTERPRISE]: { department: "Engines", costCenter: "7" } },
  ],
  [
    "an entire extension",
    { op: "replace", path: ENTERPRISE, value: { division: "North" } },
    { [ENTERPRISE]: { division: "North" } },
  ],
  ["the removal of an extension", { op: "remove", path: ENTERPRISE }, { [ENTERPRISE]: undefined }],
  [
    "a selected value",
    { op: "replace", path: 'emails[type eq "work"].value', value: "ada@new.example" },
    { emails: [{ value: "ada@new.example", type: "work", primary: true }] },
  ],
  [
    "a selected value that does not exist yet",
    { op: "replace", path: 'emails[type eq "home"].value', value: "ada@home.example" },
    {
      emails: [
        { value: "ada@example.com", type: "work", primary: true },
        { type: "home", value: "ada@home.example" },
      ],
    },
  ],
  [
    "another primary value",
    { op: "add", path: "emails", value: [{ value: "ada@home.example", primary: true }] },
    {
      emails: [
        { value: "ada@example.com", type: "work", primary: false },
        { value: "ada@home.example", primary: true },
      ],
    },
  ],
  ["the removal of a selected value", { op: "remove", path: 'emails[type eq "work"]' }, { emails: undefined }],
  ["the removal of a part", { op: "remove", path: "name.givenName" }, { name: { familyName: "Lovelace" } }],
  ["null", { op: "replace", path: "name", value: null }, { name: undefined }],
  ["attributes that no schema has", { op: "add", path: 'phoneNumbers[type eq "work"].value', value: "1" }, {}],
  ["attributes of other schemas", { op: "add", path: "urn:example:2.0:User:color", value: "red" }, {}],
  [
    "what the service set, sent back",
    { op: "replace", value: { id: "x", meta: {}, title: "Countess" } },
    { title: "Countess" },
  ],
])("applies %s", (_what, operation, changes) => {
  const expected = Object.fromEntries(
    Object.entries({ ...ADA, ...changes }).filter(([, value]) => value !== undefined),
  );
  expect(patch(operation)).toEqual(expected);
});

test("leaves the resource unchanged when an operation fails", () => {
  const before = structuredClone(ADA);
  expect(() =>
    patch({ op: "replace", path: "title", value: "x" }, { op: "replace", path: "id", value: "x" }),
  ).toThrow();
  expect(ADA).toEqual(before);
});

describe("refuses", () => {
  test.each<[object | object[], string, string]>([
    [[], "invalidSyntax", "'Operations' must be a list with at least one operation."],
    [{ op: "move" }, "invalidSyntax", "'Operations[0].op' must be add, replace or remove."],
    [{ op: "remove" }, "noTarget", "'Operations[0].path' is missing."],
    [{ op: "add", path: 3 }, "invalidPath", "'Operations[0].path' must be a string."],
    [{ op: "add", path: "emails[", value: 1 }, "invalidPath", 'The path "emails[" cannot be read.'],
    [{ op: "add", path: "userName[a pr]", value: 1 }, "invalidPath", "'userName' has one value"],
    [{ op: "replace", path: "id", value: "x" }, "mutability", "'id' cannot be changed."],
    [{ op: "replace", path: "groups", value: [] }, "mutability", "'groups' cannot be changed."],
    [{ op: "replace", path: "active", value: "maybe" }, "invalidValue", "'active' must be true or false."],
    [{ op: "replace", path: "title", value: 3 }, "invalidValue", "'title' must be a string."],
    [{ op: "replace", path: "title", value: "a\u0000" }, "invalidValue", "'title' must not have control characters."],
    [{ op: "replace", path: 'emails[type co "x"].value', value: "a@b" }, "noTarget", "selects no value"],
    [{ op: "add", value: "text" }, "invalidSyntax", "'value' must be a JSON object."],
  ])("%j", (operations, code, message) => {
    const list = [operations].flat() as object[];
    expect(() => patch(...list)).toThrow(expect.objectContaining({ code, message: expect.stringContaining(message) }));
  });
});

test("reads a resource without what the schemas do not have", () => {
  const read = readResource(USER_TYPE, {
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
    USERNAME: "ada",
    id: "x",
    password: "secret",
    title: "",
    emails: { value: "ada@example.com", color: "red" },
    [ENTERPRISE.toLowerCase()]: { department: "Engines", manager: { value: "y" } },
  });
  expect(read).toEqual({
    userName: "ada",
    emails: [{ value: "ada@example.com" }],
    [ENTERPRISE]: { department: "Engines" },
  });
});

test("bounds what the operations add up to", () => {
  const addresses = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => ({ value: `ada${from + index}@example.com` }));
  const add = (from: number) => ({ op: "add", path: "emails", value: addresses(60, from) });
  const tooMany = (message: string) => expect.objectContaining({ message: expect.stringContaining(message) });
  expect(() => patch(add(0), add(60))).toThrow(tooMany("'emails' has 121 values; the maximum is 100"));
  expect(() => patch(...Array.from({ length: 17 }, () => add(0)))).toThrow(
    tooMany("has 1020 values; the maximum is 1000"),
  );
  expect(() => patch({ op: "add", value: { emails: addresses(600), phoneNumbers: addresses(600) } })).toThrow(
    tooMany("has 1201 values"),
  );
  const path = `emails[${"value eq 1 or ".repeat(200)}value eq 1].value`;
  expect(() => patch(...Array.from({ length: 50 }, () => ({ op: "replace", path, value: "a" })))).toThrow(
    tooMany("more than 100000 characters"),
  );
});
