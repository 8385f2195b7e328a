import fc from "fast-check";
import { expect, test } from "vitest";
import { DEFAULT_ENTITIES, personalDataFinder } from "./find-personal-data.ts";

const find = personalDataFinder();
const found = (text: string) => find(text).map(({ type, start, end }) => [type, text.slice(start, end)]);

test.each([
  ["Write to Ada.Lovelace+x@example.co.uk.", "EMAIL_ADDRESS", "Ada.Lovelace+x@example.co.uk"],
  ["(mailto:jörg@müller.de)", "EMAIL_ADDRESS", "jörg@müller.de"],
  ["ada [at] example [dot] com", "EMAIL_ADDRESS", "ada [at] example [dot] com"],
  ["Call +49 30 901820 today", "PHONE_NUMBER", "+49 30 901820"],
  ["Call me at (212) 555-0147.", "PHONE_NUMBER", "(212) 555-0147"],
  ["My number is 212-736-5000 x12", "PHONE_NUMBER", "212-736-5000 x12"],
  ["Telefon: 030 901820", "PHONE_NUMBER", "030 901820"],
  ["Tel. 020 7946 0958", "PHONE_NUMBER", "020 7946 0958"],
  ["IBAN DE89 3704 0044 0532 0130 00, thanks", "IBAN_CODE", "DE89 3704 0044 0532 0130 00"],
  ["account GB33BUKB20201555555555 THANKS", "IBAN_CODE", "GB33BUKB20201555555555"],
  ["card 4111 1111 1111 1111 12/28", "CREDIT_CARD", "4111 1111 1111 1111"],
  ["It is 5500005555555559.", "CREDIT_CARD", "5500005555555559"],
  ["Amex 3782 822463 10005", "CREDIT_CARD", "3782 822463 10005"],
  ["pay 1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "CRYPTO", "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"],
  ["or bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "CRYPTO", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"],
  ["from 203.0.113.77:443", "IP_ADDRESS", "203.0.113.77"],
  ["from 2001:db8::8a2e:370:7334", "IP_ADDRESS", "2001:db8::8a2e:370:7334"],
  ["card 00:1B:44:11:3A:B7", "MAC_ADDRESS", "00:1B:44:11:3A:B7"],
  ["My SSN is 078-05-1120.", "US_SSN", "078-05-1120"],
  ["social security number 078051120", "US_SSN", "078051120"],
  ["NHS number 943 476 5919", "UK_NHS", "943 476 5919"],
  ["NI: QQ is not valid, AB 12 34 56 C is", "UK_NINO", "AB 12 34 56 C"],
  ["Steuer-ID 86 095 742 719", "DE_TAX_ID", "86 095 742 719"],
  ["Versicherung 65 170839 J 003", "DE_SOCIAL_SECURITY", "65 170839 J 003"],
  ["NIR 2 55 08 14 168 025 38", "FR_NIR", "2 55 08 14 168 025 38"],
  ["DNI 12345678Z", "ES_NIF", "12345678Z"],
  ["NIE X1234567L", "ES_NIE", "X1234567L"],
  ["CF RSSMRA85T10A562S", "IT_FISCAL_CODE", "RSSMRA85T10A562S"],
  ["BSN 111222333", "NL_BSN", "111222333"],
  ["PESEL 44051401359", "PL_PESEL", "44051401359"],
  ["hetu 131052-308T", "FI_PERSONAL_IDENTITY_CODE", "131052-308T"],
  ["personnummer 811218-9876", "SE_PERSONNUMMER", "811218-9876"],
  ["AHV 756.9217.0769.85", "CH_AHV", "756.9217.0769.85"],
  ["CPF 529.982.247-25", "BR_CPF", "529.982.247-25"],
  ["aadhaar 2341 2341 2346", "IN_AADHAAR", "2341 2341 2346"],
  ["NRIC S1234567D", "SG_NRIC_FIN", "S1234567D"],
  ["tfn 123 456 782", "AU_TFN", "123 456 782"],
  [
    "I live at 742 Evergreen Terrace, Springfield, OR 97475.",
    "LOCATION",
    "742 Evergreen Terrace, Springfield, OR 97475",
  ],
  ["Er wohnt in der Hauptstraße 12a, 10827 Berlin.", "LOCATION", "Hauptstraße 12a, 10827 Berlin"],
  ["au 12 rue de la Paix, 75002 Paris", "LOCATION", "12 rue de la Paix, 75002 Paris"],
  ["en Calle de Alcalá 42", "LOCATION", "Calle de Alcalá 42"],
])("finds the entity in %j", (text, type, value) => {
  expect(found(text)).toContainEqual([type, value]);
});

test.each([
  "C4 and S3 are not names, nor are EC2, B2B and K8s.",
  "Order number 4111111111111112 and order 302-5551234-1234567",
  "order no. 4111111111111111",
  "Part number 123-45-6789, SKU AB123456C, serial 943 476 5919",
  "version 1.2.3.4 of 2024-01-15 14:30:00",
  "Chrome/120.0.0.1 on 127.0.0.1",
  "123e4567-e89b-12d3-a456-426614174000",
  "d41d8cd98f00b204e9800998ecf8427e da39a3ee5e6b4b0d3255bfef95601890afd80709",
  "π is 3.14159265358979 and e 2.718281828459045",
  "On 15.01.2024 at 10:30, 1,234,567.89 euros",
  "std::vector<int>::iterator",
  "ISBN 978-3-16-148410-0, EAN 4006381333931",
  "1700000000000 milliseconds, 1234567890123456789 nanoseconds",
  "Not@here or user@localhost",
])("finds nothing in %j", (text) => {
  expect(found(text)).toEqual([]);
});

test("finds only the entities that it was created for", () => {
  const cards = personalDataFinder({ entities: ["CREDIT_CARD"] });
  expect(cards("a@example.com 4111 1111 1111 1111").map(({ type }) => type)).toEqual(["CREDIT_CARD"]);
  expect(DEFAULT_ENTITIES).not.toContain("URL");
});

test("names an unknown entity or region", () => {
  expect(() => personalDataFinder({ entities: ["EMAIL"] })).toThrow("EMAIL is not an entity: AT_SVNR, ");
  expect(() => personalDataFinder({ regions: ["XX"] })).toThrow("XX is not a region");
});

test("finds an address between any characters that cannot belong to it", () => {
  const separator = fc.constantFrom(" ", "\n", "(", ")", '"', "<", ">", ",", ";", "\t", "。");
  fc.assert(
    fc.property(separator, separator, (before, after) => {
      expect(found(`see${before}ada@example.com${after}`)).toContainEqual(["EMAIL_ADDRESS", "ada@example.com"]);
    }),
  );
});
