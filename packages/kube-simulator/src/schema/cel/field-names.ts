/** Words of CEL that a field cannot be called by. */
const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const escapes = [
  ['__', '__underscores__'],
  ['.', '__dot__'],
  ['-', '__dash__'],
  ['/', '__slash__'],
] as const;

/** Returns how a rule calls the field `name`; nothing where it cannot. */
export function escapeField(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`;
  const escaped = escapes.reduce((text, [plain, word]) => text.replaceAll(plain, word), name);
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(escaped) ? escaped : undefined;
}

/** Returns the field that a rule calls `name`. */
export function unescapeField(name: string): string {
  if (!name.includes('__')) return name;
  const bare = /^__([a-z]+)__$/.exec(name)?.[1];
  if (bare !== undefined && reserved.has(bare)) return bare;
  return name.replaceAll(/__(?:underscores|dot|dash|slash)__/g, (word) => escapes.find(([, text]) => text === word)?.[0] ?? word);
}
