/** Characters that control a terminal, or change the direction of text, except line feeds and tabs. */
const UNPRINTABLE = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu;

/** Makes untrusted text safe for a terminal: line feeds and tabs stay, and any other control character becomes a space. */
export function printableText(text: string): string {
  return text.replaceAll(UNPRINTABLE, ' ');
}

/**
 * A value as JSON for a terminal: control characters are escaped, which does not change its meaning.
 *
 * @param indent - spaces; undefined for one line.
 */
export function printableJson(value: unknown, indent?: number): string {
  return escapeUnprintable(JSON.stringify(value, undefined, indent));
}

/** JSON, or YAML whose unprintable texts are in double quotes. */
export function escapeUnprintable(json: string): string {
  // All of these are in the Basic Multilingual Plane: four digits are enough.
  return json.replaceAll(UNPRINTABLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
