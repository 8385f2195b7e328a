import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation, useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { replaceSession, sessionQuery } from "../api/session.ts";
import type { Session, SignInOptions } from "../api/sign-in.ts";
import { SignInPage } from "./sign-in-page.tsx";

/** The route of the sign-in page, where somebody may be signed in already. */
export function SignInRoute() {
  const { data } = useQuery(sessionQuery);
  return data && <EndedSession options={data.sign_in} />;
}

/** The sign-in page in the console, whose session has ended: it continues at the same page. */
export function EndedSession({ options }: { options: SignInOptions }) {
  const { code } = useSearch({ strict: false }) as { code?: string };
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const router = useRouter();
  const client = useQueryClient();
  const start = async (session: Session) => {
    replaceSession(client, session);
    if (router.state.location.pathname === "/sign-in") await navigate({ to: "/", replace: true });
    else await router.invalidate();
  };
  return <SignInPage options={options} code={code} returnTo={pathname} onSignedIn={start} />;
}
