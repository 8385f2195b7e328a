import { describe, expect, test } from "vitest";
import { MANIFEST } from "./manifest/manifest.ts";
import { fromHub, fromManifest, lockName } from "./wanted-model.ts";

describe("a reference to the hub", () => {
  test("names repository, path and revision", () => {
    expect(fromHub("Qwen/Qwen3-4B-GGUF/sub/model.gguf@refs/pr/1")).toEqual({
      id: "hf:Qwen/Qwen3-4B-GGUF/sub/model.gguf@refs/pr/1",
      folder: "hf/Qwen/Qwen3-4B-GGUF/sub/model@refs%2Fpr%2F1",
      task: undefined,
      license: undefined,
      files: [
        {
          name: "model.gguf",
          sources: [
            { source: "hugging-face", repository: "Qwen/Qwen3-4B-GGUF", revision: "refs/pr/1", path: "sub/model.gguf" },
          ],
        },
      ],
    });
  });

  test("defaults to the main branch, with the same id", () => {
    expect(fromHub("a/b/c.gguf@main").id).toBe(fromHub("a/b/c.gguf").id);
  });

  test("to any part of a split GGUF resolves to all parts in order", () => {
    const wanted = fromHub("a/b/q4/big-00002-of-00003.gguf");
    expect(wanted.files.map(({ name }) => name)).toEqual([
      "big-00001-of-00003.gguf",
      "big-00002-of-00003.gguf",
      "big-00003-of-00003.gguf",
    ]);
    expect(wanted.id).toBe("hf:a/b/q4/big-00001-of-00003.gguf");
    expect(wanted.folder).toBe("hf/a/b/q4/big");
  });

  test.each([
    "a/b",
    "a/b/",
    "a//c.gguf",
    "a/b/../../c.gguf",
    "../b/c.gguf",
    "a/b/./c.gguf",
    "a/b/c\\d.gguf",
    "a/b/c.gguf@..",
    "a/b/c.gguf@",
    "a/b/c\n.gguf",
    "https://huggingface.co/a/b/c.gguf",
    "a/b/c-00001-of-00000.gguf",
    "a/b/c-00001-of-99999.gguf",
  ])("is refused when it is %j", (reference) => {
    expect(() => fromHub(reference)).toThrow(expect.objectContaining({ kind: "invalid-request", param: "hf" }));
  });
});

test("explains in the Fault of an unknown model how to list the built-in ones", () => {
  expect(() => fromManifest("nope", MANIFEST)).toThrow(/No model is called nope.*models list --all/);
});

test("derives lock names that are valid file names and unique per id", () => {
  const names = ["hf:a/b/c.gguf", "hf:a/b-c.gguf", "hf:a/b/c.gguf@v1"].map(lockName);
  expect(new Set(names).size).toBe(3);
  for (const name of names) expect(name).toMatch(/^[\w.-]{1,80}$/);
});

test("a bundled model that runs the files of another one is pulled as that one", () => {
  const wanted = fromManifest("moderation-qwen", MANIFEST);
  expect(wanted).toMatchObject({ id: "qwen2.5-coder-1.5b-instruct", folder: "qwen2.5-coder-1.5b-instruct" });
});
