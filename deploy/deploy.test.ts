/** Checks the deployment files against the service: their settings, metrics and files. */

import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { vendoredPackages } from "../scripts/pack/vendored-packages.ts";
import { configSources } from "../src/cli/config-sources.ts";
import type { Config } from "../src/config/config.ts";
import { loadConfig } from "../src/config/load-config.ts";
import { temporaryDirectory } from "../test/support/service/temporary-directory.ts";

const COMPOSE = join(import.meta.dirname, "compose");
const ENVIRONMENT = { VLLM_API_KEY: "k", VLLM_MODEL: "m", VLLM_KEY: "k", SMTP_PASSWORD: "k" };

const load = (file: string): Promise<Config> =>
  loadConfig({ ...configSources(), environment: { ...ENVIRONMENT, PARLANCE_CONFIG: file } });

const read = (path: string) => readFileSync(join(import.meta.dirname, path), "utf8");

interface ComposeFile {
  services: Record<string, { volumes?: string[]; build?: { context: string; dockerfile: string; target: string } }>;
  volumes?: Record<string, unknown>;
}

/** Files that load before the first request, by static imports, and the packages that they import. */
function loadedAtStart(entries: readonly string[]): { files: Set<string>; packages: Map<string, string> } {
  const root = join(import.meta.dirname, "..");
  const files = new Set<string>();
  const packages = new Map<string, string>();
  const visit = (path: string) => {
    if (files.has(path)) return;
    files.add(path);
    const text = readFileSync(join(root, path), "utf8");
    for (const [, specifier = ""] of text.matchAll(/^(?:import|export)\s(?!type\b)(?:[^;"]*?from\s*)?"([^"]+)";/gm)) {
      const [, name, entry] = /^@parlance-inference\/([^/]+)\/(.+)$/.exec(specifier) ?? [];
      if (specifier.startsWith(".")) visit(join(dirname(path), specifier));
      else if (name === undefined) packages.set(specifier, path);
      else {
        const { exports } = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
        visit(join("packages", name, exports[`./${entry}`]));
      }
    }
  };
  entries.forEach(visit);
  return { files, packages };
}

test("the gateway image has every package that loads at the start", () => {
  const { files, packages } = loadedAtStart([
    "src/cli/serve.ts",
    "src/cli/run-command.ts",
    "src/workers/compose-worker.ts",
  ]);
  expect(files.size).toBeGreaterThan(500);
  expect([...packages.keys()]).toContain("fastify");
  const without = [...JSON.parse(read("image/gateway-without.json")), ...vendoredPackages().map(({ name }) => name)];
  const lacking = [...packages].filter(([name]) =>
    without.some((each) => name === each || name.startsWith(`${each}/`)),
  );
  expect(lacking).toEqual([]);
});

for (const name of ["compose.yaml", "compose.vllm.yaml", "compose.monitoring.yaml"]) {
  test(`${name} mounts files that exist and volumes that it declares`, () => {
    const file = parse(read(`compose/${name}`)) as ComposeFile;
    const sources = Object.values(file.services).flatMap(({ volumes = [] }) =>
      volumes.map((each) => each.split(":")[0] ?? ""),
    );
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources) {
      if (source.startsWith(".")) expect(existsSync(join(COMPOSE, source)), source).toBe(true);
      else expect(Object.keys(file.volumes ?? {})).toContain(source);
    }
    for (const { build } of Object.values(file.services)) {
      if (build === undefined) continue;
      const containerfile = readFileSync(resolve(COMPOSE, build.context, build.dockerfile), "utf8");
      expect(containerfile).toMatch(new RegExp(`^FROM \\S+ AS ${build.target}$`, "m"));
    }
  });

  test(`every variable that ${name} requires is in .env.example`, () => {
    const required = [...read(`compose/${name}`).matchAll(/\$\{(\w+)/g)].map(([, variable]) => variable ?? "");
    for (const variable of required) expect(read("compose/.env.example")).toMatch(new RegExp(`^${variable}=`, "m"));
  });
}

test.each(["parlance.yaml", "parlance.vllm.yaml"])("compose/%s is a valid configuration", async (name) => {
  expect((await load(join(COMPOSE, name))).server.operations?.port).toBe(9090);
});

test("compose/parlance.yaml shows how to send e-mails", async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, "parlance.yaml");
  await writeFile(file, read("compose/parlance.yaml").replaceAll(/^#(?=mail:| {2})/gm, ""));
  expect((await load(file)).mail).toMatchObject({ host: "smtp.example.com", publicUrl: "https://ai.example.com" });
});

test.each(["prometheus/alerts.yaml", "grafana/dashboards/parlance.json"])("%s uses metrics that exist", (path) => {
  const reference = readFileSync(join(import.meta.dirname, "../docs/reference/metrics.md"), "utf8");
  const names = new Set(read(path).match(/parlance_[a-z_]+/g));
  expect(names.size).toBeGreaterThan(4);
  for (const name of names) expect(reference).toContain(`\`${name.replace(/_bucket$/, "")}\``);
});

test("the pods of the chart and the image agree on user, ports and directories", () => {
  const image = read("Containerfile");
  const pod = read("helm/parlance/templates/deployment.yaml") + read("helm/parlance/templates/_helpers.tpl");
  expect(image.match(/^USER 65532:65532$/gm)).toHaveLength(2);
  expect(pod).toContain("runAsUser: 65532");
  for (const path of ["/var/lib/parlance", "/etc/parlance", "/opt/parlance/bin/node"]) {
    expect(image).toContain(path);
    expect(pod).toContain(path);
  }
});

test("the chart's version is the service's", () => {
  const { version } = JSON.parse(read("../package.json")) as { version: string };
  expect(parse(read("helm/parlance/Chart.yaml"))).toMatchObject({ version, appVersion: version });
});

test("the chart's example values contain valid configurations", async () => {
  await using folder = await temporaryDirectory();
  const files = globSync("helm/parlance/ci/*.yaml", { cwd: import.meta.dirname });
  const configs = files.flatMap((file) => (parse(read(file)) as { config?: object }).config ?? []);
  expect(configs.length).toBeGreaterThan(0);
  for (const config of configs) {
    const file = join(folder.path, "parlance.yaml");
    await writeFile(file, stringify(config));
    expect((await load(file)).models.length).toBeGreaterThan(0);
  }
});

const analyze = spawnSync("systemd-analyze", ["--version"]).status === 0;

test.runIf(analyze)("systemd accepts the unit", () => {
  const unit = join(import.meta.dirname, "systemd/parlance.service");
  const { stderr, stdout } = spawnSync("systemd-analyze", ["verify", "--man=no", unit], { encoding: "utf8" });
  const complaints = `${stdout}${stderr}`.split("\n").filter((line) => line.includes("parlance.service"));
  // The program is not installed where the tests run.
  expect(complaints.filter((line) => !line.includes("is not executable"))).toEqual([]);
});

test("names the version of each image", () => {
  const images = globSync("compose/*.yaml", { cwd: import.meta.dirname }).flatMap((file) =>
    [...read(file).matchAll(/^ +image: (\S+)$/gm)].map(([, image = ""]) => image),
  );
  expect(images.length).toBeGreaterThan(4);
  const floating = images.filter((image) => !image.startsWith("parlance:") && !/:v?\d/.test(image));
  expect(floating).toEqual([]);
});

test("deploys the Open WebUI that the tests of clients check", () => {
  const clients = JSON.parse(read("../test/clients/clients.json")) as { client: string; version: string }[];
  const version = clients.find(({ client }) => client === "open-webui")?.version;
  expect(version).toBeDefined();
  expect(read("compose/compose.yaml")).toContain(`image: ghcr.io/open-webui/open-webui:v${version}\n`);
});

test("keeps health and metrics of the chart in a service of their own within the cluster", () => {
  const [api = "", operations = ""] = read("helm/parlance/templates/service.yaml").split("\n---\n");
  expect(api).not.toContain("9090");
  expect(operations).toContain("type: ClusterIP");
  expect(operations).toContain("port: 9090");
});
