/** Holds each address to a number of wrong keys in a minute, so that nobody can try many of them. */

import ipaddr from "ipaddr.js";
import type { Counters } from "../counters/counters.ts";
import { Fault } from "../faults.ts";

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

  /** Counts a wrong key. Throws a Fault when there were too many from this address; a right key never comes here. */
  async count(address: string): Promise<void> {
    const { counters, perMinute, onRefused } = this.#options;
    const key = `wrong keys ${networkOf(address)}`;
    const claim = { key, amount: 1, limit: perMinute, windowSeconds: WINDOW_SECONDS, isHeld: false };
    const taken = await counters.take([claim]).catch(() => undefined);
    // Where limits cannot be checked, the key is wrong all the same.
    if (taken === undefined || taken.granted) return;
    onRefused("failed_authentications");
    const { retryAfterSeconds } = taken;
    const message = `Too many incorrect API keys came from your address: at most ${perMinute} are checked in a minute. Please try again in ${Math.ceil(retryAfterSeconds)}s.`;
    throw new Fault("request-rate-limited", message, { code: "rate_limit_exceeded", retryAfterSeconds });
  }
}

/** Whoever has an IPv6 address has 2^64 of them: those of one network count together. */
export function networkOf(address: string): string {
  const [plain = ""] = address.split("%", 1);
  if (!ipaddr.isValid(plain)) return "unknown";
  const parsed = ipaddr.process(plain);
  if (parsed.kind() === "ipv4") return parsed.toString();
  const bytes = parsed.toByteArray().map((byte, index) => (index < IPV6_NETWORK_BYTES ? byte : 0));
  return `${ipaddr.fromByteArray(bytes)}/64`;
}
