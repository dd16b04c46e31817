// What the pages mention must exist: packages, sources, flags, environment variables, keys of objects, metrics and reasons of our own programs.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { CONDITIONS, metrics, OBJECT_KEYS, programs, REASONS } from './facts.mjs';

const SOURCES = '{packages,tools,scripts,examples}/**/*.{ts,mjs,js,yaml,json}';
const BUILT = /(^|\/)(node_modules|dist|program)(\/|$)/;
/** It has what the check is tried on. */
const THE_CHECK = 'scripts/check-docs.mjs';

const words = new Set();
const constants = new Set();
const flagsOfOthers = new Set(['--help', '--version']);
for (const path of globSync(SOURCES, { exclude: (name) => BUILT.test(name) })) {
  if (path === THE_CHECK) continue;
  const text = readFileSync(path, 'utf8');
  for (const [word] of text.matchAll(/\b[A-Z][A-Za-z0-9]+\b/g)) words.add(word);
  for (const [name] of text.matchAll(/\b[A-Z][A-Z0-9]*(_[A-Z0-9]+)+\b/g)) constants.add(name);
  for (const [flag] of text.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)) flagsOfOthers.add(flag);
}

const commands = new Map(
  programs.flatMap(({ name, commands: own }) => own.map((command) => [`${name} ${command.name}`, flagsOf(command)])),
);
const everyFlag = new Set([...commands.values()].flatMap((flags) => [...flags]));
const metricNames = new Set(metrics.flatMap(({ metrics: own }) => own.flatMap(namesOf)));
/** The keys of objects, and the label of nodes that have the cluster network `mgmt`, Harvester's own. */
const keys = [...Object.keys(OBJECT_KEYS), 'network.harvesterhci.io/mgmt'];
const conditionTypes = new Set(Object.values(CONDITIONS).flatMap((types) => Object.keys(types)));

/** Ours with their subpaths, as other programs import them. */
const specifiers = new Set(
  globSync('{packages,tools}/*/package.json').flatMap((path) => {
    const { name, exports = {} } = JSON.parse(readFileSync(path, 'utf8'));
    return [name, ...Object.keys(exports).map((subpath) => `${name}${subpath.slice(1).replace(/\/\*.*$/, '')}`)];
  }),
);

/** What a page mentions and does not exist, one sentence each. A CHANGELOG mentions what was. */
export function findWrongMentions(page, text) {
  if (page.endsWith('CHANGELOG.md')) return [];
  return [
    ...wrongFlags(text),
    ...(page.startsWith('.changeset/') ? [] : wrongSources(text)),
    ...wrongVariables(text),
    ...wrongKeys(text),
    ...wrongMetrics(text),
    ...(isAboutNow(page) ? wrongReasons(text) : []),
  ].map((problem) => `${page} ${problem}`);
}

/** Records of decisions and of changes tell of what was, too. */
function isAboutNow(page) {
  return !page.startsWith('docs/decisions/') && !page.startsWith('.changeset/');
}

/** A changeset names what was; every other page names packages and sources that are there. */
function wrongSources(text) {
  const packages = [...text.matchAll(/@vmdhcp\/[a-z][a-z0-9/-]*[a-z0-9]/g)]
    .map(([name]) => name)
    .filter((name) => !specifiers.has(name));
  const paths = [...text.matchAll(/(?<![\w/.-])(?:packages|tools)\/[a-z-]+\/src\/[\w./-]*\w/g)].map(([path]) => path);
  return [
    ...packages.map((name) => `names the package ${name}, which is not there`),
    ...paths.filter((path) => !existsSync(path)).map((path) => `names ${path}, which is not there`),
  ];
}

/** In a command line each flag is one of its command; one that stands alone in a code span is ours, or of something that a script runs. */
function wrongFlags(text) {
  const problems = [];
  for (const [, command, rest] of text.matchAll(/\b((?:vmdhcp-(?:agent|controller)|kubectl vmdhcp) [a-z]+)([^`\n|;&#]*)/g)) {
    const known = commands.get(command);
    if (known === undefined) continue;
    for (const [flag] of rest.matchAll(/(?<=\s)--[a-z][a-z-]*/g)) {
      if (!known.has(flag) && flag !== '--help') problems.push(`names ${flag}, which ${command} does not take`);
    }
  }
  for (const [, flag] of text.matchAll(/`(--[a-z][a-z-]*)[^`]*`/g)) {
    if (!everyFlag.has(flag) && !flagsOfOthers.has(flag))
      problems.push(`names the flag ${flag}, which no command takes, and no script uses`);
  }
  return problems;
}

/** The variables of the programs, and those that scripts and tests read. */
function wrongVariables(text) {
  return [...text.matchAll(/\b(?:VMDHCP|VM_DHCP|AGENT|CATTLE|POD)(?:_[A-Z0-9]+)+\b/g)]
    .filter(([name]) => !constants.has(name))
    .map(([name]) => `names the variable ${name}, which nothing reads`);
}

/** `kubectl annotate KIND NAME key-` removes a key. */
function wrongKeys(text) {
  return [...text.replaceAll(/-(?=\s|$)/gm, '').matchAll(/\b(?:network\.|static-ip\.)?harvesterhci\.io\/([A-Za-z0-9-]*)/g)]
    .filter(
      ([key, name]) =>
        name !== '' && !/^v1/.test(name) && !keys.some((one) => one === key || (one.endsWith('/') && key.startsWith(one))),
    )
    .map(([key]) => `names the label or annotation ${key}, which nothing reads or writes`);
}

function wrongMetrics(text) {
  return [...text.matchAll(/\bvmdhcp(?:controller)?_[a-z_]*[a-z]\b/g)]
    .filter(([name]) => !metricNames.has(name))
    .map(([name]) => `names the metric ${name}, which neither program has`);
}

/** A word in CamelCase is a reason, a condition, or something that a source or a manifest has. */
function wrongReasons(text) {
  return [...text.matchAll(/`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`/g)]
    .filter(([, word]) => REASONS[word] === undefined && !conditionTypes.has(word) && !words.has(word))
    .map(([, word]) => `names ${word}, which is not a reason and in no source`);
}

function flagsOf({ options }) {
  return new Set(options.flatMap(({ flags }) => flags.match(/--[a-z][a-z-]*/g) ?? []));
}

/** A histogram has three. */
function namesOf({ name, type }) {
  return type === 'histogram' ? [name, `${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}
