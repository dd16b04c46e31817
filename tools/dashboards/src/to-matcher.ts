/**
 * A regular expression of RE2 that matches these texts and no others, as it stands between the quotes of `label=~"..."`: whatever a pool or a
 * virtual machine is called, it is a name. @param texts - undefined: any.
 */
export function toMatcher(texts: readonly string[] | undefined): string {
  if (texts === undefined) return '.*';
  return texts.map((text) => quoted(text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))).join('|');
}

/** Source: PromQL, string literals: as in Go. */
function quoted(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', String.raw`\"`).replaceAll('\n', String.raw`\n`);
}
