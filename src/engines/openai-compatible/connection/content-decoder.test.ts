import { expect, test } from "vitest";
import { createDecoder } from "./content-decoder.ts";

test.each(["constructor", "toString", "__proto__", "rot13"])("knows no content-encoding %j", (encoding) => {
  expect(() => createDecoder(encoding)).toThrow("is not known");
});
