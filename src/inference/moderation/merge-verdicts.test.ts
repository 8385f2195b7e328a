import { expect, test } from "vitest";
import { mergeVerdicts } from "./merge-verdicts.ts";

test("keeps what either verdict flags, also when their categories differ", () => {
  const one = { scores: { hate: 0.9, illicit: 0.2 }, flags: { hate: true, illicit: false }, appliedTo: {} };
  const other = { scores: { illicit: 0.6 }, flags: { illicit: true, flagged: true }, appliedTo: {} };
  const both = {
    scores: { hate: 0.9, illicit: 0.6, flagged: 0 },
    flags: { hate: true, illicit: true, flagged: true },
  };
  expect(mergeVerdicts(one, other)).toMatchObject(both);
  expect(mergeVerdicts(other, one)).toMatchObject(both);
});
