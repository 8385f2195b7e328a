import { ActionIcon, AppShell, Burger, Button, Group, NavLink, ScrollArea, Stack, Text, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconLogout } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useLocation } from "@tanstack/react-router";
import { useEffect } from "react";
import { replaceSession, signOut, useSession } from "../api/session.ts";
import { ColorSchemeButton } from "./color-scheme-button.tsx";
import { Logo } from "./logo.tsx";
import { navigationFor } from "./navigation.ts";

const NAVIGATION_WIDTH = 220;

export function Shell() {
  const session = useSession();
  const client = useQueryClient();
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes the menu of a phone whenever the page changes
  useEffect(close, [pathname]);
  const leave = useMutation({
    mutationFn: signOut,
    onSettled: () => replaceSession(client, { signed_in: false }),
  });
  return (
    <AppShell
      layout="alt"
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: NAVIGATION_WIDTH, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding={{ base: "md", sm: "xl" }}
    >
      <Button className="skip-link" variant="default" onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </Button>
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="md" gap="sm">
          <Burger opened={isOpen} onClick={toggle} size="sm" aria-label="Menu" aria-expanded={isOpen} />
          <Logo />
          <Text fw={600}>Parlance</Text>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Pages" className="navigation" mod={{ open: isOpen }}>
        <Group px={6} py={4} gap="xs" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Logo />
            <Text fw={600}>Parlance</Text>
          </Group>
          <Burger opened onClick={close} size="sm" hiddenFrom="sm" aria-label="Close menu" />
        </Group>
        <ScrollArea flex={1} mt="md" type="auto" scrollbarSize={6}>
          <Stack gap="lg">
            {navigationFor(session).map((group) => (
              <div key={group.label}>
                <Text size="xs" c="dimmed" fw={600} px={10} mb={4}>
                  {group.label}
                </Text>
                {group.entries.map(({ to, label, icon: Icon }) => (
                  <NavLink
                    key={to}
                    className="nav-link"
                    component={Link}
                    to={to}
                    label={label}
                    active={pathname === to || pathname.startsWith(`${to}/`)}
                    aria-current={pathname === to ? "page" : undefined}
                    leftSection={<Icon size={17} stroke={1.7} />}
                  />
                ))}
              </div>
            ))}
          </Stack>
        </ScrollArea>
        <Group mt="sm" px={6} gap={4} wrap="nowrap" justify="space-between">
          <div style={{ minWidth: 0 }}>
            <Text size="sm" fw={500} truncate title={`Parlance ${session.version}`}>
              {session.is_admin ? session.organization.name : session.project?.name}
            </Text>
            <Text size="xs" c="dimmed">
              {session.is_admin ? "Administrator" : "Project key"}
            </Text>
          </div>
          <Group gap={2} wrap="nowrap">
            <ColorSchemeButton />
            <Tooltip label="Sign out">
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label="Sign out"
                loading={leave.isPending}
                onClick={() => leave.mutate()}
              >
                <IconLogout size={17} stroke={1.7} />
              </ActionIcon>
            </Tooltip>
          </Group>
        </Group>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}
