/** Words of CEL: a field of that name is called with `__` around it. */
const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const escapes: ReadonlyMap<string, string> = new Map([
  ['__underscores__', '__'],
  ['__dot__', '.'],
  ['__dash__', '-'],
  ['__slash__', '/'],
]);

/** Returns the field that a rule calls `name`. */
export function unescapeField(name: string): string {
  if (!name.includes('__')) return name;
  const bare = /^__([a-z]+)__$/.exec(name)?.[1];
  if (bare !== undefined && reserved.has(bare)) return bare;
  return name.replaceAll(/__(?:underscores|dot|dash|slash)__/g, (word) => escapes.get(word) ?? word);
}
