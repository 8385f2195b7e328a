import {
  IconActivity,
  IconChartBar,
  IconCpu,
  IconDatabase,
  IconGauge,
  IconHistory,
  IconMessage,
  IconMicrophone,
  IconShieldCheck,
  IconUsers,
  IconVectorTriangle,
  IconVolume,
} from "@tabler/icons-react";
import type { ComponentType } from "react";
import type { SignedIn } from "../api/session.ts";

export interface NavigationEntry {
  to: string;
  label: string;
  icon: ComponentType<{ size?: number; stroke?: number }>;
}

export interface NavigationGroup {
  label: string;
  entries: NavigationEntry[];
}

/** Pages that the session's keys may use. */
export function navigationFor(_session: SignedIn): NavigationGroup[] {
  const playground: NavigationEntry[] = [{ to: "/chat", label: "Chat", icon: IconMessage }];
  return [{ label: "Playground", entries: playground }];
}
void [
  IconActivity,
  IconChartBar,
  IconCpu,
  IconDatabase,
  IconGauge,
  IconHistory,
  IconMicrophone,
  IconShieldCheck,
  IconUsers,
  IconVectorTriangle,
  IconVolume,
];
