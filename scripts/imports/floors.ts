/** The floors of `src`, lowest first: the one table of the linter step and of ARCHITECTURE.md. Folders form no cycle. */

export interface Floor {
  name: string;
  /** Parts of this floor, each with the neighbours that it may import, which stand before it. */
  parts: Readonly<Record<string, readonly string[]>>;
}

/** A part may import each part of a lower floor, unless a rule of `import-rules.ts` narrows that. */
export const FLOORS: readonly Floor[] = [
  { name: "What every part uses", parts: { kernel: [], contracts: ["kernel"] } },
  {
    name: "Formats, storage and files of models",
    parts: { observability: [], storage: [], counters: [], wire: [], "model-store": [] },
  },
  {
    name: "Models and one request's life",
    parts: {
      engines: [],
      deployments: ["engines"],
      catalog: ["engines", "deployments"],
      inference: ["engines", "deployments", "catalog"],
    },
  },
  { name: "Server", parts: { http: [] } },
  {
    name: "Who and how much",
    parts: {
      "features/mail": [],
      "features/accounts": ["features/mail"],
      "features/quota": ["features/accounts"],
      "features/webhooks": ["features/accounts"],
      "features/usage": ["features/accounts", "features/quota"],
      "features/sign-on": ["features/accounts", "features/quota"],
      "features/budgets": [
        "features/accounts",
        "features/mail",
        "features/quota",
        "features/usage",
        "features/webhooks",
      ],
    },
  },
  {
    name: "What other features stand on",
    parts: {
      "features/audio": [],
      "features/files": ["features/audio"],
      "features/tools": [],
      "features/cache": [],
      "features/completions": [],
      "features/rerank": [],
      "features/messages": ["features/files", "features/tools"],
      "features/moderations": ["features/files"],
      "features/guardrails": ["features/moderations"],
      "features/recorded-content": [],
      "features/responses": ["features/files", "features/recorded-content", "features/tools"],
      "features/batches": ["features/files"],
      "features/skills": ["features/files"],
      "features/saved-chats": [],
    },
  },
  {
    name: "What people and clients see",
    parts: {
      "features/chat": [],
      "features/code-interpreter": [],
      "features/cohere": [],
      "features/console": [],
      "features/decisions": [],
      "features/docs": [],
      "features/embeddings": [],
      "features/evals": [],
      "features/gemini": [],
      "features/idempotency": [],
      "features/images": [],
      "features/mcp": [],
      "features/models": [],
      "features/ollama": [],
      "features/openapi": [],
      "features/operations": [],
      "features/privacy": [],
      "features/prompts": [],
      "features/realtime": [],
      "features/scim": [],
      "features/tool-search": [],
      "features/uploads": [],
      "features/vector-stores": [],
      "features/web-search": [],
    },
  },
  { name: "Settings of all parts", parts: { config: [], "features/configuration": ["config"] } },
  { name: "Processes", parts: { serving: [], workers: ["serving"], app: ["serving", "workers"] } },
  { name: "Programs", parts: { main: [], cli: ["main"] } },
];

const PLACES = new Map(
  FLOORS.flatMap(({ parts }, floor) =>
    Object.entries(parts).map(([part, neighbours]) => [part, { floor, neighbours }]),
  ),
);

/** Returns the part that a path below `src` belongs to: a folder or file, or a folder of `features`. */
export function partOf(path: string): string {
  const [first = "", second = ""] = path.split("/");
  return (first === "features" ? `${first}/${second}` : first).replace(/\.ts$/, "");
}

/** Returns why one part may not import another; undefined: it may. */
export function floorViolation(from: string, to: string): string | undefined {
  const [user, used] = [PLACES.get(from), PLACES.get(to)];
  if (user === undefined || used === undefined) {
    return `${user === undefined ? from : to} stands on no floor of scripts/imports/floors.ts.`;
  }
  if (from === to || used.floor < user.floor || user.neighbours.includes(to)) return undefined;
  return `${to} is not below ${from} in scripts/imports/floors.ts.`;
}

/** Returns neighbours that do not stand before the part that names them, with which folders could form a cycle. */
export function misplacedNeighbours(floors: readonly Floor[] = FLOORS): string[] {
  return floors.flatMap(({ parts }) => {
    const names = Object.keys(parts);
    return Object.entries(parts).flatMap(([part, neighbours]) =>
      neighbours
        .filter((each) => !names.slice(0, names.indexOf(part)).includes(each))
        .map((each) => `${each} does not stand before ${part}`),
    );
  });
}
