import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

/**
 * Variables passed on where set: a native library finds its files, its devices and the user's language by them. No
 * others are passed on, because the service's environment holds keys and addresses that no engine needs.
 */
const PASSED_ON = [
  "PATH",
  "HOME",
  "TMPDIR",
  "TEMP",
  "TMP",
  "TZ",
  "LANG",
  "LC_ALL",
  "LD_LIBRARY_PATH",
  "DYLD_LIBRARY_PATH",
  "SystemRoot",
  "USERPROFILE",
  "LOCALAPPDATA",
  "NVIDIA_VISIBLE_DEVICES",
  "HIP_VISIBLE_DEVICES",
  "GGML_VK_VISIBLE_DEVICES",
  "OMP_NUM_THREADS",
  "OMP_WAIT_POLICY",
  "GOMP_SPINCOUNT",
];

/** Settings of CUDA's driver and runtime, such as CUDA_VISIBLE_DEVICES and CUDA_CACHE_PATH. */
const PASSED_ON_PREFIX = "CUDA_";

export function childEnvironment(additions: Readonly<Record<string, string>>): Record<string, string> {
  const cuda = Object.keys(process.env).filter((name) => name.startsWith(PASSED_ON_PREFIX));
  const passedOn = [...PASSED_ON, ...cuda].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const cache = getCompileCacheDir();
  if (cache !== undefined) passedOn.push(["NODE_COMPILE_CACHE", dirname(cache)]);
  return { ...Object.fromEntries(passedOn), ...additions };
}
