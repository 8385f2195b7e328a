/**
 * Container images of the Containerfile, built by buildah with chroot isolation and run without a container engine. No
 * registry of images is needed: mmdebstrap makes the base images.
 */

import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { chmod, chown, mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "./executable.ts";
import { type TemporaryDirectory, temporaryDirectory } from "./temporary-directory.ts";

const run = promisify(execFile);
const PROGRAMS = ["buildah", "mmdebstrap", "unshare", "nsenter"];
const SUITE = "bookworm";
const CA_BUNDLE = "/etc/ssl/certs/ca-certificates.crt";
const BASE = "localhost/parlance-base";
const BUILD = "localhost/parlance-build";

export const CAN_BUILD_IMAGES: boolean =
  process.platform === "linux" &&
  process.getuid?.() === 0 &&
  PROGRAMS.every((each) => spawnSync(each, ["--version"]).status === 0);
export const WITHOUT_IMAGES: string = CAN_BUILD_IMAGES ? "" : ` (skipped: needs root and ${PROGRAMS.join(", ")})`;

interface ImageConfig {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Cmd: string[];
  WorkingDir: string;
  Healthcheck?: { Test: string[] };
  Labels: Record<string, string>;
  Volumes: Record<string, unknown>;
}

export interface BuiltImage {
  config: ImageConfig;
  /** Compressed, as a registry stores it. */
  megabytes: number;
  baseMegabytes: number;
  start(options: RunImageOptions): Promise<RunningImage>;
}

interface RunImageOptions {
  environment: Record<string, string>;
  /** The text of parlance.yaml. */
  config: string;
  /** Folder on this machine, read-only below the data volume. */
  models?: string;
}

export interface RunningImage {
  output(): string;
  /** Runs a command within its root and namespaces; resolves with its exit code. */
  execute(command: readonly string[]): Promise<number | null>;
  /** A file below /proc of the service. */
  proc(name: string): Promise<string>;
  stop(): Promise<number | null>;
}

export interface ImageBuilder {
  build(target: "gateway" | "full"): Promise<BuiltImage>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function imageBuilder(): Promise<ImageBuilder> {
  const folder = await temporaryDirectory();
  const buildah = async (...words: string[]) => {
    const store = ["--root", join(folder.path, "root"), "--runroot", join(folder.path, "run")];
    const { stdout } = await run("buildah", [...store, ...words], { cwd: ROOT, maxBuffer: 64e6 });
    return stdout.trim();
  };
  await importBase(folder, buildah);
  await importBuildImage(folder, buildah);
  const npmrc = join(folder.path, "npmrc");
  const { stdout: registry } = await run("npm", ["config", "get", "registry"], { cwd: ROOT });
  await writeFile(npmrc, `registry=${registry.trim()}\ncafile=${CA_BUNDLE}\n`);
  const sizeOf = async (image: string) => {
    const layout = join(folder.path, "layout");
    await buildah("push", "--quiet", image, `dir:${layout}`);
    const { layers } = JSON.parse(await readFile(join(layout, "manifest.json"), "utf8")) as {
      layers: { size: number }[];
    };
    await run("rm", ["-r", layout]);
    return layers.reduce((sum, { size }) => sum + size, 0) / 1e6;
  };
  return {
    async build(target) {
      const image = `localhost/parlance:${target}`;
      const bases = ["--build-arg", `BUILD_IMAGE=${BUILD}`, "--build-arg", `BASE_IMAGE=${BASE}`];
      const options = ["--isolation", "chroot", "--layers", "--format", "docker", "--secret", `id=npmrc,src=${npmrc}`];
      await buildah("bud", ...options, ...bases, "-f", "deploy/Containerfile", "--target", target, "-t", image, ".");
      const inspected = JSON.parse(await buildah("inspect", "--type", "image", image));
      const config: ImageConfig = inspected.Docker.config;
      return {
        config,
        megabytes: await sizeOf(image),
        baseMegabytes: await sizeOf(BASE),
        start: async (given) => {
          const root = await buildah("mount", await buildah("from", image));
          return await startImage(root, config, given, join(folder.path, `${target}-volume`));
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await buildah("rm", "--all");
      await buildah("rmi", "--all", "--force");
      await folder[Symbol.asyncDispose]();
    },
  };
}

type Buildah = (...words: string[]) => Promise<string>;

/** Like a distroless image: libraries and certificates, no shell. */
async function importBase(folder: TemporaryDirectory, buildah: Buildah): Promise<void> {
  const packages = "libc6,libstdc++6,libgcc-s1,ca-certificates,tzdata";
  await importTarball(folder, buildah, ["--variant=extract", `--include=${packages}`], BASE);
}

/** Debian with this machine's npm and certificates, and the Node.js that the service runs. */
async function importBuildImage(folder: TemporaryDirectory, buildah: Buildah): Promise<void> {
  const container = await importTarball(folder, buildah, ["--variant=minbase", "--include=ca-certificates"]);
  const { stdout: npm } = await run("sh", ["-c", "command -v npm"]);
  await buildah("copy", container, await realpath(process.execPath), "/usr/local/bin/node");
  await buildah("copy", container, join(await realpath(npm.trim()), "../.."), "/usr/local/lib/node_modules/npm");
  await buildah("copy", container, CA_BUNDLE, CA_BUNDLE);
  const link = "for each in npm npx; do ln -s ../lib/node_modules/npm/bin/$each-cli.js /usr/local/bin/$each; done";
  await buildah("run", "--isolation", "chroot", container, "--", "sh", "-c", link);
  await buildah("commit", "--quiet", "--rm", container, BUILD);
}

async function importTarball(folder: TemporaryDirectory, buildah: Buildah, options: string[], image?: string) {
  const tarball = join(folder.path, "base.tar");
  await run("mmdebstrap", [...options, SUITE, tarball], { maxBuffer: 64e6 });
  const container = await buildah("from", "scratch");
  await buildah("add", container, tarball, "/");
  await run("rm", [tarball]);
  if (image !== undefined) await buildah("commit", "--quiet", "--rm", container, image);
  return container;
}

/** What a container engine does with the image's configuration, with a read-only root. */
async function startImage(root: string, config: ImageConfig, options: RunImageOptions, volume: string) {
  const [uid = 0, gid = 0] = config.User.split(":").map(Number);
  const mounts = [`mount --make-rprivate /`, `mount --bind ${root} ${root}`];
  for (const name of ["proc", "dev", "tmp", "etc/parlance", "var/lib/parlance"])
    await mkdir(join(root, name), { recursive: true });
  for (const [name, mode] of [
    ["data", 0o700],
    ["config", 0o755],
  ] as const) {
    await mkdir(join(volume, name), { recursive: true });
    await chmod(join(volume, name), mode);
  }
  await chown(join(volume, "data"), uid, gid);
  await writeFile(join(volume, "config/parlance.yaml"), options.config);
  mounts.push(`mount --bind ${volume}/data ${root}/var/lib/parlance`);
  if (options.models !== undefined) {
    await mkdir(join(volume, "data/models"), { recursive: true });
    mounts.push(`mount --bind ${options.models} ${root}/var/lib/parlance/models`);
  }
  mounts.push(
    `mount --bind ${volume}/config ${root}/etc/parlance`,
    `mount -t tmpfs tmpfs ${root}/tmp`,
    `mount -t proc proc ${root}/proc`,
    `mount --rbind /dev ${root}/dev`,
    `mount -o remount,bind,ro ${root}`,
  );
  const account = ["--setgid", `${gid}`, "--setuid", `${uid}`];
  const inside = ["/usr/bin/unshare", "--root", root, "--wd", config.WorkingDir, ...account];
  const environment = [
    ...config.Env,
    ...Object.entries(options.environment).map(([name, value]) => `${name}=${value}`),
  ];
  const command = ["env", "-i", ...environment, ...inside, ...config.Entrypoint, ...config.Cmd];
  const script = `set -e; ${mounts.join("; ")}; exec "$@"`;
  // The image's own process is the child; signals go to it, because unshare does not pass them on.
  const child = spawn("unshare", ["--mount", "sh", "-c", script, "sh", ...command], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  return await untilListening(child, async (words) => {
    const enter = ["--target", `${child.pid}`, "--mount", "env", "-i", ...environment, ...inside];
    return await exitCode(spawn("nsenter", [...enter, ...words], { stdio: "ignore" }));
  });
}

async function untilListening(child: ChildProcess, execute: RunningImage["execute"]): Promise<RunningImage> {
  let output = "";
  const exited = exitCode(child);
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (output.includes('"listening"')) resolve();
      });
    void exited.then((code) => reject(new Error(`the image ended with ${code}: ${output}`)));
  });
  return {
    output: () => output,
    execute,
    proc: (name) => readFile(`/proc/${child.pid}/${name}`, "utf8"),
    stop: () => {
      child.kill("SIGTERM");
      return exited;
    },
  };
}

function exitCode(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("exit", resolve);
    child.once("error", reject);
  });
}
