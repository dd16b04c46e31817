// Which exported names are defined in more than one source of the packages.
import { parseSync } from 'oxc-parser';

/** Whether a path is a source whose names count: not a test, nor what only tests load. */
export function isNamed(path) {
  return /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && !/\.test\.ts$|-fixtures\.ts$|\/testing\//.test(path);
}

/** The names that a source defines and exports; what it passes on from another file is not defined there. */
export function namesIn(path, text) {
  const { module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be read: ${errors[0].message}`);
  const entries = module.staticExports.flatMap((statement) => statement.entries);
  return new Set(
    entries.flatMap(({ moduleRequest, exportName }) => (moduleRequest || !exportName.name ? [] : [exportName.name])),
  );
}

/**
 * Every name with the files that define it, and the findings: names with two definitions that the table does not allow, and entries of the table
 * that no longer have two, so that it only shrinks.
 *
 * @param sources - `[path, text]`
 * @param allowed - name to reason
 */
export function judgeNames(sources, allowed) {
  const files = new Map();
  for (const [path, text] of sources) for (const name of namesIn(path, text)) files.set(name, [...(files.get(name) ?? []), path]);
  const twice = [...files].filter(([, paths]) => paths.length > 1).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const isTwice = (name) => (files.get(name)?.length ?? 0) > 1;
  const findings = [
    ...twice
      .filter(([name]) => !Object.hasOwn(allowed, name))
      .map(
        ([name, paths]) =>
          `${name} is defined in ${paths.join(' and ')}; import one of them, or give one a name that says what it is`,
      ),
    ...Object.keys(allowed)
      .filter((name) => !isTwice(name))
      .map((name) => `${name} is not defined twice any more; remove it from ALLOWED in scripts/check-names.mjs`),
  ];
  return { names: files.size, twice: twice.length, findings };
}
