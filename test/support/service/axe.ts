import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface AnimationOfPage {
  effect: { getComputedTiming(): { endTime: number } } | null;
}

/** What axe finds on a page, with the elements; empty for an accessible page. */
export async function axeViolations(page: Page): Promise<string[]> {
  // What fades in has less contrast for a moment.
  await page.waitForFunction(() => {
    const { document } = globalThis as unknown as { document: { getAnimations(): AnimationOfPage[] } };
    return document.getAnimations().every(({ effect }) => effect?.getComputedTiming().endTime === Infinity);
  });
  // `page.addScriptTag` would violate the content security policy.
  await page.evaluate(await readFile(AXE, "utf8"));
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    // Pages are fragments: axe takes a link to one that is scrolled out of view for a broken skip link.
    const isPage = (id: string, html: string) => id === "skip-link" && html.includes('href="/#/');
    const remaining = violations.map(({ id, nodes }) => ({ id, nodes: nodes.filter(({ html }) => !isPage(id, html)) }));
    return remaining
      .filter(({ nodes }) => nodes.length > 0)
      .map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n")}`,
      );
  });
}
