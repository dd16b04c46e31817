// Reads what every source of packages and tools imports, and the globals that pure code uses, and reports what the table of scripts/walls.mjs
// refuses. First it tries itself: a check that finds nothing would pass for ever.
import { globSync, readFileSync } from 'node:fs';
import { ALLOWED, REFUSED, TABLE, TABLES } from './import-walls/trials.mjs';
import { isJudged, judgeSource, judgeTable } from './import-walls.mjs';
import { PACKAGES } from './walls.mjs';

const paths = globSync('{packages,tools}/*/src/**/*.ts').filter(isJudged).toSorted();
const names = globSync('{packages,tools}/*/package.json').map((path) => JSON.parse(readFileSync(path, 'utf8')).name);
const judged = paths.map((path) => judgeSource(path, readFileSync(path, 'utf8'), PACKAGES));
const imports = judged.reduce((sum, one) => sum + one.imports, 0);

const problems = [
  ...tryRules(),
  ...judgeTable(paths, names, PACKAGES),
  ...judged.flatMap(({ findings }) => findings),
  ...(imports < paths.length ? ['hardly any import was read: the pattern of the sources or the parser is wrong'] : []),
];
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.stdout.write(`${paths.length} files, ${imports} imports read\n`);
process.exit(problems.length === 0 ? 0 : 1);

/** Each planted source has the finding that it should have and no other; each allowed one has none. */
function tryRules() {
  const judge = (path, text) => judgeSource(path, text, TABLE).findings;
  return [
    ...REFUSED.flatMap(([path, text, wanted]) => compare(judge(path, text), wanted, `${path} with ${JSON.stringify(text)}`)),
    ...ALLOWED.flatMap(([path, text]) => compare(judge(path, text), undefined, `${path} with ${JSON.stringify(text)}`)),
    ...TABLES.flatMap(([files, entry, wanted]) => {
      const table = entry === undefined ? {} : { [files[0]?.startsWith('tools/') ? 'tools/a' : 'packages/a']: entry };
      return compare(
        judgeTable(files, ['@vmdhcp/a'], table),
        wanted,
        `the table ${JSON.stringify(table)} for ${files.join(', ')}`,
      );
    }),
  ];
}

function compare(findings, wanted, what) {
  const isRight = wanted === undefined ? findings.length === 0 : findings.length === 1 && findings[0].includes(wanted);
  return isRight ? [] : [`the check finds ${JSON.stringify(findings)} and not "${wanted ?? 'nothing'}" in ${what}`];
}
