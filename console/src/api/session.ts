import { type QueryClient, queryOptions, useQuery } from "@tanstack/react-query";
import type { Answers } from "./answers.ts";
import { request } from "./request.ts";
import { readSession, SESSION_PATH, type Session } from "./sign-in.ts";

export type SignedIn = Extract<Session, { signed_in: true }>;

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: ({ signal }) => readSession(signal),
  staleTime: 5_000,
  // A page that reads nothing else would not notice that its key was revoked.
  refetchInterval: 5_000,
});

let lastSession: SignedIn | undefined;

/**
 * The session; call it only below the shell, which is shown to signed-in users. After the end of a session, pages may be
 * drawn once more before the shell removes them.
 */
export function useSession(): SignedIn {
  const { data } = useQuery(sessionQuery);
  if (data?.signed_in) lastSession = data;
  // untranslated: a fault of the console
  if (lastSession === undefined) throw new Error("not signed in");
  return lastSession;
}

/** Reads the session now, which another tab may have changed. Rejects when the service cannot be reached. */
export async function refreshSession(client: QueryClient): Promise<void> {
  const updates = () => client.getQueryState(sessionQuery.queryKey)?.dataUpdateCount;
  const before = updates();
  const session = await request<Session>(SESSION_PATH);
  // This tab may have signed out meanwhile.
  if (updates() === before) client.setQueryData(sessionQuery.queryKey, session);
}

/** Ends the session, then calls `onEnd`. The provider's page ends its own one, too, and leads back. */
export async function signOut(client: QueryClient, onEnd: () => void): Promise<void> {
  const { end_session_url: url } = await request<Answers["ConsoleSessionDeleted"]>(SESSION_PATH, { method: "DELETE" });
  onEnd();
  if (url !== null) location.assign(url);
  else replaceSession(client, await request<Session>(SESSION_PATH));
}

/** Makes the session of a user call models in another project. */
export async function chooseProject(client: QueryClient, project: string): Promise<void> {
  replaceSession(client, await request<Session>(`${SESSION_PATH}/project`, { method: "POST", body: { project } }));
}

/** Whether the session may do something in the organization, or in a project. Sessions with an admin key may do all. */
export function may({ user, is_admin }: SignedIn, permission: string, project?: string): boolean {
  if (user === null) return is_admin;
  const { organization, projects } = user.access;
  return (
    organization.includes(permission) || (project !== undefined && projects[project]?.includes(permission) === true)
  );
}

/** Whether the session may do something in its project: a key without a user may. */
export function mayInProject(session: SignedIn, permission: string): boolean {
  return session.user === null || may(session, permission, session.project?.id);
}

/** Replaces the session and forgets what was read with the previous one. */
export function replaceSession(client: QueryClient, session: Session): void {
  client.setQueryData(sessionQuery.queryKey, session);
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] });
}
