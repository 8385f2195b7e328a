import type { Answers } from "./answers.ts";
import { request } from "./request.ts";

export type Session = Answers["ConsoleSession"];
export type SignInOptions = Extract<Session, { signed_in: false }>["sign_in"];
export type Credential = { key: string } | { code: string } | { email: string; password: string };

export const SESSION_PATH = "console/session";
const STORAGE_KEY = "parlance-signed-in";

export function readSession(signal: AbortSignal): Promise<Session> {
  return request<Session>(SESSION_PATH, { signal });
}

export function signIn(credential: Credential): Promise<Session> {
  return request<Session>(SESSION_PATH, { method: "POST", body: credential });
}

/** Whether this browser was signed in last: the console is then loaded before the session is read. */
export function wasSignedIn(): boolean {
  try {
    return localStorage.getItem(STORAGE_KEY) !== null;
  } catch {
    // A browser may refuse storage.
    return false;
  }
}

export function storeSignedIn(isSignedIn: boolean): void {
  try {
    if (isSignedIn) localStorage.setItem(STORAGE_KEY, "");
    else localStorage.removeItem(STORAGE_KEY);
  } catch {
    // The console is then loaded after the session is read.
  }
}
