/** A browser's cookies and navigations, for sign-in without Chromium. */

export interface Visit {
  status: number;
  url: string;
  text: string;
  headers: Headers;
}

export class BrowserJar {
  /** Cookies by origin and name. Ports share them in browsers, but the tests' services have names with their port. */
  readonly #cookies = new Map<string, string>();

  /** Opens an address as a navigation and follows redirects until `until`, an address that is not opened any more. */
  async open(address: string, until: (url: string) => boolean = () => false): Promise<Visit> {
    let url = address;
    for (let redirects = 0; redirects < 20; redirects += 1) {
      const response = await this.fetch(url, { redirect: "manual", headers: { "sec-fetch-site": "cross-site" } });
      const location = response.headers.get("location");
      if (location === null || response.status < 300 || response.status >= 400) {
        return { status: response.status, url, text: await response.text(), headers: response.headers };
      }
      await response.body?.cancel();
      url = new URL(location, url).href;
      if (until(url)) return { status: response.status, url, text: "", headers: response.headers };
    }
    throw new Error(`${address} redirects without end`);
  }

  async fetch(url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = this.cookies();
    const headers = { "sec-fetch-site": "same-origin", ...(cookie !== "" && { cookie }), ...(init.headers as object) };
    const response = await fetch(url, { ...init, headers });
    for (const line of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split(";");
      const [name = "", ...value] = pair.split("=");
      const isRemoved = attributes.some((each) => /max-age=0$|expires=thu, 01 jan 1970/i.test(each.trim()));
      if (isRemoved) this.#cookies.delete(name);
      else this.#cookies.set(name, value.join("="));
    }
    return response;
  }

  setCookie(name: string, value: string): void {
    this.#cookies.set(name, value);
  }

  cookies(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  /** Copies of the cookies, as an attacker or another window has them. */
  copy(): BrowserJar {
    const jar = new BrowserJar();
    for (const [name, value] of this.#cookies) jar.#cookies.set(name, value);
    return jar;
  }
}
