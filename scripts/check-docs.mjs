// docs/supported-dhcp.md names a test for each requirement: every name must be that of a test, and every link lead somewhere.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const tests = globSync('packages/**/*.test.ts', { exclude: (name) => name.includes('node_modules') })
  .concat('packages/lab/src/bad-packets.ts')
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');
const problems = [];

for (const row of readFileSync('docs/supported-dhcp.md', 'utf8').split('\n')) {
  const cells = row.split(' | ');
  if (!row.startsWith('| §') && cells.length !== 4) continue;
  for (const [, name] of (cells[3] ?? '').matchAll(/"([^"]+)"/g)) {
    const missing = name.split(' ... ').filter((part) => !tests.includes(part.replaceAll("'", "\\'")) && !tests.includes(part));
    if (missing.length > 0) problems.push(`docs/supported-dhcp.md names a test that is not there: ${name}`);
  }
}

const pages = globSync('**/*.md', { exclude: (name) => name.includes('node_modules') });
for (const page of pages) {
  for (const [, target] of readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
    if (!existsSync(join(dirname(page), target))) problems.push(`${page} links to ${target}, which is not there`);
  }
}
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);
