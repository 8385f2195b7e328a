import { ActionIcon, AppShell, Burger, Button, Group, NativeSelect, Text } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { Outlet, useLocation } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useMemo, useState } from "react";
import { chooseProject, signOut, useSession } from "../api/session.ts";
import { notifyFailure } from "../components/notify.tsx";
import { Tooltip } from "../components/tooltip.tsx";
import { useSave } from "../components/use-save.ts";
import { useLanguage } from "../i18n/change-language.ts";
import { t } from "../i18n/translate.ts";
import { IconLogout, IconSearch } from "../icons.tsx";
import { ColorSchemeButton, useOtherScheme } from "./color-scheme-button.tsx";
import { ConnectionBanner } from "./connection-banner.tsx";
import type { Command } from "./find-commands.ts";
import { languageActions } from "./language-actions.ts";
import { LanguageSelect } from "./language-select.tsx";
import { Logo } from "./logo.tsx";
import { navigationFor, pagesOf } from "./navigation.ts";
import { DOCS, NavigationList } from "./navigation-list.tsx";
import { MODIFIER } from "./shortcuts.ts";
import { usePageKeys } from "./use-page-keys.ts";

const ShortcutSheet = lazy(async () => ({ default: (await import("./shortcut-sheet.tsx")).ShortcutSheet }));
const UnsavedChats = lazy(async () => ({ default: (await import("./unsaved-chats.tsx")).UnsavedChats }));
const CommandPalette = lazy(async () => ({ default: (await import("./command-palette.tsx")).CommandPalette }));
const NAVIGATION_WIDTH = 220;
const PALETTE_KEYS = MODIFIER === "⌘" ? "⌘K" : `${MODIFIER} K`;

export function Shell() {
  const session = useSession();
  const client = useQueryClient();
  const [isOpen, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes the menu of a phone whenever the page changes
  useEffect(close, [pathname]);
  const [unsaved, setUnsaved] = useState(0);
  const leave = useSave({
    save: async (isAgreed: boolean) => {
      const { chatSync } = await import("../pages/chat/chat-sync.ts");
      const remaining = isAgreed ? 0 : await chatSync.finish();
      if (remaining > 0) setUnsaved(remaining);
      else await signOut(client, () => chatSync.forget());
    },
  });
  const choose = useSave({ save: (project: string) => chooseProject(client, project) });
  const { label: otherLabel, toggleScheme } = useOtherScheme();
  const [isFinding, { open: find, close: endFinding }] = useDisclosure(false);
  const [wasOpen, setWasOpen] = useState(false);
  if (isFinding && !wasOpen) setWasOpen(true);
  useHotkeys([["mod+K", find]], []);
  const [showsKeys, { open: showKeys, close: hideKeys }] = useDisclosure(false);
  useHotkeys([
    ["shift+?", showKeys],
    ["?", showKeys],
    ["shift+D", toggleScheme],
  ]);
  const language = useLanguage();
  // biome-ignore lint/correctness/useExhaustiveDependencies: its labels are those of the language
  const navigation = useMemo(() => navigationFor(session), [session, language]);
  usePageKeys(useMemo(() => new Set(pagesOf(navigation).map(({ to }) => to)), [navigation]));
  // biome-ignore lint/correctness/useExhaustiveDependencies: so are those of the actions
  const actions = useMemo<Command[]>(
    () => [
      { id: "theme", label: otherLabel, kind: t("Action"), run: toggleScheme },
      { id: "shortcuts", label: t("Show keyboard shortcuts"), kind: t("Action"), run: showKeys },
      { id: "docs", label: t("Documentation"), kind: t("Help"), run: () => location.assign(DOCS) },
      ...languageActions().map((action) => ({ ...action, kind: t("Action") })),
      { id: "sign-out", label: t("Sign out"), kind: t("Action"), run: () => leave.mutate(false) },
    ],
    [otherLabel, toggleScheme, leave.mutate, showKeys, language],
  );
  return (
    <AppShell
      layout="alt"
      header={{ height: { base: 52, sm: 0 } }}
      navbar={{ width: NAVIGATION_WIDTH, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
      padding={{ base: "md", sm: "xl" }}
    >
      <Button className="skip-link" variant="default" onClick={() => document.getElementById("main")?.focus()}>
        {t("Skip to content")}
      </Button>
      <AppShell.Header hiddenFrom="sm">
        <Group h="100%" px="md" gap="sm">
          <Burger opened={isOpen} onClick={toggle} size="sm" aria-label={t("Menu")} aria-expanded={isOpen} />
          <Logo />
          <Text fw={600}>Parlance</Text>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={t("Pages")} className="navigation" mod={{ open: isOpen }}>
        <Group px={6} py={4} gap="xs" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Logo />
            <Text fw={600}>Parlance</Text>
          </Group>
          <Burger opened onClick={close} size="sm" hiddenFrom="sm" aria-label={t("Close menu")} />
        </Group>
        <Button
          variant="default"
          size="xs"
          mt="sm"
          justify="space-between"
          fw={400}
          className="palette-button"
          leftSection={<IconSearch size={15} />}
          rightSection={<kbd>{PALETTE_KEYS}</kbd>}
          onClick={find}
        >
          {t("Go to…")}
        </Button>
        {session.projects.length > 1 && (
          <NativeSelect
            mt="sm"
            size="xs"
            aria-label={t("Project")}
            value={session.project?.id ?? ""}
            data={session.projects.map(({ id, name }) => ({ value: id, label: name }))}
            onChange={(event) => choose.mutate(event.currentTarget.value)}
          />
        )}
        <NavigationList places={navigation} />
        <Group mt="sm" px={6} gap={4} wrap="nowrap" justify="space-between">
          <div style={{ minWidth: 0 }}>
            {/* untranslated: a name */}
            <Text size="sm" fw={500} truncate title={`Parlance ${session.version}`}>
              {session.user?.name ?? (session.is_admin ? session.organization.name : session.project?.name)}
            </Text>
            <Text size="xs" c="dimmed" truncate>
              {session.user?.email ?? (session.is_admin ? t("Administrator") : t("Project key"))}
            </Text>
          </div>
          <Group gap={2} wrap="nowrap">
            <LanguageSelect onFailure={notifyFailure} />
            <ColorSchemeButton />
            <Tooltip label={t("Sign out")}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t("Sign out")}
                loading={leave.isPending}
                onClick={() => leave.mutate(false)}
              >
                <IconLogout size={17} stroke={1.7} />
              </ActionIcon>
            </Tooltip>
          </Group>
        </Group>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <ConnectionBanner />
        <Outlet />
      </AppShell.Main>
      {showsKeys && (
        <Suspense>
          <ShortcutSheet onClose={hideKeys} />
        </Suspense>
      )}
      {unsaved > 0 && (
        <Suspense>
          <UnsavedChats count={unsaved} onClose={() => setUnsaved(0)} onConfirm={() => leave.mutateAsync(true)} />
        </Suspense>
      )}
      {wasOpen && (
        <Suspense>
          <CommandPalette isOpen={isFinding} onClose={endFinding} actions={actions} />
        </Suspense>
      )}
    </AppShell>
  );
}
