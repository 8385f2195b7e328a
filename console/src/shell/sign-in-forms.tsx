import { Anchor, Button, Divider, PasswordInput, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useLocation } from "@tanstack/react-router";
import { useState } from "react";
import { urlOf } from "../api/request.ts";
import type { SignInOptions, signIn } from "../api/session.ts";
import { ErrorAlert } from "../components/error-alert.tsx";
import { t } from "../i18n/translate.ts";

type Method = "key" | "password";

interface SignInFormsProps {
  options: SignInOptions;
  mutation: {
    mutate: (credential: Parameters<typeof signIn>[0]) => void;
    reset: () => void;
    error: Error | null;
    isPending: boolean;
  };
}

/** Buttons of the providers, and the form of one other way to sign in. */
export function SignInForms({ options, mutation }: SignInFormsProps) {
  const { providers, has_passwords: hasPasswords, key } = options;
  const { pathname } = useLocation();
  const methods: Method[] = [...(key ? (["key"] as const) : []), ...(hasPasswords ? (["password"] as const) : [])];
  const [chosen, setChosen] = useState<Method>();
  const shown = chosen ?? (providers.length === 0 ? methods[0] : undefined);
  const returnTo = pathname === "/sign-in" ? "/" : pathname;
  return (
    <Stack>
      <ErrorAlert error={mutation.error} />
      {providers.map(({ id, name }) => (
        <Button
          key={id}
          component="a"
          href={urlOf(`sign-on/${id}/start`, { return_to: returnTo })}
          size="md"
          fullWidth
          variant={shown === undefined ? "filled" : "default"}
        >
          {t("Continue with {{name}}", { name })}
        </Button>
      ))}
      {providers.length > 0 && methods.length > 0 && <Divider label={t("or")} />}
      {shown === "key" && <KeyForm mutation={mutation} />}
      {shown === "password" && <PasswordForm mutation={mutation} />}
      {methods
        .filter((method) => method !== shown)
        .map((method) => (
          <Anchor
            key={method}
            component="button"
            type="button"
            size="sm"
            ta="center"
            onClick={() => {
              mutation.reset();
              setChosen(method);
            }}
          >
            {method === "key" ? t("Sign in with a key") : t("Sign in with a password")}
          </Anchor>
        ))}
    </Stack>
  );
}

function KeyForm({ mutation }: Pick<SignInFormsProps, "mutation">) {
  const form = useForm({ initialValues: { key: "" } });
  return (
    <form onSubmit={form.onSubmit(({ key }) => mutation.mutate({ key: key.trim() }))}>
      <Stack>
        <PasswordInput
          label={t("API key or admin key")}
          description={t("The key is exchanged for a session and never stored in this browser.")}
          placeholder="sk-…"
          autoComplete="off"
          spellCheck={false}
          size="md"
          data-autofocus
          autoFocus
          required
          {...form.getInputProps("key")}
        />
        <Button type="submit" size="md" loading={mutation.isPending} fullWidth>
          {t("Sign in")}
        </Button>
      </Stack>
    </form>
  );
}

function PasswordForm({ mutation }: Pick<SignInFormsProps, "mutation">) {
  const form = useForm({ initialValues: { email: "", password: "" } });
  return (
    <form onSubmit={form.onSubmit((values) => mutation.mutate(values))}>
      <Stack>
        <TextInput
          label={t("E-mail address")}
          type="email"
          autoComplete="username"
          size="md"
          autoFocus
          required
          {...form.getInputProps("email")}
        />
        <PasswordInput
          label={t("Password")}
          autoComplete="current-password"
          size="md"
          required
          {...form.getInputProps("password")}
        />
        <Button type="submit" size="md" loading={mutation.isPending} fullWidth>
          {t("Sign in")}
        </Button>
      </Stack>
    </form>
  );
}
