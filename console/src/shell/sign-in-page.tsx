import {
  Anchor,
  Button,
  Card,
  Center,
  Code,
  Divider,
  Group,
  Loader,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useLocation, useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { urlOf } from "../api/request.ts";
import { replaceSession, type SignInOptions, sessionQuery, signIn } from "../api/session.ts";
import { ErrorAlert } from "../components/error-alert.tsx";
import { Logo } from "./logo.tsx";

/** The route of the sign-in page, where somebody may be signed in already. */
export function SignInRoute() {
  const { data } = useQuery(sessionQuery);
  return (
    <SignInPage options={data?.signed_in === false ? data.sign_in : { providers: [], password: false, key: true }} />
  );
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
  const usedCode = useRef<string>(undefined);
  useEffect(() => {
    document.title = "Sign in · Parlance";
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
              <Text>Signing in…</Text>
            </Group>
          ) : (
            <SignInForms options={options} mutation={mutation} />
          )}
        </Card>
        {options.providers.length === 0 && (
          <Text c="dimmed" size="sm" ta="center">
            <Code>npm start</Code> prints a link that signs in once, and the first keys at the first start.
          </Text>
        )}
      </Stack>
    </Center>
  );
}

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
function SignInForms({ options, mutation }: SignInFormsProps) {
  const { providers, password, key } = options;
  const { pathname } = useLocation();
  const methods: Method[] = [...(key ? (["key"] as const) : []), ...(password ? (["password"] as const) : [])];
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
          Continue with {name}
        </Button>
      ))}
      {providers.length > 0 && methods.length > 0 && <Divider label="or" />}
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
            {method === "key" ? "Sign in with a key" : "Sign in with a password"}
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
          label="API key or admin key"
          description="The key is exchanged for a session and never stored in this browser."
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
          Sign in
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
          label="E-mail address"
          type="email"
          autoComplete="username"
          size="md"
          autoFocus
          required
          {...form.getInputProps("email")}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          size="md"
          required
          {...form.getInputProps("password")}
        />
        <Button type="submit" size="md" loading={mutation.isPending} fullWidth>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
