import { lazy } from "react";

/** Mantine's drawer, which is not part of the first load: draw it when it is open, within `Suspense`. */
export const SideDrawer = lazy(async () => ({ default: (await import("./drawer.ts")).Drawer }));
