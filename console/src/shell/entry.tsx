import { type ReactElement, useEffect, useState } from "react";
import { readSession, type Session, type SignInOptions } from "../api/sign-in.ts";
import { loadAllTexts, useLanguage } from "../i18n/change-language.ts";
import { SignInPage } from "./sign-in-page.tsx";
import { Spinner } from "./spinner.tsx";
import { useEntryAddress } from "./use-entry-address.ts";

const loadApp = () => import("../app.tsx");
const READ_AGAIN_MS = 5_000;

/**
 * The page for signing in, without the console's code, until there is a session; then the console. Links of invites and
 * of passwords lead to pages of the console.
 */
export function Entry({ nonce }: { nonce: string }) {
  useLanguage();
  const { path, code, isOutside } = useEntryAddress();
  const [options, setOptions] = useState<SignInOptions>();
  const [app, setApp] = useState<ReactElement>();
  const isOpen = app !== undefined;

  const open = async (session?: Session) => {
    const [{ App, beginSession }] = await Promise.all([loadApp(), loadAllTexts()]);
    if (session !== undefined) beginSession(session);
    setApp(<App nonce={nonce} />);
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: `open` differs by nothing else
  useEffect(() => {
    if (isOpen) return;
    if (isOutside) return void open();
    // The code begins a session meanwhile.
    if (code !== undefined) loadApp().catch(() => {});
    const ending = new AbortController();
    const read = async (isFirst: boolean) => {
      const session = await readSession(ending.signal).catch(() => undefined);
      if (ending.signal.aborted) return;
      // Another tab may have signed in.
      if (session?.signed_in && code === undefined) await open(session);
      else if (session !== undefined) setOptions(session.sign_in);
      // The console says that the service cannot be reached, and tries again.
      else if (isFirst) await open();
    };
    void read(true);
    const timer = setInterval(() => void read(false), READ_AGAIN_MS);
    return () => {
      ending.abort();
      clearInterval(timer);
    };
  }, [isOpen, isOutside, code]);

  if (app !== undefined) return app;
  if (options === undefined) return <Spinner />;
  return (
    <SignInPage
      options={options}
      code={code}
      returnTo={path}
      onSignedIn={async (session) => {
        if (path === "/sign-in") history.replaceState(null, "", "#/");
        await open(session);
      }}
    />
  );
}
