/** Check digits of cards, accounts and national numbers. Each takes digits without separators. */

export function digitsOf(text: string): number[] {
  const digits: number[] = [];
  for (const character of text) if (character >= "0" && character <= "9") digits.push(Number(character));
  return digits;
}

/** ISO/IEC 7812-1, annex B. */
export function isLuhn(digits: readonly number[]): boolean {
  let sum = 0;
  for (let index = digits.length - 1, isDoubled = false; index >= 0; index -= 1, isDoubled = !isDoubled) {
    const digit = digits[index] ?? 0;
    sum += isDoubled ? (digit > 4 ? 2 * digit - 9 : 2 * digit) : digit;
  }
  return sum % 10 === 0;
}

export function weightedSum(digits: readonly number[], weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * (digits[index] ?? 0), 0);
}

/** ISO/IEC 7064, MOD 11,10: the last digit checks the others. */
export function isMod11_10(digits: readonly number[]): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) {
    const sum = (digit + product) % 10 || 10;
    product = (2 * sum) % 11;
  }
  return (11 - product) % 10 === digits.at(-1);
}

/** Remainder of a decimal number of any length. */
export function remainder(digits: string, divisor: number): number {
  let rest = 0;
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % divisor;
  return rest;
}

/** ISO 13616: letters count from 10, and the first four characters move to the end. */
export function isIbanChecked(iban: string): boolean {
  const moved = iban.slice(4) + iban.slice(0, 4);
  return (
    remainder(
      moved.replace(/[A-Z]/g, (letter) => `${letter.charCodeAt(0) - 55}`),
      97,
    ) === 1
  );
}

const VERHOEFF_PERMUTATION = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];

/** Product in the dihedral group of order 10. */
function dihedral(a: number, b: number): number {
  if (a < 5) return b < 5 ? (a + b) % 5 : 5 + ((a + b) % 5);
  return b < 5 ? 5 + ((a - b + 5) % 5) : (a - b + 5) % 5;
}

export function isVerhoeff(digits: readonly number[]): boolean {
  let check = 0;
  for (const [position, digit] of digits.toReversed().entries()) {
    let permuted = digit;
    for (let times = position % 8; times > 0; times -= 1) permuted = VERHOEFF_PERMUTATION[permuted] ?? 0;
    check = dihedral(check, permuted);
  }
  return check === 0;
}

/** Whether a year of two digits (of any century), a month and a day can be a date. */
export function isDate(month: number, day: number): boolean {
  return (
    month >= 1 && month <= 12 && day >= 1 && day <= ([2, 4, 6, 9, 11].includes(month) ? (month === 2 ? 29 : 30) : 31)
  );
}
