/**
 * Requests as they end, from one connection for all tabs: HTTP/1.1 allows a browser six, which a stream in each tab
 * would use up. A visible tab holds the connection by a lease in `localStorage` and sends what arrives to the others.
 * Web Locks would be simpler, and are missing on pages without HTTPS.
 */

import { queryClient } from "./query-client.ts";
import { urlOf } from "./request.ts";
import { sessionQuery } from "./session.ts";

const NAME = "parlance-live-requests";
const RENEW_MS = 1000;
const LEASE_MS = 3500;
/** Two tabs may write at once: the last one wins. */
const CONFIRM_MS = 80;

/** `gap` says that requests may have been missed before. */
type Message = { entry: unknown } | { gap: true };
type Listener = (message: Message) => void;

const tab: string = Math.random().toString(36).slice(2);
const listeners = new Set<Listener>();
let channel: BroadcastChannel | undefined;
let timer: ReturnType<typeof setInterval> | undefined;
let source: EventSource | undefined;

/** Calls the listener with each request that ends while a tab is visible. Returns a function that ends it. */
export function followRequests(listener: Listener): () => void {
  listeners.add(listener);
  if (listeners.size === 1) start();
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) stop();
  };
}

function start(): void {
  channel = new BroadcastChannel(NAME);
  channel.onmessage = ({ data }) => notify(data);
  document.addEventListener("visibilitychange", update);
  globalThis.addEventListener("pagehide", resign);
  timer = setInterval(update, RENEW_MS);
  update();
}

function stop(): void {
  clearInterval(timer);
  document.removeEventListener("visibilitychange", update);
  globalThis.removeEventListener("pagehide", resign);
  resign();
  channel?.close();
  channel = undefined;
}

/** Takes or renews the lease in a visible tab, and gives it up in a hidden one. */
function update(): void {
  const { owner, at } = readLease();
  if (document.visibilityState === "hidden") {
    resign();
  } else if (owner !== tab && Date.now() - at < LEASE_MS) {
    close();
  } else {
    writeLease({ owner: tab, at: Date.now() });
    if (source === undefined) setTimeout(open, CONFIRM_MS);
  }
}

function open(): void {
  if (source !== undefined || channel === undefined || readLease().owner !== tab) return;
  const opened = new EventSource(urlOf("v1/organization/requests", { stream: true }));
  source = opened;
  opened.onopen = () => send({ gap: true });
  opened.onmessage = ({ data }) => send({ entry: JSON.parse(data) });
  opened.onerror = () => {
    // The browser connects again by itself, except after a refusal, such as that of an ended session.
    if (opened.readyState !== EventSource.CLOSED) return;
    if (source === opened) source = undefined;
    void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
  };
}

function close(): void {
  source?.close();
  source = undefined;
}

function resign(): void {
  close();
  if (readLease().owner === tab) writeLease({ owner: "", at: 0 });
}

function send(message: Message): void {
  channel?.postMessage(message);
  notify(message);
}

function notify(message: Message): void {
  for (const listener of listeners) listener(message);
}

interface Lease {
  owner: string;
  /** Epoch milliseconds. */
  at: number;
}

function readLease(): Lease {
  try {
    return JSON.parse(localStorage.getItem(NAME) ?? "") as Lease;
  } catch {
    // Without storage, the tab has a connection of its own.
    return { owner: storageWorks() ? "" : tab, at: 0 };
  }
}

function writeLease(lease: Lease): void {
  try {
    localStorage.setItem(NAME, JSON.stringify(lease));
  } catch {}
}

function storageWorks(): boolean {
  try {
    localStorage.getItem(NAME);
    return true;
  } catch {
    return false;
  }
}
