import { type CSSProperties, useCallback, useEffect, useRef, useState } from "react";
import { type Credential, type Session, type SignInOptions, signIn } from "../api/sign-in.ts";
import { DARK, GRAY, PINE } from "../colors.ts";
import { useLanguage } from "../i18n/change-language.ts";
import { Trans } from "../i18n/trans.tsx";
import { t } from "../i18n/translate.ts";
import { LanguageSelect } from "./language-select.tsx";
import { Logo } from "./logo.tsx";
import { SignInForms } from "./sign-in-forms.tsx";
import "./sign-in.css";

/** Colors of the console, whose styles have not been loaded yet. */
const COLORS = {
  "--sign-in-page": lightDark(GRAY[0], "#121514"),
  "--sign-in-surface": lightDark("#fff", DARK[7]),
  "--sign-in-field": lightDark("#fff", DARK[6]),
  "--sign-in-code": lightDark(GRAY[1], DARK[6]),
  "--sign-in-border": lightDark(GRAY[4], DARK[4]),
  "--sign-in-line": lightDark(GRAY[2], "#2b3130"),
  "--sign-in-text": lightDark("#000", DARK[0]),
  "--sign-in-dimmed": lightDark(GRAY[7], "#a6aba8"),
  "--sign-in-accent": PINE[7],
  "--sign-in-accent-strong": PINE[8],
  "--sign-in-link": lightDark(PINE[7], PINE[3]),
  "--sign-in-hover": lightDark(GRAY[0], DARK[5]),
} as CSSProperties;

interface SignInPageProps {
  options: SignInOptions;
  /** Code of a link that signs in once. */
  code: string | undefined;
  /** Path of the page that follows. */
  returnTo: string;
  onSignedIn: (session: Session) => unknown;
}

/** Uses nothing of the component library: the browser of somebody who is not signed in loads this page alone. */
export function SignInPage({ options, code, returnTo, onSignedIn }: SignInPageProps) {
  useLanguage();
  const { isPending, error, submit, reset } = useSignIn(onSignedIn);
  const [languageError, setLanguageError] = useState<Error>();
  const title = t("Sign in · Parlance");
  useEffect(() => {
    document.title = title;
  }, [title]);
  const usedCode = useRef<string>(undefined);
  useEffect(() => {
    // React calls effects twice in development, and a code works once.
    if (code === undefined || usedCode.current === code) return;
    usedCode.current = code;
    void submit({ code });
  }, [code, submit]);
  const isUsingCode = code !== undefined && error === undefined;

  return (
    <main className="sign-in" style={COLORS}>
      <div className="sign-in-column">
        <header>
          <Logo size={36} />
          <h1>Parlance</h1>
        </header>
        <div className="sign-in-card">
          {isUsingCode ? (
            <p role="status">{t("Signing in…")}</p>
          ) : (
            <SignInForms
              options={options}
              returnTo={returnTo}
              isPending={isPending}
              error={error ?? languageError}
              onSubmit={submit}
              onReset={reset}
            />
          )}
        </div>
        {options.providers.length === 0 && (
          <p className="sign-in-hint">
            <Trans
              text="<code>npm start</code> prints a link that signs in once, and the first keys at the first start."
              tags={{ code: <code /> }}
            />
          </p>
        )}
        <footer>
          <LanguageSelect onFailure={setLanguageError} />
        </footer>
      </div>
    </main>
  );
}

function useSignIn(onSignedIn: SignInPageProps["onSignedIn"]) {
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<Error>();
  const listener = useRef(onSignedIn);
  useEffect(() => {
    listener.current = onSignedIn;
  });
  const submit = useCallback(async (credential: Credential) => {
    setPending(true);
    setError(undefined);
    try {
      await listener.current(await signIn(credential));
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setPending(false);
    }
  }, []);
  const reset = useCallback(() => setError(undefined), []);
  return { isPending, error, submit, reset };
}

function lightDark(light: string | undefined, dark: string | undefined): string {
  // untranslated: CSS
  return `light-dark(${light}, ${dark})`;
}
