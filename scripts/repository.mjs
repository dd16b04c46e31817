// Where this project is published. The one place that has the address is the field `repository.url` of the package.json at the root; everything
// else (links, images, the chart's address, where to report a vulnerability) follows from it. `node scripts/set-repository.mjs URL` changes it everywhere.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The address that stands here until a maintainer sets a real one; nothing is released from it. */
export const PLACEHOLDER = 'https://github.com/example-org/vmdhcp';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GITHUB = /^(?:git\+)?https:\/\/github\.com\/([A-Za-z0-9][A-Za-z0-9-]*)\/([A-Za-z0-9][\w.-]*?)(?:\.git)?\/?$/;

/** What package.json has now. */
export const repository = readRepository(ROOT);

/** The facts that follow from the package.json in `root`. */
export function readRepository(root) {
  const { repository: field } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return describeRepository(field.url);
}

/** The facts that follow from an address as `https://github.com/OWNER/NAME`; throws when it is none. */
export function describeRepository(address) {
  const [, owner, name] = GITHUB.exec(address) ?? [];
  if (owner === undefined || name === undefined)
    throw new Error(`repository ${address}: expected https://github.com/OWNER/NAME; correct repository.url in package.json`);
  const url = `https://github.com/${owner}/${name}`;
  // Names of images are lower case.
  const registry = `ghcr.io/${owner.toLowerCase()}`;
  return {
    owner,
    name,
    url,
    git: `git+${url}.git`,
    issues: `${url}/issues`,
    /** Where a vulnerability, or a breach of the code of conduct, is reported in private. */
    privateReports: `${url}/security/advisories/new`,
    registry,
    images: { controller: `${registry}/vmdhcp-controller`, agent: `${registry}/vmdhcp-agent` },
    /** For `helm install NAME ADDRESS`. */
    chart: `oci://${registry}/charts/vmdhcp`,
  };
}

/** The fields of a package's package.json that follow from the address; `folder` is as in `packages/reconciler`. */
export function publishedFields(facts, folder) {
  return {
    license: 'Apache-2.0',
    author: 'The vmdhcp authors',
    repository: { type: 'git', url: facts.git, directory: folder },
    homepage: `${facts.url}/tree/main/${folder}#readme`,
    bugs: { url: facts.issues },
  };
}

/** Where README states what is published: after this line, up to the next empty one. */
export const PUBLISHED_MARK = '<!-- What is published: written by scripts/set-repository.mjs -->\n';

/** What README states there. */
export function describePublished({ url, registry, chart }) {
  return url === PLACEHOLDER
    ? `Nothing is published yet: no package is on npm, no image and no chart in a registry, and \`example-org\` in addresses is a placeholder. Everything
works from this clone:`
    : `Packages are published on npm, images in \`${registry}\`, and the chart as \`${chart}\`. The same from this clone:`;
}

/** The README with that statement. Throws if it has no place for it. */
export function withPublished(readme, facts) {
  const [before, after] = readme.split(PUBLISHED_MARK);
  if (after === undefined) throw new Error(`README.md has no line ${PUBLISHED_MARK.trim()}`);
  return `${before}${PUBLISHED_MARK}${describePublished(facts)}${after.slice(after.indexOf('\n\n'))}`;
}

/** The packages that are published, as `{ folder, manifest }`. */
export function publishedPackages(root = ROOT) {
  return readdirSync(join(root, 'packages'))
    .toSorted()
    .map((name) => `packages/${name}`)
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map((folder) => ({ folder, manifest: JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) }))
    .filter(({ manifest }) => manifest.private !== true);
}
