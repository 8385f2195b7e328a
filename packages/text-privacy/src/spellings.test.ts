import { expect, test } from "vitest";
import type { Match } from "./match.ts";
import { personalDataFinder } from "./personal-data/find-personal-data.ts";
import { findSecrets } from "./secrets/find-secrets.ts";
import { plainSpelling } from "./spellings.ts";

const findPersonalData = personalDataFinder();

/** Puts the type of each match in its place. */
function masked(text: string, matches: readonly Match[]): string {
  let output = "";
  let from = 0;
  for (const { type, start, end } of matches) {
    output += `${text.slice(from, start)}<${type}>`;
    from = end;
  }
  return output + text.slice(from);
}

const EMAIL = "<EMAIL_ADDRESS>";
const CARD = "<CREDIT_CARD>";
const IBAN = "<IBAN_CODE>";

test.each([
  ["a percent escape", "https://x.test/?to=ada%40example.com&n=1", `https://${EMAIL}&n=1`],
  ["an escape of a percent escape", "to ada%2540example.com.", `to ${EMAIL}.`],
  ["an address in percent escapes", "to %61%64%61%40%65%78%2e%63%6f%6d now", `to ${EMAIL} now`],
  ["an umlaut in percent escapes", "to j%C3%B6rg%40m%C3%BCller.de", `to ${EMAIL}`],
  ["a decimal reference", "Mail ada&#64;example.com!", `Mail ${EMAIL}!`],
  ["a hexadecimal reference", "Mail ada&#x40;example&#x2E;com!", `Mail ${EMAIL}!`],
  ["a reference by name", "Mail ada&commat;example&period;com!", `Mail ${EMAIL}!`],
  ["a reference in a reference", "Mail ada&amp;#64;example.com!", `Mail ${EMAIL}!`],
  ["quoted-printable", "To: ada=40example.com", `To: ${EMAIL}`],
  ["a soft line break of quoted-printable", "To: ada=40exam=\r\nple.com now", `To: ${EMAIL} now`],
  ["an escape of JSON", String.raw`{\"to\":\"ada\u0040example.com\"}`, String.raw`{\"to\":\"${EMAIL}\"}`],
  ["an escape of JSON in JSON in JSON", String.raw`ada\\\u0040example.com`, EMAIL],
  ["an escape of source code", String.raw`"ada\x40example.com"`, `"${EMAIL}"`],
  ["a zero-width space", "Mail a\u200bd\u200ba@exam\u200bple.com now", `Mail ${EMAIL} now`],
  ["a zero-width space around the sign", "Mail ada\u200b@\ufeffexample.com now", `Mail ${EMAIL} now`],
  ["a soft hyphen", "Mail ada@exam\u00adple.com now", `Mail ${EMAIL} now`],
  ["a mark of direction", "Mail ada\u202e@example.com now", `Mail ${EMAIL} now`],
  ["fullwidth letters", "Mail ａｄａ＠ｅｘａｍｐｌｅ．ｃｏｍ now", `Mail ${EMAIL} now`],
  ["a fullwidth sign", "Mail ada＠example.com now", `Mail ${EMAIL} now`],
  ["mathematical letters", "Mail 𝐚𝐝𝐚@𝐞𝐱𝐚𝐦𝐩𝐥𝐞.𝐜𝐨𝐦 now", `Mail ${EMAIL} now`],
  ["a quoted local part", 'Mail "ada lovelace"@example.com now', `Mail ${EMAIL} now`],
  ["a quoted local part with escapes", String.raw`Mail "ada\"x"@example.com now`, `Mail ${EMAIL} now`],
  ["a quoted local part in JSON", String.raw`{\"to\":\"\\\"ada\\\"@example.com\"}`, String.raw`{\"to\":\"${EMAIL}\"}`],
  ["bold of Markdown after the sign", "Mail a@**b.com** now", `Mail ${EMAIL}** now`],
  ["bold of Markdown in the domain", "Mail a@b**.com** now", `Mail ${EMAIL}** now`],
  ["code of Markdown", "Mail a@`b.com` now", `Mail ${EMAIL}\` now`],
  ["a link of Markdown", "Mail a@[b.com](http://b.test) now", `Mail ${EMAIL}](http://b.test) now`],
  ["an escaped sign", String.raw`Mail a\@b.com now`, `Mail ${EMAIL} now`],
  ["escapes in a string of JSON", String.raw`Mail a\\@b\\.com now`, `Mail ${EMAIL} now`],
  ["tags", "Mail <b>a</b>@<i>b.com</i> now", `Mail <b>${EMAIL}</i> now`],
  ["tags with attributes", `Mail a@<span class="x">b</span>.<wbr/>com now`, `Mail ${EMAIL} now`],
  ["escaped tags", "Mail &lt;b&gt;a&lt;/b&gt;@&lt;i&gt;b.com now", `Mail &lt;b&gt;${EMAIL} now`],
  ["a comment of HTML", "Mail a@<!-- x -->b.com now", `Mail ${EMAIL} now`],
  ["a line break after the sign", "Mail a@\nb.com now", `Mail ${EMAIL} now`],
  ["a quoted line break after the sign", "> Mail a@\r\n> b.com now", `> Mail ${EMAIL} now`],
  ["a line break in a string of JSON", String.raw`"Mail a@\nb.com now"`, `"Mail ${EMAIL} now"`],
  ["markup and a line break", "Mail a@**\nb.com** now", `Mail ${EMAIL}** now`],
  ["a combining mark after the sign", "Mail a@\u0301b.com now", `Mail ${EMAIL} now`],
  ["decomposed letters", "Mail jo\u0308rg@mu\u0308ller.de now", `Mail ${EMAIL} now`],
  ["an address of a network", "Mail a@[127.0.0.1] now", `Mail ${EMAIL} now`],
  ["an IPv6 address", "Mail a@[IPv6:2001:db8::1] now", `Mail ${EMAIL} now`],
  ["a card with dots", "It is 4111.1111.1111.1111.", `It is ${CARD}.`],
  ["a card on four lines", "It is 4111\n1111\r\n1111\n1111", `It is ${CARD}`],
  ["a card on two lines", "It is 4111 1111\n1111 1111, thanks", `It is ${CARD}, thanks`],
  ["a card with no-break spaces", "It is 4111\u00a01111\u00a01111\u00a01111", `It is ${CARD}`],
  ["a card with fullwidth digits", "It is ４１１１ １１１１ １１１１ １１１１", `It is ${CARD}`],
  ["a card with dashes", "It is 4111–1111–1111–1111", `It is ${CARD}`],
  ["a card with no-break hyphens", "It is 4111\u20111111\u20111111\u20111111", `It is ${CARD}`],
  ["a card with zero-width spaces", "It is 4111\u200b1111\u200b1111\u200b1111", `It is ${CARD}`],
  ["a card in an address", "?card=4012%208888%208888%201881&n", `?card=${CARD}&n`],
  [
    "an IBAN with no-break spaces",
    "An DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000, bitte",
    `An ${IBAN}, bitte`,
  ],
  ["an IBAN with narrow spaces", "An DE89\u202f3704\u202f0044\u202f0532\u202f0130\u202f00, bitte", `An ${IBAN}, bitte`],
  ["an IBAN with references", "An DE89&nbsp;3704&nbsp;0044&nbsp;0532&nbsp;0130&nbsp;00, bitte", `An ${IBAN}, bitte`],
  ["an IBAN on two lines", "An DE89 3704 0044\n0532 0130 00, bitte", `An ${IBAN}, bitte`],
])("masks all of a value in %s", (_name, text, expected) => {
  expect(masked(text, findPersonalData(text))).toBe(expected);
});

const CONNECTION = "<CONNECTION_STRING>";

test.each([
  ["a quote in an address", `db postgres://app:pa'ss"w0rd@db.test/x end`, `db ${CONNECTION} end`],
  ["a quoted password in an address", `db postgres://app:"p4ss"@db.test/x end`, `db ${CONNECTION} end`],
  ["a quoted password", `Server=db;User=sa;Password="s3;cr'et";Port=1`, `${CONNECTION};Port=1`],
  ["a password in single quotes", `Server=db;User=sa;Pwd='s3;cr"et';Port=1`, `${CONNECTION};Port=1`],
  ["a password in braces", "Driver={x};Server=db;Pwd={s3;cr}et};Port=1", `${CONNECTION};Port=1`],
  ["a password with a quote", `Server=db;User=sa;Password=s3cr"et;Port=1`, `${CONNECTION};Port=1`],
  ["a password after a quoted value", `Server=db;User="sa";Password=s3cret;Port=1`, `${CONNECTION};Port=1`],
  ["a connection in a string", `c = "Server=db;Password=s3cret"; x`, `c = "${CONNECTION}"; x`],
  ["a quote in an assigned password", `password = "pa'ss'w0rd!" x`, `password = "<PASSWORD>" x`],
  ["percent escapes", "db=postgres%3A%2F%2Fapp%3As3cret%40db.test%2Fx end", `db=${CONNECTION} end`],
  ["a key with a zero-width space", `AKIA\u200bIOSFODNN7ABCDEFG`, "<AWS_ACCESS_KEY>"],
])("masks all of a secret with %s", (_name, text, expected) => {
  expect(masked(text, findSecrets(text))).toBe(expected);
});

test.each([
  '{"link":"http://a:80","mail":"b@c.de"}',
  "if (a&lt=b) return 100%; x=40; y=20",
  "2019\n2020\n2021\n2022\n2023",
  "4111.1111.1111.1112 and 10.0.4111.1111.1111.1111.5",
])("finds no secret and no card in %j", (text) => {
  expect(findSecrets(text)).toEqual([]);
  expect(findPersonalData(text).filter(({ type }) => type === "CREDIT_CARD")).toEqual([]);
});

test.each([
  "Hello\n@app.get('/items')\ndef items(): ...",
  "npm install lib@^1.2.3 other@*.tgz",
  "push to user@*.example.com",
  "grep -E '\\w+@\\w+\\.com' <file.txt>",
  "see @src/file.ts and <b>@team</b>.<i>now.com</i>",
  "2 @ <b>3.50</b>",
  "a @ *b.com",
  "\\makeatletter \\def\\x\\@ifnextchar.y",
])("finds no address in %j", (text) => {
  expect(findPersonalData(text)).toEqual([]);
});

test("returns no other spelling for a plain text", () => {
  expect(plainSpelling("Größe 10 % — „äh“ 日本語, a=b & c; d:\\users\\x")).toBeUndefined();
});

test.each([
  "%25",
  "&amp;",
  "\\",
  "\\u005c",
  "=3D",
  "=\n",
  "\u200b",
  "＠",
  "%",
  "&#",
  '"@',
  '"',
  "4111\n",
  "1111.",
  "Server=",
  "a@*",
  "a@<b>",
  "<b a@",
  "a@\n",
  "\\@",
  "a@\u0301",
  "a@[",
])("ends its search of a hostile text of %j", (unit) => {
  const text = unit.repeat(Math.ceil(16_384 / unit.length));
  expect(Array.isArray(findPersonalData(text))).toBe(true);
  expect(Array.isArray(findSecrets(text))).toBe(true);
});
