/**
 * Random edits of the configuration on two replicas with workers, between reloads and kills: no model is ever lost or
 * half applied, and no request of another model fails. `SEED` repeats a run, `EDITS` sets its length.
 */

import { writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { ScriptedChat } from "../../src/engines/scripted/scripted-chat.ts";
import { scriptedSettings } from "../../src/engines/scripted/settings.ts";
import { sharedPostgres } from "../support/databases/postgres.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { type ConfigurationAnswer, chatStatus, configurationClient } from "../support/service/configuration-client.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { startOpenAiUpstream } from "../support/upstreams/openai-upstream.ts";

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const EDITS = Number(process.env.EDITS ?? 200);
const MAX_MODELS = 12;

/** The entries that should be in force, by kind and name. */
type State = ReadonlyMap<string, unknown>;

interface Edit {
  title: string;
  method: string;
  path: string;
  body?: unknown;
  after: State;
}

const FILE = (revision: number) => `builtin_models: false
server: { workers: 2 }
models:
  - { id: parrot, task: chat, retries: ${revision % 5}, deployments: [{ engine: scripted, echo: true }] }
`;

test(`${EDITS} random edits, reloads and kills lose no model and apply none by half (seed ${SEED})`, {
  timeout: 1_800_000,
}, async () => {
  const postgres = await sharedPostgres();
  const environment = {
    DATABASE_URL: (await postgres.createDatabase()).reveal(),
    PARLANCE_ENCRYPTION_KEY: "k".repeat(32),
  };
  const replies = [{ text: "Polly" }];
  const upstream = await startOpenAiUpstream(new ScriptedChat(scriptedSettings.parse({ replies })));
  const start = () => startServiceProcess({ config: FILE(0), environment });
  const replicas: [ServiceProcess, ServiceProcess] = [await start(), await start()];
  const random = seededRandom(SEED);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;

  let state: State = new Map();
  const history = new Map<number, State>([[0, state]]);
  const spread: number[] = [];
  const counts: Record<string, number> = {};
  let isDown: ServiceProcess | undefined;
  let failures = 0;
  let served = 0;
  let revision = 0;
  let isRunning = true;

  // Requests for models that no edit touches, all the time.
  const load = [0, 1].map(async (index) => {
    while (isRunning) {
      const service = replicas[index] as ServiceProcess;
      const status = await chatStatus(service, "parrot").then(
        (answer) => answer.status,
        () => 0,
      );
      // A killed replica takes its requests with it.
      if (status === 200) served += 1;
      else if (isRunning && service !== isDown && service === replicas[index]) failures += 1;
      await new Promise((resume) => setTimeout(resume, 20));
    }
  });

  const call = (service: ServiceProcess, { method, path, body }: Pick<Edit, "method" | "path" | "body">) =>
    configurationClient(service)(method, path, body);

  const stateOf = async (service: ServiceProcess): Promise<State> => {
    const { body } = await call(service, { method: "GET", path: "/configuration/entries?limit=1000" });
    const entries = body.data as { kind: string; name: string; source: string; status: string; value: unknown }[];
    for (const entry of entries) expect(entry.status).toBe("in_force");
    return new Map(
      entries.filter(({ source }) => source === "api").map((each) => [`${each.kind} ${each.name}`, each.value]),
    );
  };

  const expectEverywhere = async (before: State) => {
    for (const service of replicas) {
      await eventually(async () => expect(sorted(await stateOf(service))).toEqual(sorted(state)));
      const names = new Set([...before.keys(), ...state.keys()].filter((key) => key.startsWith("model ")));
      const changed = [...names].filter((key) => JSON.stringify(before.get(key)) !== JSON.stringify(state.get(key)));
      const others = [...state.keys()].filter((key) => key.startsWith("model "));
      for (const key of new Set([...changed, ...(others.length > 0 ? [pick(others)] : [])])) {
        await eventually(async () => {
          const { status } = await chatStatus(service, key.slice("model ".length));
          expect([key, status]).toEqual([key, state.has(key) ? 200 : 404]);
        });
      }
    }
  };

  /** Applies an edit, and measures the time from its answer until the other replica serves it. */
  const apply = async (edit: Edit, service: ServiceProcess, other: ServiceProcess) => {
    const before = state;
    const answer = await call(service, edit);
    expect([edit.title, answer.status, messageOf(answer)]).toEqual([edit.title, 200, undefined]);
    const answeredAt = performance.now();
    state = edit.after;
    await eventually(async () => expect(sorted(await stateOf(other))).toEqual(sorted(state)));
    spread.push(performance.now() - answeredAt);
    await noteVersion(service);
    await expectEverywhere(before);
  };

  const noteVersion = async (service: ServiceProcess) => {
    const { body } = await call(service, { method: "GET", path: "/configuration/versions?limit=1" });
    if (body.data[0] !== undefined) history.set(body.data[0].version, state);
  };

  const kill = async (index: 0 | 1) => {
    isDown = replicas[index];
    await replicas[index].stop("SIGKILL");
    replicas[index] = await start();
    isDown = undefined;
  };

  try {
    for (let number = 1; number <= EDITS; number += 1) {
      const index = random() < 0.5 ? 0 : 1;
      const [service, other] = [replicas[index], replicas[1 - index] as ServiceProcess];
      const kind = random();
      const edit = nextEdit({ state, history, random, pick, number, baseUrl: upstream.baseUrl });
      let title = edit.title;
      if (kind < 0.07) {
        title = "kill during an edit";
        isDown = service;
        const outcome = call(service, edit).catch(() => undefined);
        await new Promise((resume) => setTimeout(resume, random() * 30));
        await kill(index);
        await outcome;
        const found = await stateOf(replicas[index]);
        const before = state;
        if (JSON.stringify(sorted(found)) === JSON.stringify(sorted(edit.after))) state = edit.after;
        expect(sorted(found)).toEqual(sorted(state));
        await noteVersion(replicas[index]);
        await expectEverywhere(before);
      } else if (kind < 0.15) {
        title = "reload of the file";
        revision += 1;
        await writeFile(service.configFile, FILE(revision));
        service.process.kill("SIGHUP");
        await eventually(async () => {
          const { body } = await call(service, { method: "GET", path: "/models/parrot" });
          expect(body.value.retries).toBe(revision % 5);
        });
        await expectEverywhere(state);
      } else if (kind < 0.25) {
        title = "invalid edit";
        const bad = { id: `m${number}`, task: "chat", fallbacks: ["none"], deployments: [{ connection: "none" }] };
        expect((await call(service, { method: "POST", path: "/models", body: bad })).status).toBe(400);
        await expectEverywhere(state);
      } else if (kind < 0.3) {
        title = "two edits at once";
        const body = (id: string) => ({ id, task: "chat", deployments: [{ engine: "scripted", echo: true }] });
        const [one, two] = [`a${number}`, `b${number}`];
        const answers = await Promise.all([
          call(service, { method: "POST", path: "/models", body: body(one) }),
          call(other, { method: "POST", path: "/models", body: body(two) }),
        ]);
        expect(answers.map(({ status }) => status)).toEqual([200, 200]);
        const before = state;
        state = new Map([...state, [`model ${one}`, body(one)], [`model ${two}`, body(two)]]);
        await noteVersion(service);
        await expectEverywhere(before);
      } else {
        await apply(edit, service, other);
      }
      counts[title] = (counts[title] ?? 0) + 1;
    }
  } finally {
    isRunning = false;
    await Promise.all(load);
    for (const service of replicas) await service.stop();
    await upstream.close();
  }
  spread.sort((a, b) => a - b);
  const at = (share: number) => Math.round(spread[Math.floor((spread.length - 1) * share)] ?? 0);
  const figures = { seed: SEED, ...counts, served, failures, ms: { median: at(0.5), p95: at(0.95), max: at(1) } };
  console.log(JSON.stringify(figures));
  expect(failures).toBe(0);
  expect(served).toBeGreaterThan(EDITS);
});

interface EditParts {
  state: State;
  history: ReadonlyMap<number, State>;
  random: () => number;
  pick: <Item>(items: readonly Item[]) => Item;
  number: number;
  baseUrl: string;
}

function nextEdit({ state, history, random, pick, number, baseUrl }: EditParts): Edit {
  const names = (kind: string) =>
    [...state.keys()].filter((key) => key.startsWith(`${kind} `)).map((key) => key.slice(kind.length + 1));
  const [connections, models] = [names("connection"), names("model")];
  const withEntry = (key: string, value: unknown): State => new Map([...state, [key, value]]);
  const withoutEntry = (key: string): State => new Map([...state].filter(([each]) => each !== key));
  const kind = random();
  if (connections.length === 0 || (kind < 0.1 && connections.length < 4)) {
    const name = `c${number}`;
    const value = { base_url: baseUrl, api_key: `key-of-connection-${number}` };
    const after = withEntry(`connection ${name}`, { ...value, api_key: "[redacted]" });
    return { title: "create a connection", method: "POST", path: "/connections", body: { name, ...value }, after };
  }
  if (kind < 0.2) {
    const name = pick(connections);
    const value = { base_url: baseUrl, api_key: "[redacted]", idle_timeout_seconds: 10 + (number % 50) };
    const after = withEntry(`connection ${name}`, value);
    return { title: "change a connection", method: "POST", path: `/connections/${name}`, body: value, after };
  }
  const unused = connections.filter(
    (name) => ![...state.values()].some((value) => JSON.stringify(value).includes(`"${name}"`)),
  );
  if (kind < 0.25 && unused.length > 0) {
    const name = pick(unused);
    const after = withoutEntry(`connection ${name}`);
    return { title: "remove a connection", method: "DELETE", path: `/connections/${name}`, after };
  }
  const versions = [...history.keys()].slice(-15);
  if (kind < 0.35 && versions.length > 2) {
    const version = pick(versions);
    const after = history.get(version) as State;
    return { title: "restore a version", method: "POST", path: `/configuration/versions/${version}/restore`, after };
  }
  const model = (id: string) => ({
    id,
    task: "chat",
    aliases: [`alias-of-${id}-${number}`],
    price: { prompt: `0.00${number % 9}1` },
    deployments: [{ connection: pick(connections), model: `upstream-${number}` }],
  });
  if (models.length < 3 || (kind < 0.6 && models.length < MAX_MODELS)) {
    const value = model(`m${number}`);
    const after = withEntry(`model ${value.id}`, value);
    return { title: "create a model", method: "POST", path: "/models", body: value, after };
  }
  const id = pick(models);
  if (kind < 0.8) {
    const value = model(id);
    const after = withEntry(`model ${id}`, value);
    return { title: "change a model", method: "POST", path: `/models/${id}`, body: value, after };
  }
  const after = withoutEntry(`model ${id}`);
  return { title: "remove a model", method: "DELETE", path: `/models/${id}/entry`, after };
}

function sorted(state: State): [string, unknown][] {
  return [...state].sort(([a], [b]) => a.localeCompare(b));
}

function messageOf({ status, body }: ConfigurationAnswer): string | undefined {
  return status === 200 ? undefined : body.error?.message;
}
