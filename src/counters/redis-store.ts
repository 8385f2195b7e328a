import { randomUUID } from "node:crypto";
import type { RedisAddress } from "../kernel/redis-address.ts";
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
import { connectToRedis, type RedisConnection } from "./redis-connection.ts";
import { REDIS_SCRIPT } from "./redis-script.ts";
import { COUNTERS_PREFIX } from "./redis-windows.ts";

/** Redis or Valkey: one server, the primary that Sentinels name, or the node of a cluster that holds the counters. */
export class RedisStore implements CounterStore {
  readonly name = "Redis";
  readonly #address: RedisAddress;
  #connection: RedisConnection | undefined;
  #script = "";
  /** By the server's clock, which is in its data too: one with older data has lost what was counted since. */
  #lastBeat = "0";
  #isClosed = false;

  constructor(address: RedisAddress) {
    this.#address = address;
  }

  /** Connects again, since another server may hold the counters now. */
  async open(onLost: (error: Error) => void): Promise<Opened> {
    this.#disconnect();
    const connection = await connectToRedis(this.#address, COUNTERS_PREFIX, (error) => {
      if (!this.#isClosed) onLost(error);
    });
    this.#disconnect();
    this.#connection = connection;
    if (this.#isClosed) this.#disconnect();
    this.#script = await connection.scriptLoad(REDIS_SCRIPT);
    const [now, epoch] = await this.#run<[string, string]>("open", "", randomUUID(), this.#lastBeat);
    return { now: Number(now), epoch };
  }

  async restore(replica: string, windows: readonly WindowSnapshot[]): Promise<void> {
    // Pipelined: a later take is processed after them.
    await Promise.all(
      windows.map(({ key, windowSeconds, from, slices, reserved }) => {
        const numbers = slices.flatMap(({ number, amount }) => [number, amount]);
        return this.#run("place", replica, key, toMilliseconds(windowSeconds), from, reserved, ...numbers);
      }),
    );
  }

  async announce(replica: string): Promise<void> {
    await this.#run("announce", replica);
  }

  async join(replica: string, { state, epoch, hasCounted, reserved, share }: Joining): Promise<number | undefined> {
    const reservations = reserved.flatMap(({ id, claims }) => [id, pack(claims)]);
    const isNews = hasCounted ? 1 : 0;
    const words = [replica, epoch, state, pack(share), isNews, ...reservations];
    const joins = await this.#run<string | null>("join", ...words);
    return joins === null ? undefined : Number(joins);
  }

  async heartbeat(replica: string): Promise<Heartbeat> {
    const [now, joins, ...seen] = await this.#run<[string, string, ...string[]]>("beat", replica);
    this.#lastBeat = now;
    const replicas: [string, { state: Joining["state"]; seenAt: number }][] = [];
    for (let index = 0; index < seen.length; index += 3) {
      const [id, state, seenAt] = seen.slice(index, index + 3) as [string, Joining["state"], string];
      replicas.push([id, { state, seenAt: Number(seenAt) }]);
    }
    return { now: Number(now), joins: Number(joins), replicas: new Map(replicas) };
  }

  async take(replica: string, id: string, claims: readonly CounterClaim[]): Promise<StoreTaken | undefined> {
    const parameters = claims.flatMap((claim) => [
      claim.key,
      claim.amount,
      claim.limit,
      toMilliseconds(claim.windowSeconds),
      claim.isReserved ? 1 : 0,
    ]);
    const [now, index = -1, milliseconds = 0, ...used] = await this.#run<[string?, number?, number?, ...string[]]>(
      "take",
      replica,
      id,
      ...parameters,
    );
    if (now === undefined) return undefined;
    const refusal = index === -1 ? undefined : { index, retryAfterSeconds: milliseconds / 1000 };
    return { now: Number(now), used: used.map(Number), refusal };
  }

  async settle(replica: string, reservation: TakenReservation, corrections: readonly Correction[]): Promise<void> {
    const each = corrections.flatMap(({ key, windowSeconds, amount, difference }) => [
      key,
      toMilliseconds(windowSeconds),
      amount,
      difference,
    ]);
    await this.#run("settle", replica, reservation.id, reservation.takenAt, ...each);
  }

  async raise(key: string, windowSeconds: number, amount: number): Promise<void> {
    this.#lastBeat = await this.#run("raise", "", key, toMilliseconds(windowSeconds), amount);
  }

  async leave(replica: string): Promise<void> {
    await this.#run("leave", replica);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#disconnect();
  }

  #disconnect(): void {
    if (this.#connection?.isOpen) this.#connection.destroy();
    this.#connection = undefined;
  }

  async #run<Answer>(...words: (string | number)[]): Promise<Answer> {
    if (this.#connection === undefined) throw new Error("no connection to Redis");
    return (await this.#connection.evalSha(this.#script, { keys: [], arguments: words.map(String) })) as Answer;
  }
}

function pack(claims: readonly ReservedAmount[]): string {
  const texts = claims.map(({ key, windowSeconds, sliceNumber, amount }) =>
    [key, toMilliseconds(windowSeconds), sliceNumber, amount].map(String),
  );
  return JSON.stringify(texts);
}

function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}
