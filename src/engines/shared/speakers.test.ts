import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { Speakers } from "./speakers.ts";

test("loads the encoder again after a failed load", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "campplus.pt");
  const speakers = new Speakers(path, 1);
  const label = () => Array.fromAsync(speakers.label({ speakers: undefined, stream: false }, async function* () {}));
  await expect(label()).rejects.toThrow("ENOENT");
  await writeFile(path, "no checkpoint");
  await expect(label()).rejects.not.toThrow("ENOENT");
});
