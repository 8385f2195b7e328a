import { type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import type { Answers } from "./answers.ts";
import { request } from "./request.ts";

export type Session = Answers["ConsoleSession"];
export type SignedIn = Extract<Session, { signed_in: true }>;

export const SIGNED_OUT: Session = { object: "console.session", signed_in: false };

const PATH = "console/session";

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => request<Session>(PATH, { signal }),
  staleTime: 5_000,
  // A page that reads nothing else would not notice that its key was revoked.
  refetchInterval: 5_000,
});

/** The session; call it only below the shell, which is shown to signed-in users. */
export function useSession(): SignedIn {
  const { data } = useQuery(sessionQuery);
  if (!data?.signed_in) throw new Error("not signed in");
  return data;
}

export function signIn(credential: { key: string } | { code: string }): Promise<Session> {
  return request<Session>(PATH, { method: "POST", body: credential });
}

export function signOut(): Promise<unknown> {
  return request(PATH, { method: "DELETE" });
}

/** Replaces the session and forgets what was read with the previous one. */
export function replaceSession(client: QueryClient, session: Session): void {
  client.setQueryData(sessionQuery.queryKey, session);
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
}
