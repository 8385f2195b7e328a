/** Which part of the service may import which: the one table of the linter step and of ARCHITECTURE.md. */

export interface ImportRule {
  /** Part of `src`: the longest prefix of a file's path that stands in the table. */
  part: string;
  /** Prefixes of paths below `src` that it may import; `*`: all. */
  may: readonly string[];
  reason: string;
}

/** What every part but the lowest may import. */
const BASE = ["kernel", "contracts", "observability"];
/** What features may import. */
const FEATURE = [
  ...BASE,
  "wire",
  "http",
  "inference",
  "deployments",
  "catalog",
  "storage",
  "features",
  "engines/shared",
];

export const IMPORT_RULES: readonly ImportRule[] = [
  { part: "kernel", may: [], reason: "Every part imports the kernel, so it knows none of them." },
  { part: "contracts", may: ["kernel"], reason: "Types of engines, models and callers, and what reads them." },
  { part: "observability", may: ["kernel", "contracts"], reason: "Every part logs and measures." },
  {
    part: "storage",
    may: ["kernel", "observability"],
    reason: "Connections, migrations and the schema; queries belong to the features, which add their tables to it.",
  },
  { part: "counters", may: ["kernel", "observability"], reason: "Backends behind one contract." },
  {
    part: "config",
    may: [
      ...BASE,
      "features/*/settings.ts",
      "http/settings.ts",
      "catalog/*-settings.ts",
      "catalog/model-config.ts",
      "model-store/hub-settings.ts",
    ],
    reason: "Gathers the settings of all parts, which do not read the file.",
  },
  { part: "wire", may: ["kernel", "contracts"], reason: "Formats only, without I/O." },
  { part: "model-store", may: BASE, reason: "Downloads and keeps files; does not know the engines that run them." },
  {
    part: "engines",
    may: BASE,
    reason: "An engine performs one task from settings and a request; only the registry knows engines by name.",
  },
  { part: "engines/registry.ts", may: [...BASE, "engines"], reason: "The table of engines." },
  {
    part: "engines/openai-compatible",
    may: [...BASE, "engines", "wire"],
    reason: "The engine that speaks a wire format.",
  },
  {
    part: "engines/native-upstream",
    may: [...BASE, "engines/shared", "engines/openai-compatible", "wire/usage"],
    reason: "What the engines of providers with APIs of their own share.",
  },
  {
    part: "engines/*",
    may: [
      ...BASE,
      "engines/shared",
      "engines/host",
      "engines/define-engine.ts",
      "engines/openai-compatible",
      "engines/native-upstream",
      "wire/usage",
    ],
    reason: "An engine uses no other engine, except openai-compatible, which speaks to servers.",
  },
  {
    part: "deployments",
    may: [...BASE, "engines/shared"],
    reason: "One engine that serves a model: loading, slots and circuits, without a request.",
  },
  {
    part: "catalog",
    may: [...BASE, "model-store", "deployments", "engines", "storage"],
    reason: "Which models exist and their deployments; nothing that belongs to a request.",
  },
  {
    part: "inference",
    may: [...BASE, "catalog", "deployments", "engines/shared"],
    reason: "One run for every engine and every client format: it knows no wire format, connection or database.",
  },
  {
    part: "http",
    may: [...BASE, "wire", "catalog", "inference"],
    reason: "Scopes, bodies, streams and errors; routes belong to the features.",
  },
  { part: "features", may: FEATURE, reason: "Engines, counters and model files stay behind inference and quota." },
  {
    part: "features/cache",
    may: [...FEATURE, "counters/redis-connection.ts"],
    reason: "Stores answers in Redis over the connection of the counters.",
  },
  {
    part: "features/configuration",
    may: [...FEATURE, "config"],
    reason: "Changes what the file configures: entries of the same form, checked by the same schema.",
  },
  { part: "features/quota", may: [...FEATURE, "counters/counters.ts"], reason: "Counts through the contract." },
  { part: "features/models", may: [...FEATURE, "model-store"], reason: "Pulls and removes files of models." },
  {
    part: "features/*/feature.ts",
    may: [...FEATURE, "counters", "model-store"],
    reason: "Opens the feature from its settings and connects its parts.",
  },
  { part: "serving", may: [...FEATURE, "config", "counters"], reason: "What the service and its workers share." },
  {
    part: "workers",
    may: [...FEATURE, "config", "counters", "engines", "serving"],
    reason: "Workers have no database and no local models: what they need of those is a call to the owner.",
  },
  { part: "app", may: ["*"], reason: "Opens the features and connects them." },
  { part: "main.ts", may: ["*"], reason: "Starts and ends the process." },
  { part: "cli", may: ["*"], reason: "The command line." },
];

/** Packages of this repository that a package may import; a package that is not listed imports none. */
export const PACKAGE_RULES: Readonly<Record<string, readonly string[]>> = {
  "english-tts": ["audio", "kokoro-phonemes", "onnx-graph", "text-language"],
  "llama-batching": ["json-schema-grammar"],
  "sentence-embeddings": ["onnx-graph"],
  "speaker-embedding": ["onnx-graph"],
  "whisper-onnx": ["onnx-graph", "speech-segmentation"],
  "moonshine-onnx": ["speech-segmentation"],
};

/** Packages of this repository, or single exports of them, that only these parts of `src` import. */
export const PACKAGE_USERS: Readonly<Record<string, readonly string[]>> = {
  "json-schema-grammar": ["engines"],
  "json-schema-grammar/linear-pattern": ["features/tool-search"],
  audio: ["engines", "features/audio", "features/realtime"],
  "audio/formats": ["engines", "features/audio", "features/realtime", "wire"],
};
