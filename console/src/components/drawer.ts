/** For a lazy import: one of Mantine's index would load all of it. */
export { Drawer } from "@mantine/core";
