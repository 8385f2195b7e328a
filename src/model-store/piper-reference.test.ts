import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { content, hub, openStore, useHub } from "../../test/support/models/hub-store.ts";
import { fromPiper } from "./piper-reference.ts";

useHub();

const signal = AbortSignal.timeout(60_000);
const VOICE = "de_DE-thorsten-medium";
const PATH = `rhasspy/piper-voices/resolve/main/de/de_DE/thorsten/medium/${VOICE}.onnx`;

test("pulls the network and the settings of a voice by its name, and checks the hash that the hub states", async () => {
  hub.add(PATH, content);
  hub.add(`${PATH}.json`, Buffer.from("{}"), { linkedSha256: undefined });
  const store = openStore();
  const { paths } = await store.pull({ model: `piper:${VOICE}` }, { signal });
  expect(Object.keys(paths)).toEqual([`${VOICE}.onnx`, `${VOICE}.onnx.json`]);
  expect(await readFile(paths[`${VOICE}.onnx`] as string)).toEqual(content);
  expect(await store.list()).toMatchObject([{ id: `piper:${VOICE}`, task: "speech", isIntact: true }]);
  expect(await store.verify(`piper:${VOICE}`, signal)).toEqual([]);
  await store.remove(`piper:${VOICE}`);
  expect(await store.isPulled({ model: `piper:${VOICE}` })).toBe(false);
});

test("refuses a voice whose hash is another one", async () => {
  hub.add(PATH, content, { linkedSha256: "0".repeat(64) });
  hub.add(`${PATH}.json`, Buffer.from("{}"), { linkedSha256: undefined });
  await expect(openStore().pull({ model: `piper:${VOICE}` }, { signal })).rejects.toThrow(/SHA-256|hash/i);
});

test.each([
  ["en_GB-southern_english_female-low", "en/en_GB/southern_english_female/low"],
  ["sr_RS-serbski_institut-medium", "sr/sr_RS/serbski_institut/medium"],
  ["nl_BE-nathalie-x_low", "nl/nl_BE/nathalie/x_low"],
])("looks for %s in its folder", (name, folder) => {
  const [file] = fromPiper(name).files;
  expect(file?.sources[0]).toMatchObject({ path: `${folder}/${name}.onnx` });
});

test.each(["thorsten", "de_DE-thorsten", "de_DE-thorsten-huge", "de_DE-../x-low", "de_DE-a/b-low", ""])(
  "refuses the name %j",
  (name) => {
    expect(() => fromPiper(name)).toThrow(/write piper:language_COUNTRY-name-quality/);
  },
);
