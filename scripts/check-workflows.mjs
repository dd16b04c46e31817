// .github: workflows and actions are valid as GitHub's own language service finds it (keys, contexts, functions, jobs that need each other), and keep our
// rules: the least rights, actions by commit, no text of others in a script, an end for each job. Tried first on what it must refuse. And `.ci/run`
// installs what tests need.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { parse } from 'yaml';
import { REAL_PROGRAMS } from '../tools/lab/dist/real-program.js';

// The package is written for bundlers: it imports JSON as if it were a module.
registerHooks({
  load: (url, context, next) => next(url, url.endsWith('.json') ? { ...context, importAttributes: { type: 'json' } } : context),
});
const { validate } = await import('@actions/languageservice');

/** What each rule must find, with a part of what it prints. */
const REFUSED = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: GitHub's syntax
  ['steps:\n      - run: echo ${{ github.event.issue.title }}', 'env'],
  ['steps:\n      - uses: actions/checkout@v4', 'commit'],
  ['steps:\n      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1', 'persist-credentials'],
  ['steps:\n      - run: "true"\n    timeout_minutes: 5', 'Unexpected value'],
  ['steps:\n      - run: npm run --silent no-such-script', 'which is not there'],
  ['steps:\n      - run: node scripts/no-such-file.mjs', 'which is not there'],
  ['needs: missing\n    steps: [{ run: "true" }]', "'missing' is not valid"],
  ['steps:\n      - run: "true"\n        if: gihub.ref', 'Unrecognized named-value'],
];
const frame = (job) =>
  `on: push\npermissions: {}\njobs:\n  one:\n    runs-on: ubuntu-24.04\n    timeout-minutes: 5\n    permissions: {}\n    ${job}\n`;

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const problems = [];
const installed = new Set(readFileSync('.ci/run', 'utf8').split(/[\s()]+/));
// Debian is not without dpkg.
for (const name of new Set(Object.values(REAL_PROGRAMS)))
  if (name !== 'dpkg' && !installed.has(name)) problems.push(`.ci/run does not install ${name}, which a test needs`);
/** The language service remembers what it found by the address of a document. */
let documents = 0;
for (const [job, wanted] of REFUSED) {
  const found = await check('tried.yml', frame(job));
  if (!found.some((problem) => problem.includes(wanted))) problems.push(`the check does not refuse (${wanted}): ${job}`);
}
for (const [text, wanted] of [
  [frame('steps: [{ run: "true" }]').replace('permissions: {}\n', ''), 'permissions'],
  [frame('steps: [{ run: "true" }]').replace('    timeout-minutes: 5\n', ''), 'timeout-minutes'],
  [frame('steps: [{ run: "true" }]').replace('on: push', 'on: pull_request_target'), 'pull_request_target'],
]) {
  const found = await check('tried.yml', text);
  if (!found.some((problem) => problem.includes(wanted))) problems.push(`the check does not refuse a workflow for ${wanted}`);
}
problems.push(...(await check('tried.yml', frame('steps: [{ run: "true" }]'))).map((problem) => `the check refuses: ${problem}`));

for (const path of globSync('.github/{workflows/*,actions/*/action}.yml').toSorted())
  problems.push(...(await check(path, readFileSync(path, 'utf8'))));
problems.push(...globSync('.github/ISSUE_TEMPLATE/*.yml').flatMap(wrongForm));
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);

async function check(path, text) {
  const lines = text.split('\n');
  const document = {
    uri: `file:///${++documents}/${path}`,
    languageId: 'yaml',
    version: 1,
    getText: () => text,
    lineCount: lines.length,
  };
  const found = await validate(document, {});
  const parsed = parse(text);
  const rules = path.includes('/actions/') ? wrongSteps(parsed.runs.steps) : wrongWorkflow(parsed);
  return [
    ...found.map(({ range, message }) => `${path}:${range.start.line + 1}: ${textOf(message)}`),
    ...[...rules, ...wrongPins(lines)].map((problem) => `${path}: ${problem}`),
  ];
}

function wrongWorkflow({ on, permissions, jobs }) {
  const trigger = JSON.stringify(on).includes('pull_request_target');
  return [
    ...(trigger ? ['pull_request_target runs the code of others with the rights of this repository; use pull_request'] : []),
    ...(JSON.stringify(permissions) === '{}' ? [] : ['permissions must be {}; each job names its own']),
    ...Object.entries(jobs).flatMap(([name, job]) => wrongJob(job).map((problem) => `job ${name}: ${problem}`)),
  ];
}

function wrongJob(job) {
  return [
    ...(job.permissions === undefined ? ['permissions are missing'] : []),
    ...(job.uses === undefined && !(job['timeout-minutes'] > 0) ? ['timeout-minutes is missing'] : []),
    ...wrongSteps(job.steps ?? []),
  ];
}

function wrongSteps(steps) {
  return steps.flatMap((step) => [
    ...unknownScripts(step.run ?? ''),
    ...(step.run?.includes('${{') ? [`"${step.run.split('\n')[0]}" puts a value into a script; pass it by env`] : []),
    ...(step.uses?.startsWith('actions/checkout@') && step.with?.['persist-credentials'] !== false
      ? ['actions/checkout leaves its token to all later steps; set persist-credentials: false']
      : []),
  ]);
}

/** `npm run NAME` and `node scripts/FILE` are there. */
function unknownScripts(run) {
  const names = [...run.matchAll(/npm run (?:--\S+ )*([\w:-]+)/g)]
    .map(([, name]) => name)
    .filter((name) => scripts[name] === undefined);
  const files = [...run.matchAll(/node (scripts\/\S+)/g)].map(([, file]) => file).filter((file) => !existsSync(file));
  return [...names, ...files].map((name) => `runs ${name}, which is not there`);
}

/** By the commit, with the version that Renovate reads and changes. */
function wrongPins(lines) {
  return lines
    .map((line) => /^\s*(?:- )?uses: (.+)$/.exec(line)?.[1])
    .filter((used) => used !== undefined && !used.startsWith('./') && !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used))
    .map((used) => `uses ${used}: name the commit, and the version behind it: OWNER/NAME@COMMIT # v1.2.3`);
}

function wrongForm(path) {
  const form = parse(readFileSync(path, 'utf8'));
  if (path.endsWith('config.yml')) return [];
  const ids = form.body.map(({ id }) => id).filter((id) => id !== undefined);
  const unknown = form.body.filter(({ type }) => !['markdown', 'input', 'textarea', 'dropdown', 'checkboxes'].includes(type));
  return [
    ...['name', 'description', 'body'].filter((key) => form[key] === undefined).map((key) => `${path}: ${key} is missing`),
    ...unknown.map(({ type }) => `${path}: GitHub has no field of type ${type}`),
    ...(new Set(ids).size === ids.length ? [] : [`${path}: two fields have the same id`]),
  ];
}

/** A message is text, or text with markup. */
function textOf(message) {
  return typeof message === 'string' ? message : message.value;
}
