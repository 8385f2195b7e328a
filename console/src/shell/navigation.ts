import type { ComponentType } from "react";
import { may, type SignedIn } from "../api/session.ts";
import { t } from "../i18n/translate.ts";
import {
  IconActivity,
  IconBook,
  IconBuilding,
  IconBulb,
  IconChartBar,
  IconChecklist,
  IconCoin,
  IconCpu,
  IconDatabase,
  IconFile,
  IconFolder,
  IconGauge,
  IconHeadset,
  IconHistory,
  IconKey,
  IconMessage,
  IconMicrophone,
  IconPhoto,
  IconPlug,
  IconServer,
  IconSettings,
  IconShieldCheck,
  IconStack,
  IconTemplate,
  IconUsers,
  IconVectorTriangle,
  IconVolume,
  IconWebhook,
} from "../icons.tsx";

interface NavigationEntry {
  to: string;
  label: string;
  icon: ComponentType<{ size?: number; stroke?: number }>;
}

interface NavigationGroup {
  id: string;
  /** Undefined for the first group of a place. */
  label?: string;
  entries: NavigationEntry[];
}

/** A part of the console with its own navigation: what people use, what they build with, what they operate. */
export interface NavigationPlace {
  id: "use" | "build" | "operate" | "settings";
  label: string;
  groups: NavigationGroup[];
}

/** Places with the pages that the session may use; those without any are left out. */
export function navigationFor(session: SignedIn): NavigationPlace[] {
  const isInstallation = session.organization.is_default && session.is_admin;
  const places: NavigationPlace[] = [
    { id: "use", label: t("Use", { context: "verb" }), groups: personalGroups(session) },
    { id: "build", label: t("Build"), groups: buildGroups() },
    { id: "operate", label: t("Operate"), groups: operateGroups(session) },
    {
      id: "settings",
      label: t("Settings"),
      groups: [
        {
          id: "settings",
          entries: [
            ...(may(session, "organization.read")
              ? [{ to: "/organization", label: t("Organization"), icon: IconBuilding }]
              : []),
            ...(isInstallation
              ? [
                  { to: "/connections", label: t("Connections"), icon: IconServer },
                  { to: "/webhooks", label: t("Webhooks"), icon: IconWebhook },
                  { to: "/configuration", label: t("Configuration"), icon: IconSettings },
                ]
              : []),
          ],
        },
      ],
    },
  ];
  return places
    .map((place) => ({ ...place, groups: place.groups.filter(({ entries }) => entries.length > 0) }))
    .filter(({ groups }) => groups.length > 0);
}

function personalGroups({ user }: SignedIn): NavigationGroup[] {
  return [
    {
      id: "use",
      entries: [
        { to: "/chat", label: t("Chat"), icon: IconMessage },
        { to: "/talk", label: t("Talk"), icon: IconHeadset },
        { to: "/images", label: t("Images"), icon: IconPhoto },
        { to: "/transcription", label: t("Transcription"), icon: IconMicrophone },
        { to: "/speech", label: t("Speech"), icon: IconVolume },
      ],
    },
    {
      id: "you",
      label: t("You"),
      entries:
        user === null
          ? []
          : [
              { to: "/account", label: t("Keys and access"), icon: IconKey },
              { to: "/my-usage", label: t("My usage"), icon: IconCoin },
            ],
    },
  ];
}

function buildGroups(): NavigationGroup[] {
  return [
    {
      id: "build",
      entries: [
        { to: "/prompts", label: t("Prompts"), icon: IconTemplate },
        { to: "/evals", label: t("Evals"), icon: IconChecklist },
        { to: "/stores", label: t("Vector stores"), icon: IconDatabase },
        { to: "/files", label: t("Files"), icon: IconFile },
        { to: "/batches", label: t("Batches"), icon: IconStack },
        { to: "/skills", label: t("Skills"), icon: IconBulb },
        { to: "/mcp", label: t("MCP servers"), icon: IconPlug },
      ],
    },
    {
      id: "playground",
      label: t("Playground"),
      entries: [
        { to: "/embeddings", label: t("Embeddings"), icon: IconVectorTriangle },
        { to: "/moderation", label: t("Moderation"), icon: IconShieldCheck },
      ],
    },
    {
      id: "help",
      label: t("Help"),
      entries: [{ to: "/reference", label: t("API reference"), icon: IconBook }],
    },
  ];
}

function operateGroups(session: SignedIn): NavigationGroup[] {
  const isManager = session.is_admin || managedProjects(session).length > 0;
  return [
    {
      id: "monitor",
      entries: [
        { to: "/overview", label: t("Overview"), icon: IconGauge },
        { to: "/requests", label: t("Requests"), icon: IconActivity },
        { to: "/usage", label: t("Usage"), icon: IconChartBar },
        { to: "/models", label: t("Models"), icon: IconCpu },
      ],
    },
    {
      id: "manage",
      label: t("Manage"),
      entries: [
        ...(may(session, "organization.users.read") ? [{ to: "/people", label: t("People"), icon: IconUsers }] : []),
        ...(isManager ? [{ to: "/projects", label: t("Projects"), icon: IconFolder }] : []),
        ...(may(session, "organization.read") ? [{ to: "/budgets", label: t("Budgets"), icon: IconCoin }] : []),
        ...(may(session, "organization.audit_logs.read")
          ? [{ to: "/audit", label: t("Audit log"), icon: IconHistory }]
          : []),
      ],
    },
  ];
}

/** All pages of places. */
export function pagesOf(places: readonly NavigationPlace[]): NavigationEntry[] {
  return places.flatMap(({ groups }) => groups.flatMap(({ entries }) => entries));
}

export function isBelow(pathname: string, to: string): boolean {
  return pathname === to || pathname.startsWith(`${to}/`);
}

/** The place that a page belongs to; undefined: it is in none. */
export function placeAt(places: readonly NavigationPlace[], pathname: string): NavigationPlace | undefined {
  return places.find((place) => pagesOf([place]).some(({ to }) => isBelow(pathname, to)));
}

/** Projects whose members or keys the user manages. */
function managedProjects({ user }: SignedIn): string[] {
  const isManaged = (permissions: string[]) => permissions.includes("project.members.read");
  return Object.entries(user?.access.projects ?? {}).flatMap(([id, permissions]) =>
    isManaged(permissions) ? [id] : [],
  );
}
