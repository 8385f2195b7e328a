import { currentLocale } from "./language.ts";

let locale: string | undefined;
let format: Intl.NumberFormat;

export function formatNumber(value: number): string {
  if (locale !== currentLocale()) {
    locale = currentLocale();
    format = new Intl.NumberFormat(locale);
  }
  return format.format(value);
}
