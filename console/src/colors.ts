/** Colors of the console, which the page for signing in shows without the code of the theme. */

import type { MantineColorsTuple } from "@mantine/core";

export const PINE: MantineColorsTuple = [
  "#eef8f6",
  "#d9efeb",
  "#afdcd5",
  "#7fc8be",
  "#54b3a7",
  "#359c8f",
  "#22857a",
  "#176e65",
  "#125a53",
  "#0d4741",
];
export const APRICOT: MantineColorsTuple = [
  "#fff4ec",
  "#fde3d2",
  "#f9c8a8",
  "#f3a877",
  "#ec8c50",
  "#df7534",
  "#c45e21",
  "#a04b1a",
  "#803d17",
  "#643113",
];
/** Warm grays, which keep large surfaces calm. */
export const GRAY: MantineColorsTuple = [
  "#f8f7f4",
  "#f1efea",
  "#e7e4dd",
  "#d9d5cc",
  "#bab5aa",
  "#98938a",
  "#77736b",
  "#5a5751",
  "#3d3b37",
  "#22211f",
];
export const DARK: MantineColorsTuple = [
  "#dadcd9",
  "#b9bcb9",
  "#8f9491",
  "#686e6b",
  "#3a403e",
  "#2f3533",
  "#252a28",
  "#1b1f1e",
  "#161918",
  "#101312",
];
