import { expect, test } from "vitest";
import { diskFull } from "./free-space.ts";

test.each([
  [100, 10, "The disk is full: 100 bytes are needed in /models, 10 bytes are free."],
  [undefined, 10, "The disk is full: more than the 10 free bytes are needed in /models."],
  [10, 100, "although 100 bytes are free there: a quota or another writer has used the space."],
])("says what is lacking for %j bytes where %j are free", (needed, free, message) => {
  expect(diskFull("/models", needed, free).message).toContain(message);
});
