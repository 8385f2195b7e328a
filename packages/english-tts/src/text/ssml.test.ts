import { expect, test } from "vitest";
import { toSegments } from "./to-segments.ts";

const LIMITS = { maxInputCharacters: 4096, maxSentenceCharacters: 200 };
const segments = (text: string) =>
  toSegments(text, LIMITS).map((segment) => ("sentence" in segment ? segment.sentence : segment.pauseSeconds));

test.each([
  ['<speak>One.<break time="500ms"/>Two.</speak>', ["One.", 0.5, "Two."]],
  ['<speak>One <break time="1.5s"/> two.</speak>', ["One", 1.5, "two."]],
  ["<speak>One<break/>two<break strength='strong'/>three</speak>", ["One", 0.5, "two", 0.75, "three"]],
  ['Hello <break time="1s"/> R&D & you < 3', ["Hello", 1, "R&D & you < 3"]],
  ["<speak><p><s>One</s><s>Two</s></p></speak>", ["One", "Two"]],
  ['<speak>Call <say-as interpret-as="digits">911</say-as> now.</speak>', ["Call nine one one now."]],
  ['<speak><say-as interpret-as="characters">HTML5</say-as></speak>', ["H, T, M, L, five"]],
  [
    '<speak>the <say-as interpret-as="ordinal">3</say-as> of <say-as interpret-as="cardinal">1,250</say-as></speak>',
    ["the third of one thousand two hundred fifty"],
  ],
  ['<speak><say-as interpret-as="telephone">555-12</say-as></speak>', ["five five five, one two"]],
  ['<speak>do it <emphasis level="strong">now</emphasis>, please</speak>', ["do it now, please"]],
  ['<speak><sub alias="World Wide Web">WWW</sub> &amp; more</speak>', ["World Wide Web & more"]],
])("reads %j as %j", (text, expected) => {
  expect(segments(text)).toEqual(expected);
});

test.each([
  ['<speak>Son <say-as interpret-as="digits">911</say-as>.</speak>', ["Son 9, 1, 1."]],
  ['<speak><say-as interpret-as="characters">abc</say-as></speak>', ["A, B, C"]],
  ['<speak>el <say-as interpret-as="ordinal">3</say-as> día</speak>', ["el 3.º día"]],
])("leaves digits of %j to the rules of its language", (text, expected) => {
  const read = toSegments(text, { ...LIMITS, language: "es" });
  expect(read.map((segment) => "sentence" in segment && segment.sentence)).toEqual(expected);
});

test.each([
  ["<speak><voice>now</voice></speak>", /<voice> is not supported; <speak>, .*<break>/],
  ['<prosody rate="slow">now</prosody>', /<prosody> is not supported/],
  ["<speak>never closed", /not well-formed XML/],
  ['<break time="soon"/> now', /time="soon" is not a number of s or ms/],
  ['<break time="1h"/> now', /time="1h"/],
  ['<break time="60s"/> now', /at most 10 s, not 60 s/],
  [`${'<break time="10s"/>'.repeat(31)} now`, /breaks of a text may take at most 300 s together/],
  ['<break strength="huge"/> now', /strength="huge" is not one of none/],
  ['<say-as interpret-as="date">now</say-as>', /interpret-as="date" is not one of characters/],
  ['<say-as interpret-as="ordinal">now</say-as>', /"now" cannot be read as ordinal/],
])("rejects %j", (text, message) => {
  expect(() => segments(text)).toThrow(message);
  expect(() => segments(text)).toThrow(expect.objectContaining({ code: "invalid_ssml" }));
});

test.each(["a < b and c > d", "the <p> tag of HTML", "I <3 you"])("does not treat %j as SSML", (text) => {
  expect(segments(text)).toEqual([text]);
});

test("rejects SSML without content to speak", () => {
  expect(() => segments('<speak><break time="1s"/></speak>')).toThrow(/nothing that can be spoken/);
});
