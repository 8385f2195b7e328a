import { Center, Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Outlet, useMatches } from "@tanstack/react-router";
import { useEffect } from "react";
import { sessionQuery } from "../api/session.ts";
import { storeSignedIn } from "../api/sign-in.ts";
import { PageError } from "../components/page-error.tsx";
import { useLanguage } from "../i18n/change-language.ts";
import { t } from "../i18n/translate.ts";
import { Shell } from "./shell.tsx";
import { EndedSession } from "./sign-in-route.tsx";

/** Pages for people who are not signed in yet. */
const OUTSIDE: ReadonlySet<string> = new Set(["/sign-in", "/invite", "/password"]);

/** Shows the sign-in page until there is a session, at whichever page, and returns to it afterwards. */
export function Gate() {
  useLanguage();
  const { data, error, refetch } = useQuery(sessionQuery);
  const isSignedIn = data?.signed_in;
  useEffect(() => {
    if (isSignedIn !== undefined) storeSignedIn(isSignedIn);
  }, [isSignedIn]);
  // Not the location, which changes before the page does.
  const isSignIn = useMatches({ select: (matches) => OUTSIDE.has(matches.at(-1)?.routeId ?? "") });
  if (data === undefined) {
    return error === null ? (
      <Center h="100dvh">
        <Loader aria-label={t("Loading")} />
      </Center>
    ) : (
      <Center h="100dvh" p="md">
        <PageError error={error} reset={() => void refetch()} />
      </Center>
    );
  }
  if (isSignIn) return <Outlet />;
  return data.signed_in ? <Shell /> : <EndedSession options={data.sign_in} />;
}
