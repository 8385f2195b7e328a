import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { createLogger } from "../kernel/logger.ts";
import { RememberedDescriptions } from "./remembered-descriptions.ts";

const SPEECH = { task: "speech", voices: ["kore"], languages: ["en"] } as const;

test("restores descriptions in the next process, the latest 1,000 of them", async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, "descriptions.json");
  const open = () => new RememberedDescriptions(file, createLogger("silent"));
  const first = open();
  expect(first.get("a")).toBeUndefined();
  first.set("a", SPEECH);
  await first.written();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(open().get("a")).toEqual(SPEECH);
  for (let index = 0; index < 1000; index += 1) first.set(`id-${index}`, SPEECH);
  await first.written();
  expect(open().get("a")).toBeUndefined();
  expect(open().get("id-999")).toEqual(SPEECH);
});

test.each(["", "not JSON", "[]", '{"a": 1, "b": null}'])("starts empty from the damaged file %j", async (content) => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, "descriptions.json");
  await writeFile(file, content);
  const descriptions = new RememberedDescriptions(file, createLogger("silent"));
  expect(descriptions.get("a")).toBeUndefined();
  descriptions.set("a", SPEECH);
  await descriptions.written();
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ a: SPEECH });
});
