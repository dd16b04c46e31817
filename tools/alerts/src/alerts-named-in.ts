/** Alerts that a test waits for: the names in its calls of `fires`. @param source - of the test, in TypeScript. */
export function alertsNamedIn(source: string): readonly string[] {
  const calls = [...source.matchAll(/\.fires\(([^)]*)\)/g)];
  const names = calls.flatMap(([, parameters = '']) => [...parameters.matchAll(/'(Vmdhcp\w+)'/g)].map(([, name = '']) => name));
  return [...new Set(names)].toSorted();
}
