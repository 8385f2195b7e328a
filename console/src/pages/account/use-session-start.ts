import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { replaceSession } from "../../api/session.ts";
import type { Session } from "../../api/sign-in.ts";

/** Continues with a session that has just begun. */
export function useSessionStart(): (session: Session) => Promise<void> {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async (session) => {
    replaceSession(client, session);
    await navigate({ to: "/", replace: true });
  };
}
