/** Finds keys of the usual services, private keys, connection strings, and values that look random where a secret stands. */

import type { SliceOptions } from "../find-in-slices.ts";
import { type Match, resolveOverlaps } from "../match.ts";
import { findInSpellings } from "../spellings.ts";

/** A private key spans several lines. */
export const SECRET_SLICES: SliceOptions = { slice: 16_384, overlap: 8192 };

/** Keys with a form of their own: [type, pattern]. A quick test for `hint` precedes the pattern. */
const KEYS: ReadonlyArray<readonly [type: string, hint: string, pattern: RegExp]> = [
  ["AWS_ACCESS_KEY", "A", /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Za-z0-9])/g],
  ["GITHUB_TOKEN", "gh", /(?<!\w)gh[pousr]_[A-Za-z0-9]{36,255}(?!\w)/g],
  ["GITHUB_TOKEN", "github_pat_", /(?<!\w)github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}(?!\w)/g],
  ["GITLAB_TOKEN", "gl", /(?<!\w)gl(?:pat|ptt|dt|rt|cbt|oas|soat|ft|imt|agent)-[\w-]{20,64}(?![\w-])/g],
  ["SLACK_TOKEN", "xox", /(?<!\w)xox[abeoprs]-(?:\d-)?[A-Za-z0-9-]{10,250}(?![\w-])/g],
  ["SLACK_TOKEN", "xapp-", /(?<!\w)xapp-\d-[A-Z0-9]{9,14}-\d{10,15}-[a-f0-9]{60,70}(?!\w)/g],
  [
    "SLACK_WEBHOOK",
    "hooks.slack.com",
    /https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[\w/+-]{20,120}/g,
  ],
  [
    "DISCORD_WEBHOOK",
    "/api/webhooks/",
    /https:\/\/(?:\w{1,10}\.)?discord(?:app)?\.com\/api\/webhooks\/\d{17,20}\/[\w-]{60,72}/g,
  ],
  ["TEAMS_WEBHOOK", ".webhook.office.com", /https:\/\/[\w-]{1,63}\.webhook\.office\.com\/webhookb2\/[\w@/-]{60,250}/g],
  ["STRIPE_KEY", "k_", /(?<!\w)[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,247}(?!\w)/g],
  ["WEBHOOK_SECRET", "whsec_", /(?<!\w)whsec_[A-Za-z0-9+/]{24,90}={0,2}/g],
  ["ANTHROPIC_KEY", "sk-ant-", /(?<!\w)sk-ant-[\w-]{24,200}(?![\w-])/g],
  [
    "OPENAI_KEY",
    "sk-",
    /(?<![\w-])sk-(?!ant-)(?:(?:proj|svcacct|admin|None|or-v1)-[\w-]{20,250}|[A-Za-z0-9]{20,100})(?![\w-])/g,
  ],
  ["GOOGLE_API_KEY", "AIza", /(?<!\w)AIza[\w-]{35}(?![\w-])/g],
  ["GOOGLE_OAUTH", "GOCSPX-", /(?<!\w)GOCSPX-[\w-]{28}(?![\w-])/g],
  ["GOOGLE_OAUTH", "ya29.", /(?<!\w)ya29\.[\w-]{30,500}/g],
  ["HUGGING_FACE_TOKEN", "hf_", /(?<!\w)hf_[A-Za-z]{34,40}(?!\w)/g],
  ["NPM_TOKEN", "npm_", /(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)/g],
  ["PYPI_TOKEN", "pypi-", /(?<!\w)pypi-AgE[\w-]{50,250}/g],
  ["RUBYGEMS_TOKEN", "rubygems_", /(?<!\w)rubygems_[a-f0-9]{48}(?!\w)/g],
  ["DOCKER_TOKEN", "dckr_pat_", /(?<!\w)dckr_pat_[\w-]{27}(?![\w-])/g],
  ["SENDGRID_KEY", "SG.", /(?<!\w)SG\.[\w-]{20,24}\.[\w-]{39,50}(?![\w-])/g],
  ["MAILGUN_KEY", "key-", /(?<![\w-])key-[a-f0-9]{32}(?!\w)/g],
  ["MAILCHIMP_KEY", "-us", /(?<!\w)[a-f0-9]{32}-us\d{1,2}(?!\w)/g],
  ["TWILIO_KEY", "SK", /(?<!\w)SK[a-f0-9]{32}(?!\w)/g],
  ["DIGITALOCEAN_TOKEN", "_v1_", /(?<!\w)do[opr]_v1_[a-f0-9]{64}(?!\w)/g],
  ["SHOPIFY_TOKEN", "shp", /(?<!\w)shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}(?!\w)/g],
  ["SQUARE_TOKEN", "sq0", /(?<!\w)sq0(?:atp|csp|idp)-[\w-]{22,60}/g],
  ["VAULT_TOKEN", "hv", /(?<!\w)hv[bsr]\.[\w-]{24,300}/g],
  ["DATABRICKS_TOKEN", "dapi", /(?<!\w)dapi[a-f0-9]{32}(?:-\d)?(?!\w)/g],
  ["GRAFANA_TOKEN", "gl", /(?<!\w)gl(?:sa|c)_[A-Za-z0-9+/_]{32,400}={0,2}/g],
  ["NEW_RELIC_KEY", "NR", /(?<!\w)NR(?:AK|JS|II|AL)-[A-Z0-9]{19,42}(?!\w)/gi],
  ["LINEAR_KEY", "lin_", /(?<!\w)lin_(?:api|oauth)_[A-Za-z0-9]{40,64}(?!\w)/g],
  ["NOTION_TOKEN", "n", /(?<!\w)(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43})(?!\w)/g],
  ["POSTMAN_KEY", "PMAK-", /(?<!\w)PMAK-[a-f0-9]{24}-[a-f0-9]{34}(?!\w)/g],
  ["DOPPLER_TOKEN", "dp.", /(?<!\w)dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,90}/g],
  ["GROQ_KEY", "gsk_", /(?<!\w)gsk_[A-Za-z0-9]{48,60}(?!\w)/g],
  ["XAI_KEY", "xai-", /(?<!\w)xai-[A-Za-z0-9]{60,100}(?!\w)/g],
  ["PERPLEXITY_KEY", "pplx-", /(?<!\w)pplx-[A-Za-z0-9]{40,64}(?!\w)/g],
  ["REPLICATE_TOKEN", "r8_", /(?<!\w)r8_[A-Za-z0-9]{37}(?!\w)/g],
  ["TELEGRAM_TOKEN", ":AA", /(?<![\w:])\d{8,10}:AA[\w-]{33}(?![\w-])/g],
  ["TERRAFORM_TOKEN", ".atlasv1.", /(?<!\w)[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70}/g],
  ["AGE_KEY", "AGE-SECRET-KEY-1", /(?<!\w)AGE-SECRET-KEY-1[0-9A-Z]{58}(?!\w)/g],
  ["AZURE_KEY", "AccountKey=", /AccountKey=[A-Za-z0-9+/]{80,88}={0,2}/g],
  ["AZURE_KEY", "SharedAccessKey=", /SharedAccessKey=[A-Za-z0-9+/]{40,48}={0,2}/g],
  ["AZURE_KEY", "sig=", /(?<=[?&])sig=[A-Za-z0-9%+/]{40,70}(?:%3D|=){0,2}/g],
  ["JWT", "eyJ", /(?<![\w-])eyJ[\w-]{8,2048}\.eyJ[\w-]{8,4096}\.[\w-]{16,2048}/g],
];

const KEY_BLOCK = /-----BEGIN ((?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?)-----/g;
const PUTTY = "PuTTY-User-Key-File-";
/** An unfinished block is a key as far as it goes. */
const MAX_KEY_BLOCK = 8000;

/** User name and password in an address: databases, brokers, registries, web services. A quote may be part of the password. */
const CONNECTION =
  /(?<![\w+.-])[a-z][a-z0-9+.-]{1,24}:\/\/[^\s:/?#@'"<>]{0,128}:((?:[^\s/@'"<>]|['"](?=[\w!#$%&*^~@'"-])){1,256})@[^\s'"<>]{1,512}/gi;
/** "Password=…" among the parts of a connection string of .NET, ODBC or JDBC. */
const CONNECTION_PARTS =
  /(?<![\w])(?:Server|Data Source|Host|Driver|Initial Catalog|Database|Endpoint)=(?:[^\n"'`]|(?<==)"[^\n"`]{0,100}"(?=;)|(?<==)'[^\n'`]{0,100}'(?=;)){1,400}?;\s?(?:Password|Pwd|PWD|AccountKey|SharedAccessKey)=(?:"(?:[^"\n]|""){1,256}"(?=[;\s]|$)|'(?:[^'\n]|''){1,256}'(?=[;\s]|$)|\{(?:[^}\n]|\}(?![;\s]|$)){1,256}\}|(?:[^;\s"'`]|["'](?=[\w!#$%&*^~-])){1,256})/gi;

/** A value that is assigned to a name of a secret. */
const ASSIGNED =
  /(?<![A-Za-z])(?:[\w.-]{0,40}[_.-])?(?:password|passwd|passphrase|pwd|secret|secret[_-]?key|token|api[_-]?key|apikey|access[_-]?key|auth[_-]?key|private[_-]?key|client[_-]?secret|credentials?|encryption[_-]?key|signing[_-]?key)["'`]?[ \t]{0,3}(?:=>?|:=?|is)[ \t]{0,3}(?:(?<quote>["'`])(?<quoted>(?:(?!\k<quote>)[^\s\\]|\\\S){8,256})\k<quote>|["'`]?(?<bare>[^\s"'`,;<>{}()[\]]{8,256}))/gi;
const AUTHORIZATION = /(?<!\w)(?:Bearer|Basic|Token|ApiKey)[ \t]{1,2}([A-Za-z0-9._~+/=-]{16,2048})(?![\w])/g;
const RANDOM = /(?<![A-Za-z0-9+/=_.$@-])[A-Za-z0-9+/_-]{32,512}={0,2}(?![A-Za-z0-9+/=_-])/g;
/** Values that stand where a secret would, as in documentation and code. */
const EXAMPLE =
  /^(?:\$|%|<|\{|\*{3}|x{4,}|\.{3}|your|my[_-]|example|changeme|change_me|placeholder|redacted|dummy|none|null|true|false|undefined|process\.env|os\.environ|env\.|secrets\.|required|optional|string|config\.|self\.|this\.|settings\.)/i;

/** Bits for each character by the frequencies in the text. */
export function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

export const findSecrets = findInSpellings(findWrittenSecrets);

function findWrittenSecrets(text: string): Match[] {
  return resolveOverlaps(FINDERS.flatMap((find) => [...find(text)]));
}

const FINDERS: readonly ((text: string) => Iterable<Match>)[] = [
  knownKeys,
  privateKeys,
  connectionStrings,
  assignedPasswords,
  accessTokens,
  randomStrings,
];

/** Matches from `start` on; the text of `match` when left out. */
function matchOf(type: string, match: RegExpExecArray, score: number, length = match[0].length): Match {
  return { type, start: match.index, end: match.index + length, score };
}

function* knownKeys(text: string): Generator<Match> {
  for (const [type, hint, pattern] of KEYS) {
    if (!text.includes(hint)) continue;
    for (const match of text.matchAll(pattern)) {
      if (!/EXAMPLE|example|XXXX|xxxx/.test(match[0])) yield matchOf(type, match, 1);
    }
  }
}

function* privateKeys(text: string): Generator<Match> {
  const type = "PRIVATE_KEY";
  if (text.includes("PRIVATE KEY")) for (const { start, end } of keyBlocks(text)) yield { type, start, end, score: 1 };
  for (let start = text.indexOf(PUTTY); start >= 0; start = text.indexOf(PUTTY, start + 1)) {
    yield { type, start, end: Math.min(text.length, start + MAX_KEY_BLOCK), score: 1 };
  }
}

function* connectionStrings(text: string): Generator<Match> {
  if (text.includes("://")) {
    for (const match of text.matchAll(CONNECTION)) {
      if (EXAMPLE.test(match[1] ?? "")) continue;
      yield matchOf("CONNECTION_STRING", match, 0.95, match[0].replace(/[.,;:!?)\]]{1,4}$/, "").length);
    }
  }
  if (text.includes("=") && text.includes(";")) {
    for (const match of text.matchAll(CONNECTION_PARTS)) yield matchOf("CONNECTION_STRING", match, 0.95);
  }
}

function* assignedPasswords(text: string): Generator<Match> {
  for (const match of text.matchAll(ASSIGNED)) {
    const { quote = "", quoted, bare = "" } = match.groups ?? {};
    const value = quoted ?? bare;
    if (EXAMPLE.test(value) || !looksAssigned(value)) continue;
    const end = match.index + match[0].length - quote.length;
    yield { type: "PASSWORD", start: end - value.length, end, score: 0.8 };
  }
}

function* accessTokens(text: string): Generator<Match> {
  for (const match of text.matchAll(AUTHORIZATION)) {
    const value = match[1] ?? "";
    if (!/\d/.test(value) || entropy(value) < 3) continue;
    const end = match.index + match[0].length;
    yield { type: "ACCESS_TOKEN", start: end - value.length, end, score: 0.85 };
  }
}

function* randomStrings(text: string): Generator<Match> {
  for (const match of text.matchAll(RANDOM)) {
    if (looksRandom(match[0])) yield matchOf("HIGH_ENTROPY_STRING", match, 0.6);
  }
}

function* keyBlocks(text: string): Iterable<{ start: number; end: number }> {
  for (const { index, 0: header, 1: label = "" } of text.matchAll(KEY_BLOCK)) {
    const footer = `-----END ${label}-----`;
    const from = index + header.length;
    const at = text.slice(from, from + MAX_KEY_BLOCK).indexOf(footer);
    yield { start: index, end: at < 0 ? Math.min(text.length, from + MAX_KEY_BLOCK) : from + at + footer.length };
  }
}

/** A word alone is not a password: "password: required". Symbols, digits or randomness make it one. */
function looksAssigned(value: string): boolean {
  if (/^(?:https?:\/\/|\/|\.\/)/.test(value)) return false;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(value)).length;
  if (kinds < 2 || !/[\d!@#$%^&*?]/.test(value)) return false;
  // Names of variables and calls: user.password2, getToken_v2
  if (/^[a-z]+(?:[._][a-z]+)*\d?$/i.test(value)) return false;
  return entropy(value) >= 2.7;
}

/** Hashes and IDs in hexadecimal, names with separators and words in a row are not secrets. */
function looksRandom(value: string): boolean {
  const compact = value.replace(/=+$/, "");
  if (/^[a-f0-9-]+$/i.test(compact) || !/[a-z]/.test(compact) || !/[A-Z]/.test(compact)) return false;
  const digits = compact.replace(/\D/g, "").length;
  if (digits < 3 || digits > compact.length * 0.6) return false;
  // "Path/To/SomeFile2024", "some-long-slug-With-2-Numbers"
  const longestWord = Math.max(...(compact.match(/[A-Za-z][a-z]+/g) ?? [""]).map((word) => word.length));
  if (longestWord > 7 || (compact.match(/[/_-]/g)?.length ?? 0) > compact.length / 8) return false;
  return entropy(compact) >= 4.3;
}
