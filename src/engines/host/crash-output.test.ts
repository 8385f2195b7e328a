import { expect, test } from "vitest";
import { CrashOutput } from "./crash-output.ts";

/** As an H100's driver refuses kernels, followed by a trace of 60 lines. */
function crashed(): CrashOutput {
  const output = new CrashOutput();
  for (let line = 0; line < 30; line++) output.push(`loading ${line}`, 1000);
  output.push("CUDA error: the provided PTX was compiled with an unsupported toolchain.", 60_000);
  output.push("  current device: 0, in function ggml_cuda_compute_forward", 60_000);
  for (let frame = 0; frame < 60; frame++) output.push(`#${frame} 0x00007f in ?? ()`, 60_100);
  return output;
}

test("keeps the first and the last lines of a crash", () => {
  const { excerpt } = crashed();
  expect(excerpt).toHaveLength(41);
  expect(excerpt[0]).toContain("CUDA error");
  expect(excerpt[20]).toBe("… 22 lines …");
  expect(excerpt.at(-1)).toContain("#59");
});

test("finds the line that says why", () => {
  expect(crashed().reason).toBe("CUDA error: the provided PTX was compiled with an unsupported toolchain.");
  const silent = new CrashOutput();
  silent.push("CUDA error: an old one, which did not end the process", 0);
  silent.push("Segmentation fault", 9000);
  expect(silent.reason).toBeUndefined();
  expect(silent.excerpt).toHaveLength(2);
});
