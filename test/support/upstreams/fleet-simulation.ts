/**
 * Discrete simulation of conversations on many engines with prefix caches. Virtual time; the load balancer and the
 * deployments' slots are the service's own.
 */

import type { Deployment } from "../../../src/deployments/deployment.ts";
import type { Strategy } from "../../../src/deployments/routing-options.ts";
import { LoadBalancer } from "../../../src/inference/routing/load-balancer.ts";
import type { PrefixKeys } from "../../../src/inference/routing/prefix-affinity.ts";
import { seededRandom } from "../seeded-random.ts";
import { openChatDeployment, resolvedModelOf } from "./chat-deployment.ts";

export interface FleetOptions {
  deployments: number;
  strategy: Strategy;
  /** Keys by which requests are routed; undefined: by load only. */
  prefix: "conversation" | "shared" | "both" | undefined;
  /** Number of system prompts, which conversations have with Zipf's frequencies. */
  systemPrompts: number;
  systemTokens: number;
  /** Tokens that an engine's cache holds. */
  cacheTokens: number;
  conversations: number;
  seconds: number;
}

export interface FleetResult {
  requests: number;
  /** Share of the prompt tokens that were cached. */
  cachedTokens: number;
  /** Share of the second and later turns whose history was cached. */
  cachedTurns: number;
  /** Share of the requests that a prefix's own deployment could not take. */
  overflow: number;
  /** Most requests of one deployment, relative to the mean at that moment. */
  highestLoad: number;
}

const PREFILL_TOKENS_PER_SECOND = 3000;
const DECODE_SECONDS = 8;
const THINK_SECONDS = 20;
const MEAN_TURNS = 4;
const PROMPT_TOKENS = 150;
const ANSWER_TOKENS = 250;
/** Caches fill before anything is counted. */
const WARM_UP_SHARE = 0.3;

interface Conversation {
  id: number;
  system: number;
  turns: number;
  turn: number;
  historyTokens: number;
}

export async function simulateFleet(options: FleetOptions): Promise<FleetResult> {
  const { strategy, prefix, systemTokens, cacheTokens, seconds } = options;
  const routingOptions = { prefixCaching: prefix !== undefined };
  const open = (_each: unknown, index: number) => openChatDeployment(`m@10.0.0.${index}:8000`, { routingOptions });
  const deployments = await Promise.all(Array.from({ length: options.deployments }, open));
  const caches = new Map(deployments.map((deployment) => [deployment, new TokenCache(cacheTokens)]));
  const candidate = resolvedModelOf(deployments, { strategy });
  const random = seededRandom(1);
  const exponential = (mean: number) => -mean * Math.log(1 - random());
  const pickSystem = zipf(options.systemPrompts, random);
  const timeline = new Timeline();
  const sums = { requests: 0, tokens: 0, cached: 0, turns: 0, cachedTurns: 0, overflow: 0, highestLoad: 0 };
  const isCounting = () => timeline.now > WARM_UP_SHARE * seconds;
  const balancer = new LoadBalancer({
    onPrefixRouted: (_model, outcome) => {
      if (isCounting() && outcome !== "home") sums.overflow += 1;
    },
  });
  let running = 0;
  let ids = 0;

  const keysOf = ({ id, system }: Conversation): PrefixKeys | undefined => {
    const shared = `system prompt ${system}`;
    if (prefix === undefined) return undefined;
    if (prefix === "shared") return { conversation: shared, shared: undefined };
    return { conversation: `${shared} ${id}`, shared: prefix === "both" ? shared : undefined };
  };

  const ask = (conversation: Conversation) => {
    const [deployment] = balancer.order(candidate, () => keysOf(conversation));
    const slot = deployment?.slots.take("project");
    const cache = caches.get(deployment as Deployment);
    if (deployment === undefined || slot === undefined || cache === undefined) throw new Error("no deployment");
    running += 1;
    const system = `system ${conversation.system}`;
    const history = `history ${conversation.id}`;
    const isSystemCached = cache.has(system);
    const isHistoryCached = isSystemCached && cache.has(history);
    const cached = (isSystemCached ? systemTokens : 0) + (isHistoryCached ? conversation.historyTokens : 0);
    const tokens = systemTokens + conversation.historyTokens + PROMPT_TOKENS;
    if (isCounting()) {
      sums.requests += 1;
      sums.tokens += tokens;
      sums.cached += cached;
      if (conversation.turn > 0) sums.turns += 1;
      if (conversation.turn > 0 && isHistoryCached) sums.cachedTurns += 1;
      sums.highestLoad = Math.max(sums.highestLoad, (deployment.slots.inUse * deployments.length) / running);
    }
    cache.put(system, systemTokens);
    timeline.after((tokens - cached) / PREFILL_TOKENS_PER_SECOND + exponential(DECODE_SECONDS), () => {
      slot.release();
      running -= 1;
      conversation.historyTokens += PROMPT_TOKENS + ANSWER_TOKENS;
      cache.put(system, systemTokens);
      cache.put(history, conversation.historyTokens);
      conversation.turn += 1;
      if (conversation.turn < conversation.turns) timeline.after(exponential(THINK_SECONDS), () => ask(conversation));
      else begin();
    });
  };
  const begin = () => {
    ids += 1;
    const turns = 1 + Math.floor(exponential(MEAN_TURNS));
    const conversation = { id: ids, system: pickSystem(), turns, turn: 0, historyTokens: 0 };
    timeline.after(exponential(THINK_SECONDS), () => ask(conversation));
  };

  for (let index = 0; index < options.conversations; index += 1) begin();
  timeline.run(seconds);
  await Promise.all(deployments.map((deployment) => deployment.close()));
  return {
    requests: sums.requests,
    cachedTokens: sums.cached / sums.tokens,
    cachedTurns: sums.cachedTurns / sums.turns,
    overflow: sums.overflow / sums.requests,
    highestLoad: sums.highestLoad,
  };
}

/** Least recently used entries beyond the capacity are dropped. */
class TokenCache {
  readonly #entries = new Map<string, number>();
  readonly #capacity: number;
  #tokens = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  put(key: string, tokens: number): void {
    this.#remove(key);
    this.#entries.set(key, tokens);
    this.#tokens += tokens;
    for (const oldest of this.#entries.keys()) {
      if (this.#tokens <= this.#capacity) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    this.#tokens -= this.#entries.get(key) ?? 0;
    this.#entries.delete(key);
  }
}

/** Runs what is due in the order of virtual time, from a binary heap. */
class Timeline {
  now = 0;
  readonly #heap: { at: number; run: () => void }[] = [];

  after(seconds: number, run: () => void): void {
    const heap = this.#heap;
    heap.push({ at: this.now + seconds, run });
    for (let child = heap.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (!this.#swapIfLater(parent, child)) return;
      child = parent;
    }
  }

  run(seconds: number): void {
    while (this.now < seconds) {
      const next = this.#take();
      if (next === undefined) return;
      this.now = next.at;
      next.run();
    }
  }

  #take() {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let parent = 0; ; ) {
      const [left, right] = [2 * parent + 1, 2 * parent + 2];
      const isRight = right < heap.length && (heap[right]?.at ?? 0) < (heap[left]?.at ?? 0);
      const child = isRight ? right : left;
      if (child >= heap.length || !this.#swapIfLater(parent, child)) return first;
      parent = child;
    }
  }

  #swapIfLater(parent: number, child: number): boolean {
    const [above, below] = [this.#heap[parent], this.#heap[child]];
    if (above === undefined || below === undefined || above.at <= below.at) return false;
    this.#heap[parent] = below;
    this.#heap[child] = above;
    return true;
  }
}

function zipf(count: number, random: () => number): () => number {
  const total = Array.from({ length: count }, (_, index) => 1 / (index + 1)).reduce((sum, each) => sum + each, 0);
  return () => {
    let rest = random() * total;
    for (let index = 0; index < count; index += 1) {
      rest -= 1 / (index + 1);
      if (rest <= 0) return index;
    }
    return count - 1;
  };
}
