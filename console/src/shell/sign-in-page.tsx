import { Button, Card, Center, Code, Group, Loader, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { replaceSession, signIn } from "../api/session.ts";
import { ErrorAlert } from "../components/error-alert.tsx";
import { Logo } from "./logo.tsx";

export function SignInPage() {
  const { code } = useSearch({ strict: false }) as { code?: string };
  const navigate = useNavigate();
  const router = useRouter();
  const client = useQueryClient();
  const form = useForm({ initialValues: { key: "" } });
  const mutation = useMutation({
    mutationFn: signIn,
    onSuccess: async (session) => {
      replaceSession(client, session);
      form.reset();
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
            <form onSubmit={form.onSubmit(({ key }) => mutation.mutate({ key: key.trim() }))}>
              <Stack>
                <ErrorAlert error={mutation.error} />
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
          )}
        </Card>
        <Text c="dimmed" size="sm" ta="center">
          <Code>npm start</Code> prints a link that signs in once, and the first keys at the first start.
        </Text>
      </Stack>
    </Center>
  );
}
