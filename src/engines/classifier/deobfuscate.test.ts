import { expect, test } from "vitest";
import { deobfuscate } from "./deobfuscate.ts";

test.each([
  ["look-alike letters of other scripts", "I will \u043a\u0456ll y\u043eu", "i will kill you"],
  ["full-width letters", "\uff4b\uff49\uff4c\uff4c", "kill"],
  ["zero-width characters", "k\u200bi\u200dl\u2060l", "kill"],
  ["right-to-left marks", "\u202ekill\u202c", "kill"],
  ["digits for letters", "k1ll th3m", "kill them"],
  ["signs for letters", "you a$$hole, @ss", "you asshole, ass"],
  ["spaced letters", "k i l l yourself", "kill yourself"],
  ["dotted letters", "k.i.l.l yourself", "kill yourself"],
  ["masked words", "f*ck this sh#t", "fuck this shit"],
  ["letters between slashes", "k/i/l/l, y~o~u", "kill, you"],
  ["letters on lines of their own", "k\ni\nl\nl", "kill"],
  ["HTML between letters", 'k<b>i</b>l<span style="color:red">l</span><!-- --> y<wbr>ou', "kill you"],
  ["blocks of HTML", "<p>one</p><p>two</p>", " one  two "],
  ["escaped HTML and entities", "k&#105;l&#x6c; &lt;b&gt;y&shy;ou&lt;/b&gt;", "kill you"],
  ["repeated letters", "fuuuuck", "fuck"],
])("reverses %s", (_way, obfuscated, plain) => {
  expect(deobfuscate(obfuscated)).toBe(plain);
});

test.each([
  "mp3 and 2x4 and 3rd",
  "write to bob@example.com",
  "see http://x.com/a1b2",
  "кто ты",
  "covid19",
  "map<string, number>",
  "a<b and c>d",
  "&#0;",
  '<b title="i will kill">',
  "",
  "a b",
])("leaves %j unchanged", (text) => {
  expect(deobfuscate(text)).toBe(text);
});
