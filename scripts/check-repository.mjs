// The address of the repository is the same everywhere: in each published package.json, and wherever a file names it, an image or the chart.
// `--release OWNER/NAME` also refuses a release from another repository than that: npm refuses its provenance, and the images would be named after it.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PLACEHOLDER, publishedFields, publishedPackages, readRepository, withPublished } from './repository.mjs';

const HOW = 'run: node scripts/set-repository.mjs';
/** Tries of this check and the rule itself. */
const LEFT_OUT = new Set(['scripts/repository.mjs', 'scripts/try-release.mjs']);

const [option, value] = process.argv.slice(2);
const root = resolve(option === '--root' ? value : '.');
const facts = readRepository(root);
const problems = [
  ...publishedPackages(root).flatMap(wrongFields),
  ...trackedFiles().flatMap(otherAddresses),
  ...wrongReadme(),
  ...(option === '--release' ? wrongRelease(value) : []),
];
for (const problem of problems) process.stdout.write(`${problem}\n`);
process.exit(problems.length === 0 ? 0 : 1);

function wrongFields({ folder, manifest }) {
  const wanted = Object.entries(publishedFields(facts, folder));
  const wrong = wanted.filter(([field, one]) => JSON.stringify(manifest[field]) !== JSON.stringify(one));
  const { access, provenance } = manifest.publishConfig ?? {};
  return [
    ...wrong.map(([field, one]) => `${folder}/package.json: ${field} is not ${JSON.stringify(one)}; ${HOW}`),
    ...(manifest.keywords?.length > 0 ? [] : [`${folder}/package.json: keywords are missing; add some`]),
    ...(access === 'public' && provenance === true
      ? []
      : [`${folder}/package.json: publishConfig must have access "public" and provenance true`]),
    ...Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies })
      .filter(([, range]) => range.startsWith('workspace:') && range !== 'workspace:^')
      .map(
        ([name, range]) => `${folder}/package.json: ${name} is ${range}; use workspace:^, which is published as a caret range`,
      ),
  ];
}

/** Users must not be sent to a registry that has nothing. */
function wrongReadme() {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  return readme === withPublished(readme, facts) ? [] : [`README.md does not state what is published from ${facts.url}; ${HOW}`];
}

function trackedFiles() {
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' }).split('\0');
  return listed.filter((path) => path !== '' && !LEFT_OUT.has(path) && existsSync(join(root, path)));
}

/** Addresses of this project that are not the one of package.json. */
function otherAddresses(path) {
  const text = readFileSync(join(root, path), 'utf8');
  const repositories = [...text.matchAll(/github\.com\/([\w-]+\/vmdhcp)\b/g)].filter(
    ([, found]) => found !== `${facts.owner}/${facts.name}`,
  );
  const images = [...text.matchAll(/(ghcr\.io\/[\w-]+)\/(?:charts\/)?vmdhcp/g)].filter(([, found]) => found !== facts.registry);
  return [...repositories, ...images].map(([found]) => `${path} names ${found}, and package.json has ${facts.url}; ${HOW}`);
}

function wrongRelease(from) {
  if (facts.url === PLACEHOLDER)
    return [`package.json has no address of a repository yet; run: node scripts/set-repository.mjs https://github.com/${from}`];
  if (from === `${facts.owner}/${facts.name}`) return [];
  return [`this is ${from}, and package.json has ${facts.url}; run: node scripts/set-repository.mjs https://github.com/${from}`];
}
