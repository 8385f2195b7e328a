import { randomUUID } from "node:crypto";
import pg from "pg";
import type { Secret } from "../kernel/secret.ts";
import type {
  CounterStore,
  Heartbeat,
  Joining,
  Opened,
  ReservedAmount,
  StoreTaken,
  WindowSnapshot,
} from "./counter-store.ts";
import type { Correction, CounterClaim, TakenReservation } from "./counters.ts";
import { POSTGRESQL_SETUP } from "./postgresql-functions.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const QUERY_TIMEOUT_MS = 5_000;
/** Arbitrary advisory lock key that serializes the setup. */
const SETUP_LOCK = 7_264_901;
const OPERATIONS_AT_ONCE = 100;
/** Settlements wait this long for another operation to batch with. */
const SETTLE_DELAY_MS = 20;

interface Job {
  /** Undefined: cannot be batched. */
  replica: string | undefined;
  operation: Readonly<Record<string, unknown>>;
  statement: string;
  values: readonly unknown[];
  done: (answer: unknown) => void;
  failed: (error: unknown) => void;
}

/** Uses one connection, which keeps operations in order, and batches those that wait for it. */
export class PostgresqlStore implements CounterStore {
  readonly name = "PostgreSQL";
  readonly #pool: pg.Pool;
  #onLost: ((error: Error) => void) | undefined;
  #jobs: Job[] = [];
  #isBusy = false;
  #later: NodeJS.Timeout | undefined;

  constructor(url: Secret) {
    this.#pool = new pg.Pool({
      connectionString: url.reveal(),
      max: 1,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // Not statement_timeout, a startup parameter that PgBouncer refuses.
      query_timeout: QUERY_TIMEOUT_MS,
      idleTimeoutMillis: 0,
      keepAlive: true,
      application_name: "parlance counters",
    });
    this.#pool.on("error", (error) => this.#onLost?.(error));
    // The statement in flight reports the error; without a listener it would crash this process.
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  async open(onLost: (error: Error) => void): Promise<Opened> {
    this.#onLost = onLost;
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    try {
      // One transaction, which PgBouncer keeps on one server connection.
      await client.query("begin");
      await client.query("select pg_advisory_xact_lock($1)", [SETUP_LOCK]);
      await client.query(`set local client_min_messages = warning; ${POSTGRESQL_SETUP}`);
      await client.query("insert into counters2_epoch values (1, $1) on conflict do nothing", [randomUUID()]);
      await client.query("commit");
      const { rows } = await client.query("select counters2_now()::float8 as now, epoch from counters2_epoch");
      return rows[0] as Opened;
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      client.release(failure);
    }
  }

  async restore(replica: string, windows: readonly WindowSnapshot[]): Promise<void> {
    await this.#run(replica, {
      op: "place",
      claims: windows.map(({ from, slices, reserved, ...name }) => ({ ...nameOf(name), from, slices, reserved })),
    });
  }

  async announce(replica: string): Promise<void> {
    await this.#call("select counters2_announce($1)", [replica]);
  }

  async join(replica: string, { state, epoch, hasCounted, reserved, share }: Joining): Promise<number | undefined> {
    const reservations = reserved.map(({ id, claims }) => ({ id, claims: claims.map(numbered) }));
    const amounts = [JSON.stringify(reservations), JSON.stringify(share.map(numbered))];
    const values = [replica, epoch, state, hasCounted, ...amounts];
    const joins = await this.#call("select counters2_join($1, $2, $3, $4, $5, $6)::float8 as answer", values);
    return (joins as number | null) ?? undefined;
  }

  async heartbeat(replica: string): Promise<Heartbeat> {
    const heartbeat = await this.#call("select counters2_beat($1) as answer", [replica]);
    const { replicas, ...rest } = heartbeat as BeatAnswer;
    return { ...rest, replicas: new Map(Object.entries(replicas)) };
  }

  async take(replica: string, id: string, claims: readonly CounterClaim[]): Promise<StoreTaken | undefined> {
    const requests = claims.map(({ amount, limit, isReserved, ...name }) => ({
      ...nameOf(name),
      amount,
      limit,
      isHeld: isReserved,
    }));
    const answer = (await this.#run(replica, { op: "take", id, claims: requests })) as Taken | null;
    if (answer === null) return undefined;
    const { now, used, refusal } = answer;
    const seconds = refusal && { index: refusal.index, retryAfterSeconds: Math.max(0, refusal.milliseconds) / 1000 };
    return { now, used, refusal: seconds ?? undefined };
  }

  async settle(replica: string, { id, takenAt }: TakenReservation, corrections: readonly Correction[]): Promise<void> {
    const claims = corrections.map(({ amount, difference, ...name }) => ({ ...nameOf(name), amount, difference }));
    await this.#run(replica, { op: "settle", id, takenAt: Math.floor(takenAt), claims }, false);
  }

  async raise(key: string, windowSeconds: number, amount: number): Promise<void> {
    await this.#run("", { op: "raise", claims: [{ ...nameOf({ key, windowSeconds }), amount }] });
  }

  async leave(replica: string): Promise<void> {
    await this.#call("select counters2_end($1)", [replica]);
  }

  async close(): Promise<void> {
    this.#onLost = undefined;
    if (!this.#pool.ending) await this.#pool.end();
  }

  #run(replica: string, operation: Job["operation"], isAwaited = true): Promise<unknown> {
    return this.#queue({ replica, operation, statement: "", values: [] }, isAwaited);
  }

  #call(statement: string, values: readonly unknown[]): Promise<unknown> {
    return this.#queue({ replica: undefined, operation: {}, statement, values });
  }

  #queue(job: Omit<Job, "done" | "failed">, isAwaited = true): Promise<unknown> {
    return new Promise((done, failed) => {
      this.#jobs.push({ ...job, done, failed });
      if (isAwaited) void this.#work();
      else this.#later ??= setTimeout(() => void this.#work(), SETTLE_DELAY_MS);
    });
  }

  async #work(): Promise<void> {
    clearTimeout(this.#later);
    this.#later = undefined;
    if (this.#isBusy) return;
    this.#isBusy = true;
    while (this.#jobs.length > 0) {
      const jobs = this.#nextJobs();
      try {
        const answers = await this.#send(jobs);
        for (const [index, job] of jobs.entries()) job.done(answers[index]);
      } catch (error) {
        for (const job of jobs) job.failed(error);
        // Later operations depend on this order.
        for (const job of this.#jobs.splice(0)) job.failed(error);
      }
    }
    this.#isBusy = false;
  }

  #nextJobs(): Job[] {
    const [first] = this.#jobs;
    const isSame = (job: Job) => job.replica !== undefined && job.replica === first?.replica;
    const end = this.#jobs.slice(0, OPERATIONS_AT_ONCE).findIndex((job) => !isSame(job));
    return this.#jobs.splice(0, end === -1 ? OPERATIONS_AT_ONCE : Math.max(1, end));
  }

  async #send(jobs: readonly Job[]): Promise<unknown[]> {
    const [first] = jobs;
    if (first === undefined) return [];
    if (first.replica === undefined) {
      const { rows } = await this.#pool.query(first.statement, [...first.values]);
      return [rows[0]?.answer];
    }
    const operations = JSON.stringify(jobs.map(({ operation }) => operation));
    // Not a named statement, which PgBouncer may run on another server connection. The function caches its plans.
    const text = "select counters2_run($1, $2::jsonb) as answer";
    const { rows } = await this.#pool.query(text, [first.replica, operations]);
    return rows[0].answer as unknown[];
  }
}

type BeatAnswer = Omit<Heartbeat, "replicas"> & {
  replicas: Record<string, Heartbeat["replicas"] extends ReadonlyMap<string, infer Replica> ? Replica : never>;
};

interface Taken {
  now: number;
  used: number[];
  refusal: { index: number; milliseconds: number } | null;
}

function numbered({ sliceNumber, amount, ...name }: ReservedAmount): Readonly<Record<string, unknown>> {
  return { ...nameOf(name), number: sliceNumber, amount };
}

function nameOf({ key, windowSeconds }: { key: string; windowSeconds: number }): { key: string; ms: number } {
  return { key, ms: Math.round(windowSeconds * 1000) };
}
