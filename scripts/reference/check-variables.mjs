// Each environment variable that a source reads is documented, and each documented one is read.
import { globSync, readFileSync } from 'node:fs';
import { programs } from './facts.mjs';

const SOURCES = 'packages/*/{src,bin}/**/*.{ts,js}';
/** `process.env['NAME']`, `process.env.NAME`, `environment['NAME']`, `isSet('NAME')`, `read('NAME')`. */
const READ = /(?:process\.env|environment)(?:\[['"]|\.)([A-Z][A-Z0-9_]+)|\b(?:isSet|read)\('([A-Z][A-Z0-9_]+)'\)/g;

/** One sentence for each variable that is read and not documented, or documented and nowhere in the sources. */
export function findWrongVariables() {
  const paths = globSync(SOURCES).filter(
    (path) => !/\.test\.ts$|-fixtures\.ts$|\/testing\//.test(path) && !path.endsWith('/program.ts'),
  );
  const text = paths.map((path) => readFileSync(path, 'utf8')).join('\n');
  const read = new Set([...text.matchAll(READ)].map(([, direct, byFunction]) => direct ?? byFunction));
  const ofFlags = programs.flatMap(({ commands }) =>
    commands.flatMap(({ options }) => options.flatMap(({ variable }) => variable ?? [])),
  );
  const documented = new Set([...ofFlags, ...programs.flatMap(({ environment }) => Object.keys(environment))]);
  return [
    ...[...read].filter((name) => !documented.has(name)).map((name) => `variable ${name} is read, and in no program.ts`),
    ...[...documented]
      .filter((name) => !text.includes(name))
      .map((name) => `variable ${name} is documented, and no source reads it`),
  ];
}
