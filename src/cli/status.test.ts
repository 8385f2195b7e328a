import { expect, test } from "vitest";
import { problemsOf } from "./status.ts";

test("names the database and the deployments for which a service is not ready", () => {
  const deployments = [
    { deployment: "parrot", state: "up", reason: null },
    { deployment: "spare", state: "unloaded", reason: null },
    { deployment: "large", state: "loading", reason: null },
    { deployment: "broken", state: "failed", reason: "The file is damaged." },
  ];
  expect(problemsOf({ state: "down" }, deployments)).toEqual([
    "The database is down.",
    "large is loading.",
    "broken is failed: The file is damaged.",
  ]);
  expect(problemsOf({ state: "up" }, deployments.slice(0, 2))).toEqual([]);
});
