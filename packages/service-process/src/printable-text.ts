/** Characters that control a terminal, or turn the direction of text; line feeds and tabs are no such ones. */
const UNPRINTABLE = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu;

/** Text that others may have written, for a terminal: lines and tabs stay, and each character that controls anything else is a space. */
export function printableText(text: string): string {
  return text.replaceAll(UNPRINTABLE, ' ');
}
