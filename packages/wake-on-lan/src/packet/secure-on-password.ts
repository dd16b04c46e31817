/** Four or six octets after a magic packet, without which some machines do not wake. They travel in clear text. */
export type SecureOnPassword = Uint8Array;

const PASSWORD_LENGTHS: readonly number[] = [4, 6];
const DOTTED = /^\d{1,3}(\.\d{1,3}){3}$/;
const HEXADECIMAL = /^[0-9a-f]{2}([:-])[0-9a-f]{2}(\1[0-9a-f]{2}){2}((\1[0-9a-f]{2}){2})?$/i;

/** True for 4 or 6 octets. */
export function isPasswordLength(octets: number): boolean {
  return PASSWORD_LENGTHS.includes(octets);
}

/**
 * The password that `text` spells: four decimal octets (`192.168.1.1`), or four or six hexadecimal ones (`00:22:44:66:88:aa`),
 * like in etherwake. Undefined if it is not a password.
 */
export function parseSecureOnPassword(text: string): SecureOnPassword | undefined {
  if (DOTTED.test(text)) {
    const octets = text.split('.').map(Number);
    return octets.every((octet) => octet <= 255) ? Uint8Array.from(octets) : undefined;
  }
  if (!HEXADECIMAL.test(text)) return undefined;
  return Uint8Array.from(text.split(/[:-]/), (octet) => Number.parseInt(octet, 16));
}

/** True if both have the same octets. Always compares all of them. */
export function isSamePassword(one: SecureOnPassword, other: SecureOnPassword): boolean {
  if (one.length !== other.length) return false;
  return one.reduce((difference, octet, index) => difference | (octet ^ (other[index] ?? 0)), 0) === 0;
}
