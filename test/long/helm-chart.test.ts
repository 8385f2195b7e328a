/** Renders the chart with each of its example values and validates the manifests against Kubernetes' schemas. */

import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { beforeAll, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";

const CHART = resolve(import.meta.dirname, "../../deploy/helm/parlance");
const VERSIONS = ["1.29.0", "1.31.0", "1.33.0"];

const helm = (...words: string[]) => spawnSync("helm", words, { cwd: CHART, encoding: "utf8" });
const hasHelm = helm("version").status === 0;
if (!hasHelm) console.warn("Skipped the Helm chart: helm is not installed.");

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
  spec: Record<string, unknown>;
}

function render(values: readonly string[], version = "1.31.0"): Manifest[] {
  const { status, stdout, stderr } = helm(
    "template",
    "test",
    ".",
    "--namespace=ai",
    `--kube-version=${version}`,
    ...values,
  );
  expect(stderr.replace(/^.*WARNING.*$/gm, "").trim()).toBe("");
  expect(status).toBe(0);
  return parseAllDocuments(stdout).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
}

const examples = globSync("ci/*.yaml", { cwd: CHART }).sort();

test.runIf(hasHelm)("helm lint accepts the chart with each example", () => {
  expect(examples.length).toBeGreaterThan(3);
  for (const example of examples) {
    const { status, stdout } = helm("lint", ".", "--strict", "--kube-version=1.31.0", `--values=${example}`);
    expect(status, stdout).toBe(0);
  }
});

test.runIf(hasHelm)("refuses values that would lose accounts or serve from a private database", () => {
  for (const [values, message] of [
    [["--set=replicas=2"], "persistence.data.enabled allows one replica"],
    [["--set=replicas=2,persistence.data.enabled=false"], "More than one replica needs a shared database"],
    [
      ["--set=replicas=2,persistence.data.enabled=false,secretName=s,persistence.models.enabled=true"],
      "More than one replica shares the model files",
    ],
    [["--set=image.variant=tiny"], "variant"],
    [["--set=replica=2"], "replica"],
  ] as const) {
    const { status, stderr } = helm("template", "test", ".", "--kube-version=1.31.0", ...values);
    expect(status).not.toBe(0);
    expect(stderr).toContain(message);
  }
});

test.runIf(hasHelm)("drains longer than the longest answer and never runs two pods on one data volume", () => {
  const deployment = render([]).find(({ kind }) => kind === "Deployment");
  expect(deployment?.spec).toMatchObject({
    strategy: { type: "Recreate" },
    template: { spec: { terminationGracePeriodSeconds: 660 } },
  });
  const scaled = render(["--values=ci/production-values.yaml"]).find(({ kind }) => kind === "Deployment");
  expect(scaled?.spec).toMatchObject({ strategy: { type: "RollingUpdate" } });
  expect(scaled?.spec).not.toHaveProperty("replicas");
});

test.runIf(hasHelm)("migrates before an upgrade only with a database", () => {
  const kinds = (values: string[]) => render(values).map(({ kind }) => kind);
  expect(kinds([])).not.toContain("Job");
  expect(kinds(["--set=secretName=s"])).toContain("Job");
});

/** Schema of the Prometheus Operator that was current when Kubernetes 1.33 came out. */
const OPERATOR = "github.com/prometheus-operator/prometheus-operator@v0.82.2";
const operator = spawnSync("go", ["mod", "download", "-json", OPERATOR], { cwd: "/", encoding: "utf8" });
const hasOperator = operator.status === 0;
if (!hasOperator) console.warn("Skipped the ServiceMonitor: go is not installed or cannot download its definition.");

/** Kubernetes refuses unknown fields under strict validation, which JSON Schema allows by default. */
function refuseUnknownFields(schema: Record<string, unknown>): Record<string, unknown> {
  const strict: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(schema))
    strict[name] = isRecord(value) ? refuseUnknownFields(value) : value;
  if (isRecord(schema.properties)) strict.additionalProperties ??= false;
  return strict;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

test.runIf(hasHelm && hasOperator)("every ServiceMonitor matches the definition of its kind", () => {
  const { Dir: folder } = JSON.parse(operator.stdout) as { Dir: string };
  const path = join(folder, "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml");
  const { spec } = parse(readFileSync(path, "utf8"));
  const { schema } = spec.versions.find(({ name }: { name: string }) => name === "v1");
  const { properties } = refuseUnknownFields(schema.openAPIV3Schema) as { properties: { spec: object } };
  const validate = new Ajv({ strict: false, formats: { int32: true, int64: true } }).compile(properties.spec);
  const monitors = examples
    .flatMap((example) => render([`--values=${example}`]))
    .filter(({ kind }) => kind === "ServiceMonitor");
  expect(monitors.length).toBeGreaterThan(0);
  for (const monitor of monitors) {
    expect(monitor.apiVersion).toBe("monitoring.coreos.com/v1");
    expect(validate(monitor.spec), JSON.stringify(validate.errors)).toBe(true);
  }
  const [{ endpoints = [] } = {}] = monitors.map(({ spec: each }) => each as { endpoints?: object[] });
  expect(validate({ ...monitors[0]?.spec, endpoints: [{ ...endpoints[0], intervall: "30s" }] })).toBe(false);
});

let validator: string | undefined;

beforeAll(() => {
  if (!hasHelm) return;
  const folder = "/tmp/parlance-kubernetes-validate";
  spawnSync("python3", ["-m", "venv", folder]);
  const { status } = spawnSync(`${folder}/bin/pip`, ["install", "--quiet", "kubernetes-validate"]);
  if (status === 0) validator = `${folder}/bin/kubernetes-validate`;
  else console.warn("Skipped the schemas of Kubernetes: kubernetes-validate could not be installed.");
});

test.runIf(hasHelm)("every manifest matches Kubernetes' schemas", { timeout: 300_000 }, async (context) => {
  if (validator === undefined) return context.skip();
  await using folder = await temporaryDirectory();
  let count = 0;
  for (const version of VERSIONS) {
    for (const example of examples) {
      const manifests = render([`--values=${example}`], version);
      for (const [index, manifest] of manifests.entries()) {
        // Validated above, by Prometheus Operator's definition.
        if (manifest.kind === "ServiceMonitor") continue;
        await writeFile(join(folder.path, `${index}.json`), JSON.stringify(manifest));
        count += 1;
      }
      const files = manifests.flatMap(({ kind }, index) =>
        kind === "ServiceMonitor" ? [] : [join(folder.path, `${index}.json`)],
      );
      const minor = version.split(".").slice(0, 2).join(".");
      const { status, stdout, stderr } = spawnSync(
        validator,
        ["--strict", "--quiet", `--kubernetes-version=${minor}`, ...files],
        {
          encoding: "utf8",
        },
      );
      expect(status, `${example} for ${version}: ${stdout}${stderr}`).toBe(0);
    }
  }
  expect(count).toBeGreaterThan(60);
});
