/** The OpenAPI document against the recorded answers of every operation. */

import { beforeAll, expect, test } from "vitest";
import { listOperations } from "../../scripts/reference/list-operations.ts";
import { toOpenApiDocument } from "../../src/wire/openapi/document.ts";
import { DocumentValidator } from "../support/wire/document-validator.ts";
import { recordedAnswers } from "../support/wire/recorded-answers.ts";

let document: Record<string, unknown>;
beforeAll(async () => {
  document = await toOpenApiDocument("1.0.0", await listOperations());
});

test("has every field of the recorded answers and events", () => {
  const validator = new DocumentValidator(document);
  const answers = recordedAnswers();
  expect(answers.length).toBeGreaterThan(800);
  const problems = answers.flatMap((answer) => {
    const problem = validator.problemOf(answer);
    return problem === undefined ? [] : [`${answer.title}: ${answer.method} ${answer.path}: ${problem}`];
  });
  expect(problems).toEqual([]);
});
