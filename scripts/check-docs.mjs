// docs/supported-dhcp.md and docs/supported-dhcpv6.md name a test for each requirement, and docs/security.md for each promise: every name must be that of a
// test. Every link must have a target, every page must be found, and ARCHITECTURE.md must name folders and files that exist.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findUndocumented } from './reference/api-pages.mjs';
import { findWrongDecisions } from './reference/check-decisions.mjs';
import { findWrongLinks } from './reference/check-links.mjs';
import { findWrongMentions } from './reference/check-mentions.mjs';
import { findWrongReasons } from './reference/check-reasons.mjs';
import { findUntested } from './reference/check-tests.mjs';
import { findWrongVariables } from './reference/check-variables.mjs';
import { REASONS } from './reference/facts.mjs';
import { referencePages } from './reference/pages.mjs';

const tests = globSync('{packages,tools}/**/*.test.ts', { exclude: (name) => name.includes('node_modules') })
  .concat('packages/dhcp-allocator/src/wire/fixtures/odd-packets.json')
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');
const problems = [];

for (const page of ['docs/supported-dhcp.md', 'docs/supported-dhcpv6.md'])
  for (const row of readFileSync(page, 'utf8').split('\n')) {
    const cells = row.split(' | ');
    if (row.startsWith('| §') || cells.length === 4) checkTestNames(page, cells[3] ?? '');
  }

// The last column of each table of docs/security.md holds the names of tests; a row without one promises what nothing shows.
for (const row of existsSync('docs/security.md') ? readFileSync('docs/security.md', 'utf8').split('\n') : []) {
  const isRow = row.startsWith('| ') && !row.startsWith('| ---') && !row.endsWith('| shown by |');
  if (!isRow) continue;
  const last = row.split(' | ').at(-1) ?? '';
  if (!/"[^"]+"/.test(last)) problems.push(`docs/security.md: this line names no test: ${row.slice(0, 100)}`);
  checkTestNames('docs/security.md', last);
}

function checkTestNames(page, cell) {
  for (const [, name] of cell.matchAll(/"([^"]+)"/g)) {
    const missing = name.split(' ... ').filter((part) => !tests.includes(part.replaceAll("'", "\\'")) && !tests.includes(part));
    if (missing.length > 0) problems.push(`${page} names a test that is not there: ${name}`);
  }
}

// docs/reference is generated.
for (const [path, text] of referencePages) {
  const isWritten = existsSync(path) && readFileSync(path, 'utf8') === text;
  if (!isWritten) problems.push(`${path} is not what \`npm run generate\` writes: build, then node scripts/write-reference.mjs`);
}
problems.push(...findWrongReasons(), ...findWrongVariables(), ...findUntested(), ...findUndocumented());
for (const named of ['--dry-run', 'POD_NAME', 'vmdhcp_agent_leading'])
  if (
    !findUntested('').some((problem) => problem.includes(named)) ||
    findUntested(named).some((problem) => problem.includes(`${named} `))
  )
    problems.push(`the check of tests does not see whether ${named} stands in one`);

// The check is tried on what it must refuse and on what it must accept: a check that finds nothing is useless.
const refused = [
  '`vmdhcp-agent serve --pool x`',
  '`--no-such-flag`',
  'AGENT_NO_SUCH_VARIABLE',
  'network.harvesterhci.io/no-such-key',
  'vmdhcp_agent_no_such_metric',
  '`NoSuchReasonAtAll`',
  '`@vmdhcp/no-such-package`',
  '`@vmdhcp/reconciler/no-such-subpath`',
  '`packages/reconciler/src/no-such-file.ts`',
];
const accepted = [
  '`vmdhcp-agent leases --pool x` and `vmdhcp-agent serve --dry-run | grep --color x`',
  '`--agent-topology per-pool`',
  'AGENT_IMAGE',
  'network.harvesterhci.io/log-level, static-ip.harvesterhci.io/nic and network.harvesterhci.io/v1alpha1',
  'vmdhcp_agent_answer_duration_seconds_bucket',
  '`PoolExhausted` and `AgentReady`',
  '`@vmdhcp/reconciler/pool` of `packages/reconciler/src/pool/index.ts`',
];
for (const text of refused)
  if (findWrongMentions('docs/tried.md', text).length !== 1) problems.push(`the check does not refuse ${text}`);
for (const text of accepted)
  if (findWrongMentions('docs/tried.md', text).length !== 0) problems.push(`the check refuses ${text}`);

const pages = globSync('**/*.md', { exclude: (name) => name.includes('node_modules') });
for (const page of pages) problems.push(...findWrongMentions(page, readFileSync(page, 'utf8')));
problems.push(...findWrongLinks(pages));

// The check of links, tried on pages that are wrong in one way each.
const tried = {
  'docs/README.md': '[one](one.md)\n',
  'docs/one.md':
    '# One\n\n## A `code`, twice\n\n## A `code`, twice\n\n[two](two.md#a-heading)\n\nNext: [here](#a-code-twice-1).\n',
  'docs/two.md': '# Two\n\n## A heading\n\n```\n[no link](nowhere.md)\n```\n\nNext: [one](one.md).\n',
};
const triedWith = (changes) =>
  findWrongLinks([...new Set([...Object.keys(tried), ...Object.keys(changes)])], (path) => changes[path] ?? tried[path]);
const WRONG = {
  'which is not there': { 'docs/two.md': `${tried['docs/two.md']}\n[x](nowhere.md)\n\nNext: [one](one.md).` },
  'has no such heading': { 'docs/two.md': tried['docs/two.md'].replace('## A heading', '## Another heading') },
  'is not found from': { 'docs/three.md': tried['docs/two.md'] },
  'does not end with': { 'docs/two.md': tried['docs/two.md'].replace('Next: [one](one.md).', '') },
};
if (triedWith({}).length > 0) problems.push(`the check of links refuses ${triedWith({}).join(', ')}`);
for (const [wanted, changes] of Object.entries(WRONG)) {
  const found = triedWith(changes);
  if (found.length !== 1 || !found[0].includes(wanted))
    problems.push(`the check of links finds "${found.join(', ')}", not: ${wanted}`);
}

// The check of decisions, tried on records that are wrong in one way each.
const record =
  '# 1. One\n\nStatus: accepted\n\nDate: 2026-01-31\n\n## Context\n\nA\n\n## Decision\n\nB\n\n## Consequences\n\nC, see ADR 1.\n';
const recordsWith = (text) => ({
  'docs/decisions/README.md': '[1](0001-one.md)',
  ...(text === undefined ? {} : { 'docs/decisions/0001-one.md': text }),
});
const WRONG_DECISIONS = {
  'does not begin with': [recordsWith(record.replace('# 1.', '# 2.'))],
  'has no line "Status': [recordsWith(record.replace('accepted', 'proposed'))],
  'has no line "Date': [recordsWith(record.replace('2026-01-31', 'January'))],
  'has other headings': [recordsWith(record.replace('## Consequences', '## Costs'))],
  'has 323 words': [recordsWith(record.replace('A', 'word '.repeat(305)))],
  'docs/decisions has 16080 words': [
    Object.fromEntries([
      [
        'docs/decisions/README.md',
        Array.from({ length: 60 }, (_, at) => `[x](${String(at + 1).padStart(4, '0')}-x.md)`).join(' '),
      ],
      ...Array.from({ length: 60 }, (_, at) => [
        `docs/decisions/${String(at + 1).padStart(4, '0')}-x.md`,
        record.replace('# 1.', `# ${at + 1}.`).replace('A', 'word '.repeat(250)),
      ]),
    ]),
  ],
  'names ADR 7': [recordsWith(record.replace('ADR 1', 'ADR 7'))],
  'names decisions/0007': [recordsWith(record), { 'a.ts': '// docs/decisions/0007 has why' }],
  'does not list': [{ ...recordsWith(record), 'docs/decisions/README.md': '' }],
};
if (findWrongDecisions(recordsWith(record), {}).length > 0) problems.push('the check of decisions refuses a right record');
for (const [wanted, [records, naming = {}]] of Object.entries(WRONG_DECISIONS)) {
  const found = findWrongDecisions(records, naming);
  if (found.length !== 1 || !found[0].includes(wanted))
    problems.push(`the check of decisions finds "${found.join(', ')}", not: ${wanted}`);
}
problems.push(...findWrongDecisions());

// Each reason that needs a person is in the page that people read when something is wrong.
const troubleshooting = readFileSync('docs/troubleshooting.md', 'utf8');
for (const reason of Object.keys(REASONS))
  if (!troubleshooting.includes(`\`${reason}\``)) problems.push(`docs/troubleshooting.md does not name the reason ${reason}`);

// `agent-cli/src/serve` is a path in packages/ or tools/; `plan-agents.ts` is a file somewhere in them.
const files = globSync('{packages,tools}/*/{src,crds,tests}/**', { exclude: (name) => name.includes('node_modules') });
const fileNames = new Set(files.map((path) => basename(path)));
for (const [, name] of readFileSync('ARCHITECTURE.md', 'utf8').matchAll(/`([\w.-]+(?:\/[\w.-]+)*)`/g)) {
  const isPath = name.includes('/');
  const exists = isPath ? ['', 'packages', 'tools'].some((folder) => existsSync(join(folder, name))) : fileNames.has(name);
  if ((isPath || name.endsWith('.ts')) && !exists) problems.push(`ARCHITECTURE.md names ${name}, which does not exist`);
}
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);
