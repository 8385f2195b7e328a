/** Limits wrong API keys per address and minute, against brute force. */

import ipaddr from "ipaddr.js";
import type { Counters } from "../../counters/counters.ts";
import { Fault } from "../../kernel/faults.ts";

const WINDOW_SECONDS = 60;
const IPV6_NETWORK_BYTES = 8;

export interface FailedAuthenticationsOptions {
  counters: Counters;
  perMinute: number;
  onRefused: (limit: "failed_authentications") => void;
}

export class FailedAuthentications {
  readonly #options: FailedAuthenticationsOptions;

  constructor(options: FailedAuthenticationsOptions) {
    this.#options = options;
  }

  /** Counts a wrong key. Throws a Fault when this address sent too many. */
  async count(address: string): Promise<void> {
    const { counters, perMinute, onRefused } = this.#options;
    const key = `wrong keys ${networkOf(address)}`;
    const claim = { key, amount: 1, limit: perMinute, windowSeconds: WINDOW_SECONDS, isReserved: false };
    const outcome = await counters.take([claim]).catch(() => undefined);
    // Without counters the request still fails: the key is wrong.
    if (outcome === undefined || outcome.granted) return;
    onRefused("failed_authentications");
    const { retryAfterSeconds } = outcome;
    const message = `Too many incorrect API keys from your address: at most ${perMinute} per minute are checked. Please try again in ${Math.ceil(retryAfterSeconds)}s.`;
    throw new Fault("request-rate-limited", message, { code: "rate_limit_exceeded", retryAfterSeconds });
  }
}

/** An IPv6 client usually controls a /64 network, whose addresses count together. */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%", 1);
  if (!ipaddr.isValid(plain)) return "unknown";
  const parsed = ipaddr.process(plain);
  if (parsed.kind() === "ipv4") return parsed.toString();
  const bytes = parsed.toByteArray().map((byte, index) => (index < IPV6_NETWORK_BYTES ? byte : 0));
  return `${ipaddr.fromByteArray(bytes)}/64`;
}
