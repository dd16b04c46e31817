/** Characters that control a terminal, or turn the direction of text; line feeds and tabs are no such ones. */
const UNPRINTABLE = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu;

/** Text that others may have written, for a terminal: lines and tabs stay, and each character that controls anything else is a space. */
export function printableText(text: string): string {
  return text.replaceAll(UNPRINTABLE, ' ');
}

/**
 * A value as JSON for a terminal: what would control it is escaped, which means the same to whoever reads JSON.
 *
 * @param indent - spaces; undefined: one line.
 */
export function printableJson(value: unknown, indent?: number): string {
  return escapeUnprintable(JSON.stringify(value, undefined, indent));
}

/** JSON, or YAML whose unprintable texts are in double quotes. */
export function escapeUnprintable(json: string): string {
  // All of these are in the Basic Multilingual Plane: four digits are enough.
  return json.replaceAll(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
