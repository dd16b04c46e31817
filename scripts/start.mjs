// Every npm script of the repository starts here, with whatever Node the machine has (20 or newer): it sets the workspace
// up where that is needed, then runs the task with the Node the workspace brings along.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MODULES = join(ROOT, 'node_modules');
const BIN = join(MODULES, '.bin');
const STAMP = join(MODULES, '.vmdhcp-setup');
const DISK =
  'The dependencies take up to 1 GB of disk: pnpm keeps them in your HOME, and links them into node_modules here. npm run demo -- --clean removes them.\n';
const ENVIRONMENT = {
  ...process.env,
  PATH: `${BIN}${delimiter}${process.env.PATH ?? ''}`,
  TURBO_TELEMETRY_DISABLED: '1',
  npm_config_update_notifier: 'false',
};

const [task, ...taskArguments] = findTask(process.argv.slice(2));
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 20) fail(`Node ${process.versions.node} is too old: install Node 20 or newer`, 78);

if (taskArguments.some(isHelp)) printHelp();
if (task === 'demo' && taskArguments.includes('--clean')) await import('./clean.mjs');
await install();
await build();
if (task !== 'setup') runTask();

/** Joins the first two words where scripts/tasks has a file for both: `npm test -- seeds 100` is the task test-seeds. */
function findTask([name = '', ...words]) {
  const together = `${name}-${words[0]}`;
  return existsSync(fileOf(together)) ? [together, ...words.slice(1)] : [name, ...words];
}

function fileOf(name) {
  return join(ROOT, 'scripts', 'tasks', `${name}.mjs`);
}

function isHelp(word) {
  return word === '--help' || word === '-h';
}

/** Help needs no set-up: it is written down, or the comment at the top of the task is all there is. */
function printHelp() {
  const [command] = taskArguments.filter((word) => /^[a-z]/.test(word));
  const files = [`${task}-${command}.txt`, `${task}.txt`].map((name) => join(ROOT, 'scripts', 'help', name));
  const file = files.find((path) => existsSync(path));
  const text = file === undefined ? commentOf(fileOf(task)) : readFileSync(file, 'utf8');
  if (text === undefined) return;
  process.stdout.write(text);
  process.exit(0);
}

function commentOf(path) {
  if (!existsSync(path)) return undefined;
  const lines = readFileSync(path, 'utf8').split('\n');
  const end = lines.findIndex((line) => !line.startsWith('//'));
  return `${lines
    .slice(0, end)
    .map((line) => line.slice(3))
    .join('\n')}\n`;
}

/** Dependencies are installed when the lockfile is not the one they were installed from, or when they are not all there. */
async function install() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(ROOT, 'pnpm-lock.yaml')))
    .update(`${process.platform} ${process.arch}`)
    .digest('hex');
  const isWhole = ['node', 'tsc', 'turbo'].every((program) => existsSync(join(BIN, program)));
  if (isWhole && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return;
  // What is interrupted from here on is begun again: pnpm, too, believes its own record, and not what is there.
  for (const name of existsSync(MODULES) ? readdirSync(MODULES) : [])
    if (name.startsWith('.pnpm-workspace-state')) rmSync(join(MODULES, name));
  rmSync(STAMP, { force: true });
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  process.stderr.write(DISK);
  await step('Installing dependencies (once)', 'npx', ['-y', packageManager, 'install', '--frozen-lockfile', '--prefer-offline']);
  mkdirSync(MODULES, { recursive: true });
  writeFileSync(STAMP, wanted);
}

async function build() {
  const remedy = 'correct what it names; if it names nothing of yours, remove the folders node_modules and try again';
  await step('Building', join(BIN, 'turbo'), ['run', 'build', '--output-logs=errors-only'], remedy);
}

function runTask() {
  const module = fileOf(task);
  if (!existsSync(module)) fail(`there is no task '${task}'; the folder scripts/tasks has them`, 64);
  const node = existsSync(join(BIN, 'node')) ? join(BIN, 'node') : process.execPath;
  const { status, signal } = spawnSync(node, [module, ...taskArguments], { cwd: ROOT, env: ENVIRONMENT, stdio: 'inherit' });
  process.exit(signal === null ? (status ?? 1) : 128);
}

/** Runs one step of the set-up, and shows how long it takes and how much of the disk; its output is shown only when it fails. */
async function step(title, command, parameters, remedy = 'look at the lines above, and try again') {
  const [startedAt, freeBefore] = [Date.now(), freeOctets()];
  const took = () => {
    const megabytes = Math.round((freeBefore - freeOctets()) / 1e6);
    return `${((Date.now() - startedAt) / 1000).toFixed(1)} s${megabytes < 10 ? '' : `, ${megabytes} MB of disk`}`;
  };
  process.stderr.write(`${title} ... `);
  const ticker =
    process.stderr.isTTY === true ? setInterval(() => process.stderr.write(`\r${title} ... ${took()} `), 1000) : undefined;
  const child = spawn(command, parameters, { cwd: ROOT, env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => output.push(text));
  const status = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message)).once('close', resolve);
  });
  clearInterval(ticker);
  process.stderr.write(ticker === undefined ? '' : `\r\x1b[K${title} ... `);
  if (status === 0) {
    process.stderr.write(`${took()}\n`);
    return;
  }
  process.stderr.write(`failed\n${output.join('')}${typeof status === 'string' ? status : ''}\n`);
  fail(`${title} failed: ${command} ${parameters.join(' ')}; ${remedy}`, typeof status === 'number' ? status : 1);
}

/** What others write meanwhile counts too. */
function freeOctets() {
  const { bavail, bsize } = statfsSync(ROOT);
  return bavail * bsize;
}

function fail(message, code) {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}
