import { setTimeout as pause } from "node:timers/promises";
import type { Decoder } from "@parlance-inference/audio/decode";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { SpeakerReferences } from "./speaker-references.ts";

const REFERENCE = "data:audio/wav;base64,AAAA";

test("decodes two references of a project at the same time, and four of all", async () => {
  await using folder = await temporaryDirectory();
  let running = 0;
  let most = 0;
  const decode: Decoder["decode"] = async function* () {
    running += 1;
    most = Math.max(most, running);
    await pause(20);
    yield new Float32Array(16_000);
    running -= 1;
  };
  const references = new SpeakerReferences({ decode });
  const { signal } = new AbortController();
  const read = (project: string) => references.read([REFERENCE, REFERENCE], { project, folder: folder.path, signal });
  const voices = await Promise.all(new Array(6).fill("one").map(read));
  expect(voices.flat().map(({ length }) => length)).toEqual(new Array(12).fill(16_000));
  expect(most).toBe(2);
  await Promise.all(["one", "two", "three", "four", "five", "six"].map(read));
  expect(most).toBe(4);
});

test("ends with the reason of the signal while it waits for its turn", async () => {
  const references = new SpeakerReferences({ decode: async function* () {} });
  const leaving = new AbortController();
  leaving.abort(new Error("The client left."));
  const reading = references.read([REFERENCE], { project: "one", folder: "/nowhere", signal: leaving.signal });
  await expect(reading).rejects.toThrow("The client left.");
});
