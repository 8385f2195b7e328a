import { NavLink, Stack, Text } from "@mantine/core";
import { Link, useLocation } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { t } from "../i18n/translate.ts";
import { IconHelp, IconSettings } from "../icons.tsx";
import { isBelow, type NavigationPlace, pagesOf, placeAt } from "./navigation.ts";

/** Documentation of this version, beside the console, which may be below a path. */
export const DOCS = "docs/";

interface PlaceLinksProps {
  places: readonly NavigationPlace[];
  current: NavigationPlace | undefined;
  /** Page of a place that its link leads to. */
  pageOf: (place: NavigationPlace) => string;
}

/** The places as tabs at the top of the navigation; settings are at its end. */
function PlaceLinks({ places, current, pageOf }: PlaceLinksProps) {
  const shown = places.filter(({ id }) => id !== "settings");
  if (shown.length < 2) return null;
  return (
    <ul className="places" aria-label={t("Places")}>
      {shown.map((place) => (
        <li key={place.id}>
          <Link
            to={pageOf(place)}
            className="place"
            data-active={place.id === current?.id || undefined}
            aria-current={place.id === current?.id ? "true" : undefined}
          >
            {place.label}
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** Pages of the current place, and the way to the other places. */
export function NavigationList({ places }: { places: readonly NavigationPlace[] }) {
  const { pathname } = useLocation();
  const list = useRef<HTMLDivElement>(null);
  // Each place leads to the page of it that was open last.
  const [visited, setVisited] = useState<Readonly<Record<string, string>>>({});
  const here = placeAt(places, pathname);
  const page = here && pagesOf([here]).find(({ to }) => isBelow(pathname, to))?.to;
  if (here !== undefined && page !== undefined && visited[here.id] !== page) {
    setVisited({ ...visited, [here.id]: page });
  }
  const current = here ?? places[0];
  const pageOf = (place: NavigationPlace) => visited[place.id] ?? pagesOf([place])[0]?.to ?? "/";
  const settings = places.find(({ id }) => id === "settings");
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is another active entry
  useEffect(() => {
    list.current?.querySelector("[data-active]")?.scrollIntoView({ block: "nearest" });
  }, [pathname]);
  return (
    <>
      <PlaceLinks places={places} current={current} pageOf={pageOf} />
      <div className="scroll-column navigation-scroll" ref={list}>
        <Stack gap="md">
          {current?.groups.map((group) => (
            <div key={group.id}>
              {group.label !== undefined && (
                <Text size="xs" c="dimmed" fw={600} px={10} mb={4}>
                  {group.label}
                </Text>
              )}
              {group.entries.map(({ to, label, icon: Icon }) => (
                <NavLink
                  key={to}
                  className="nav-link"
                  component={Link}
                  to={to}
                  label={label}
                  active={isBelow(pathname, to)}
                  aria-current={pathname === to ? "page" : undefined}
                  leftSection={<Icon size={17} stroke={1.7} />}
                />
              ))}
              {group.id === "help" && (
                <NavLink
                  className="nav-link"
                  href={DOCS}
                  label={t("Documentation")}
                  leftSection={<IconHelp size={17} stroke={1.7} />}
                />
              )}
            </div>
          ))}
        </Stack>
      </div>
      {settings !== undefined && (
        <NavLink
          className="nav-link"
          component={Link}
          to={pageOf(settings)}
          label={settings.label}
          active={current?.id === "settings"}
          leftSection={<IconSettings size={17} stroke={1.7} />}
        />
      )}
    </>
  );
}
