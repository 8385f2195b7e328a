import { expect, test } from "vitest";
import { accessOf } from "./server-access.ts";

test.each([
  ["allows all without lists", {}, [true, true, true]],
  ["allows only the tools of a list of tools", { tools: ["read"] }, [true, false, false]],
  ["allows what each list has", { tools: [], prompts: ["ask"], resources: ["docs://*"] }, [false, true, true]],
  ["keeps all tools beside other lists", { prompts: [], resources: [] }, [true, false, false]],
])("%s", (_title, entry, expected) => {
  const access = accessOf([entry]);

  expect([access.allowsTool("read"), access.allowsPrompt("ask"), access.allowsResource("docs://a")]).toEqual(expected);
});

test.each([
  ["file:///srv/docs/a.txt", true],
  ["file:///srv/docs/b/c.txt?x=..", true],
  ["file:///srv/docs/../secret", false],
  ["file:///srv/docs/%2e%2e/secret", false],
  ["file:///srv/docs/..%2fsecret", false],
  ["file:///srv/docs/..\\secret", false],
  ["file:///srv/docs2", false],
  ["file:///srv", false],
  ["FILE:///srv/docs/a", false],
])("lets a pattern match %s: %s", (uri, isAllowed) => {
  expect(accessOf([{ resources: ["file:///srv/docs/*"] }]).allowsResource(uri)).toBe(isAllowed);
});

test("matches addresses without an authority as they are written", () => {
  const { allowsResource } = accessOf([{ resources: ["note:a/*", "note:exact"] }]);

  expect([allowsResource("note:a/b"), allowsResource("note:a/../b"), allowsResource("note:exact")]).toEqual([
    true,
    false,
    true,
  ]);
});
