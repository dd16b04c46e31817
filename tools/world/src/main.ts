/** `npm run world`: plays stories by seed, and says what the auditor found. */
import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { LAWS, type Violation } from './auditor/auditor.js';
import { programsOf } from './cluster/programs.js';
import { CORPUS } from './corpus.js';
import { compareInformers, formatComparison } from './informers/compare-informers.js';
import type { Captured } from './network/segment.js';
import { PLANTED_FAULTS } from './planted-faults.js';
import { drawStory } from './story/picture.js';
import { shrinkStory } from './story/shrink.js';
import { playStory, type StoryOutcome, type StorySettings } from './story/story.js';
import { formatTotals, Totals } from './totals.js';
import { type FaultShare, tryFaults } from './try-faults.js';

const EXAMPLES = `
Examples:
  npm run world                              fresh seeds for a minute
  npm run world -- --seed 8812 --trace       one story, in words
  npm run world -- --seed 8812 --shrink      without the acts that it does not need
  npm run world -- --minutes 480             a night
  npm run world -- --fault one-address-for-all --seeds 20
  npm run world -- --beside ../v1.2.0 --minutes 60    half of the programs are those of another checkout, which is built
  npm run world -- --informers 24            a day of kube-runtime's cache beside the informer of @kubernetes/client-node
  npm run world -- --corpus                  stories that once broke a law
  npm run world -- --faults                  each planted fault in turn: which law finds it, and after how many stories

Exit codes: 0 no law was broken, 1 one was, 2 the command line is wrong.
`;
/** How much of a story the picture shows. */
const PICTURE_MS = 60_000;
const MOST_PICTURED = 300;
const MOST_PLAYS = 60;
const LEAST_STORIES = 10;
/** After ten stories, each of these must have happened this many times per story on average. What only some stories have, planted faults show. */
const HAPPENED: Readonly<Record<string, number>> = {
  'ack of agents': 10,
  renewals: 5,
  'changes of the answering agent': 1,
  'questions in calm times': 2,
  'times of server addresses on interfaces': 5,
  'uses of addresses': 1_000,
  'new records of addresses': 2,
  'guests at rest': 2,
  'statuses at rest': 2,
  'pools at rest': 1,
  'start requests that KubeVirt takes': 0.2,
  'DHCPv6 reply of agents': 2,
};

interface Options {
  readonly seed?: number;
  readonly from?: number;
  readonly seeds?: number;
  readonly minutes: number;
  readonly fault?: string;
  readonly faults?: true | FaultShare;
  readonly beside?: string;
  readonly corpus?: true;
  readonly informers?: number;
  readonly trace?: true;
  readonly shrink?: true;
  readonly picture?: string;
  readonly json?: true;
}

const options = new Command('npm run world --')
  .description(
    'The controller, agents, networks and guests in simulated time, with faults of every kind; an auditor sees the wire and the API alone.',
  )
  .option('--seed <number>', 'play this story alone', parseNumber)
  .option('--from <number>', 'first seed; default: a fresh one', parseNumber)
  .option('--seeds <number>', 'how many stories', parseNumber)
  .option('--minutes <number>', 'for how long, where --seeds is not given', parseNumber, 1)
  .addOption(new Option('--fault <name>', 'plant a fault, which the auditor has to find').choices(Object.keys(PLANTED_FAULTS)))
  .option('--faults [share]', 'plant each fault in turn; 1/2 for half of them, 2/2 for the others', parseShare)
  .option('--beside <folder>', 'half of the programs that start are those of another checkout, as during an upgrade')
  .option('--corpus', 'play the stories that once broke a law')
  .option('--informers <hours>', 'informers side by side, for so many hours of simulated time', parseNumber)
  .option('--trace', 'show what happens, in words')
  .option('--shrink', 'with --seed: find the acts that break the law, and show the story of these')
  .option('--picture <file>', 'with --seed: write the last minute before the law was broken as SVG')
  .option('--json', 'the totals as one line of JSON')
  .addHelpText('after', EXAMPLES)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .parse()
  .opts<Options>();

const begunAtNs = process.hrtime.bigint();
const fault = options.fault === undefined ? undefined : PLANTED_FAULTS[options.fault];
const beside = options.beside === undefined ? undefined : await programsOf(options.beside).catch(endBecauseOf);
const totals = new Totals();
const [firstOfCorpus] = options.corpus ? CORPUS.keys() : [];
const first = firstOfCorpus ?? options.seed ?? options.from ?? Number(begunAtNs % 1_000_000_000n);

if (options.faults) process.exit(await showFaults(options.faults === true ? { number: 1, of: 1 } : options.faults));
if (options.informers !== undefined) {
  console.log(formatComparison(await compareInformers(first, options.informers)));
  process.exit(0);
}
for (const seed of options.corpus ? CORPUS.keys() : seedsFrom(first)) {
  const outcome = await play({ seed, fault, beside });
  totals.note(outcome);
  if (outcome.violations.length > 0) showBroken(outcome);
  // One story is enough to find a planted fault.
  if (outcome.violations.length > 0 && fault !== undefined) break;
}
if (options.json) console.log(JSON.stringify({ first, seconds: secondsSoFar(), ...totals.toJson() }));
else console.log(formatTotals(totals, { first, seconds: secondsSoFar() }));
process.exit(totals.broken > 0 || isVacuous() ? 1 : 0);

/** True if the stories prove nothing, because too few checks were made. */
function isVacuous(): boolean {
  if (totals.stories < LEAST_STORIES) return false;
  const { stories, checked } = totals;
  const missing = Object.entries(HAPPENED).filter(([what, least]) => (checked.get(what) ?? 0) < least * stories);
  for (const [what, least] of missing)
    console.error(`the run proves nothing: fewer than ${Math.ceil(least * stories)} of: ${what}`);
  return missing.length > 0;
}

async function showFaults(share: FaultShare): Promise<number> {
  let missed = 0;
  for await (const { name, foundBy, stories } of tryFaults(share, options.from)) {
    console.log(`${name.padEnd(26)} ${foundBy === undefined ? 'NOT FOUND' : `story ${stories}: broken: ${foundBy}`}`);
    if (foundBy === undefined) missed++;
  }
  console.log(missed === 0 ? 'every planted fault was found' : `${missed} planted faults were not found`);
  return missed === 0 ? 0 : 1;
}

function* seedsFrom(seed: number): Generator<number> {
  for (let next = seed; !isEnough(); next++) yield next;
}

function isEnough(): boolean {
  if (options.seed !== undefined) return totals.stories >= 1;
  return options.seeds === undefined ? secondsSoFar() >= options.minutes * 60 : totals.stories >= options.seeds;
}

async function play(settings: StorySettings): Promise<StoryOutcome> {
  if (options.seed === undefined) return await playStory(settings);
  const without = options.shrink ? await shrink(settings) : undefined;
  const captured: Captured[] = [];
  const acts: { readonly atMs: number; readonly line: string }[] = [];
  const outcome = await playStory({
    ...settings,
    without,
    onCaptured: (one) => void captured.push(one),
    onLine: (atMs, line) => {
      if (line.startsWith('*')) acts.push({ atMs, line: line.slice(2) });
      if (options.trace || options.shrink) showLine(atMs, line);
    },
  });
  const [broken] = outcome.violations;
  if (broken !== undefined && options.picture !== undefined) writeFileSync(options.picture, draw(broken, captured, acts));
  return outcome;
}

async function shrink(settings: StorySettings): Promise<ReadonlySet<number> | undefined> {
  const { violations, actNumbers } = await playStory(settings);
  const [broken] = violations;
  if (broken === undefined) return undefined;
  return await shrinkStory(settings, { law: broken.law, actNumbers, mostPlays: MOST_PLAYS });
}

function draw(
  broken: Violation,
  captured: readonly Captured[],
  acts: readonly { readonly atMs: number; readonly line: string }[],
): string {
  const isNear = ({ atMs }: { readonly atMs: number }) => atMs <= broken.atMs && atMs >= broken.atMs - PICTURE_MS;
  return drawStory({
    title: `seed ${first}: the last ${PICTURE_MS / 1000} s before a law was broken`,
    captured: captured.filter(isNear).slice(-MOST_PICTURED),
    acts: acts.filter(isNear),
    broken: { atMs: broken.atMs, line: `${LAWS[broken.law]}: ${broken.message}` },
  });
}

function showBroken({ seed, violations }: StoryOutcome): void {
  const planted = options.fault === undefined ? '' : ` --fault ${options.fault}`;
  const other = options.beside === undefined ? '' : ` --beside ${options.beside}`;
  console.log(`seed ${seed}: npm run world -- --seed ${seed} --trace${planted}${other}`);
  for (const { law, atMs, message } of violations)
    console.log(`  ${(atMs / 1000).toFixed(3)} s  broken: ${LAWS[law]}\n    ${message}`);
}

function showLine(atMs: number, line: string): void {
  console.log(`${(atMs / 1000).toFixed(3).padStart(9)} s  ${line}`);
}

function endBecauseOf(error: Error): never {
  console.error(`--beside ${options.beside}: ${error.message}; check that version out there, and run npm run setup`);
  process.exit(2);
}

function secondsSoFar(): number {
  return Number(process.hrtime.bigint() - begunAtNs) / 1e9;
}

function parseShare(text: string): FaultShare {
  const [, number = 0, of = 0] = (/^([1-9])\/([1-9])$/.exec(text) ?? []).map(Number);
  if (number < 1 || number > of) throw new InvalidArgumentError('write 1/2 for the first half');
  return { number, of };
}

function parseNumber(text: string): number {
  const number = Number(text);
  if (!Number.isFinite(number) || number < 0) throw new InvalidArgumentError('give a number from 0 on.');
  return number;
}
