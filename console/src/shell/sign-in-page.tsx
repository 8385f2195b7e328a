import { Card, Center, Code, Group, Loader, Stack, Text, Title } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useRef } from "react";
import { replaceSession, type SignInOptions, sessionQuery, signIn } from "../api/session.ts";
import { useLanguage } from "../i18n/change-language.ts";
import { Trans } from "../i18n/trans.tsx";
import { t } from "../i18n/translate.ts";
import { LanguageSelect } from "./language-select.tsx";
import { Logo } from "./logo.tsx";

/** Not part of the first load of somebody who is signed in, or whose link signs in. */
const SignInForms = lazy(async () => ({ default: (await import("./sign-in-forms.tsx")).SignInForms }));

/** The route of the sign-in page, where somebody may be signed in already. */
export function SignInRoute() {
  useLanguage();
  const { data } = useQuery(sessionQuery);
  return data && <SignInPage options={data.sign_in} />;
}

export function SignInPage({ options }: { options: SignInOptions }) {
  const { code } = useSearch({ strict: false }) as { code?: string };
  const navigate = useNavigate();
  const router = useRouter();
  const client = useQueryClient();
  const mutation = useMutation({
    mutationFn: signIn,
    onSuccess: async (session) => {
      replaceSession(client, session);
      if (router.state.location.pathname === "/sign-in") await navigate({ to: "/", replace: true });
      else await router.invalidate();
    },
  });
  const title = t("Sign in · Parlance");
  useEffect(() => {
    document.title = title;
  }, [title]);
  const usedCode = useRef<string>(undefined);
  useEffect(() => {
    // React calls effects twice in development, and a code works once.
    if (code === undefined || usedCode.current === code) return;
    usedCode.current = code;
    mutation.mutate({ code });
  }, [code, mutation.mutate]);
  const isUsingCode = code !== undefined && !mutation.isError;

  return (
    <Center mih="100dvh" p="md" component="main">
      <Stack w="100%" maw={400} gap="lg">
        <Group justify="center" gap="sm">
          <Logo size={36} />
          <Title order={1}>Parlance</Title>
        </Group>
        <Card padding="xl" shadow="sm">
          {isUsingCode ? (
            <Group justify="center">
              <Loader size="sm" />
              <Text>{t("Signing in…")}</Text>
            </Group>
          ) : (
            <Suspense fallback={<Loader size="sm" mx="auto" />}>
              <SignInForms options={options} mutation={mutation} />
            </Suspense>
          )}
        </Card>
        {options.providers.length === 0 && (
          <Text c="dimmed" size="sm" ta="center">
            <Trans
              text="<code>npm start</code> prints a link that signs in once, and the first keys at the first start."
              tags={{ code: <Code /> }}
            />
          </Text>
        )}
        <Center>
          <LanguageSelect />
        </Center>
      </Stack>
    </Center>
  );
}
